"""What an API server says of pods, read and added up without the program: owners, readiness, requests."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from tests.proofs.rig.api import Object

Amounts = Mapping[str, Decimal]

_SUFFIXES: Final = {
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P"), -3)},
    **{suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi"), 1)},
}
_DIGITS: Final = "0123456789.+-"


class Pods(NamedTuple):
    """Numbers of pods that have not ended and are not being deleted."""

    current: int
    ready: int


def owned(objects: Iterable[Object], top: Object) -> list[Object]:
    """Return what an object owns, also through others between, by UIDs.

    What is below another object of its kind is that one's.
    """
    children: dict[str, list[Object]] = defaultdict(list)
    for obj in objects:
        for owner in obj["metadata"].get("ownerReferences", ()):
            if kind_of(obj) != kind_of(top):
                children[owner["uid"]].append(obj)
    found: dict[str, Object] = {}
    pending = [top["metadata"]["uid"]]
    while pending:
        for child in children[pending.pop()]:
            if child["metadata"]["uid"] not in found:
                found[child["metadata"]["uid"]] = child
                pending.append(child["metadata"]["uid"])
    return list(found.values())


def kind_of(obj: Object) -> tuple[str, str]:
    """Return group and kind of an object."""
    return str(obj["apiVersion"]).rpartition("/")[0], str(obj["kind"])


def active(objects: Iterable[Object]) -> list[Object]:
    """Return the pods among objects that have not ended and are not being deleted."""
    pods = [obj for obj in objects if obj["kind"] == "Pod" and "deletionTimestamp" not in obj["metadata"]]
    return [pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")]


def counted(objects: Iterable[Object]) -> Pods:
    """Return how many active pods there are among objects, and how many of them are ready."""
    pods = active(objects)
    return Pods(len(pods), sum(map(is_ready, pods)))


def is_ready(pod: Object) -> bool:
    """Return whether its condition Ready is true."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def requested(pods: Iterable[Object]) -> Amounts:
    """Return what kube-scheduler reserves for pods together."""
    return _sum(*(_of_pod(pod["spec"]) for pod in pods))


def amounts(texts: Mapping[str, str]) -> Amounts:
    """Return quantities as numbers, without those that are 0."""
    return {name: amount for name, text in texts.items() if (amount := quantity(text))}


def quantity(text: str) -> Decimal:
    """Return a quantity of Kubernetes as a number.

    >>> quantity("1536Mi") == quantity("1.5Gi"), quantity("250m")
    (True, Decimal('0.250'))
    """
    suffix = str(text).lstrip(_DIGITS)
    if suffix and suffix[0] in "eE":
        return Decimal(text)
    return Decimal(str(text).removesuffix(suffix)) * _SUFFIXES[suffix]


def _of_pod(spec: Object) -> Amounts:
    """Return what a pod requests, as `PodRequests` of k8s.io/component-helpers/resource adds it up."""
    running = _sum(*map(_of, spec["containers"]))
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in spec.get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, _of(container))
            starting = _max(starting, sidecars)
        else:
            starting = _max(starting, _sum(sidecars, _of(container)))
    of_containers = _max(_sum(running, sidecars), starting)
    return _sum({**of_containers, **_of(spec)}, amounts(spec.get("overhead", {})))


def _of(container: Object) -> Amounts:
    # The API server has set requests to the limits if there are none.
    return amounts(container.get("resources", {}).get("requests", {}))


def _sum(*parts: Amounts) -> Amounts:
    total: dict[str, Decimal] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, Decimal()) + amount
    return total


def _max(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, Decimal()), other.get(name, Decimal())) for name in {*one, *other}}
