"""The requests of one replica of a pod template to a cluster.

The form of the answer follows Karmada's ``GenerateReplicaRequirements`` (``pkg/util/helper/binding.go``). The amounts
are either the reservations of kube-scheduler for the pod (Kubernetes 1.35: ``PodRequests`` in
``k8s.io/component-helpers/resource/helpers.go`` after the defaults of ``pkg/apis/core/v1/defaults.go``) or Karmada's
count (``pkg/util/resource.go``). The two differ for sidecars and for the resources of the pod itself.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError, QuantityError
from karta_interpreter.base.k8s.fields import object_field, objects_field, refuse, text_field
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.base.k8s.values import JSON, NewObject, Object, Path, field_path, remembered

CONTAINER_LISTS: Final = ("initContainers", "containers")  # whose requests count
# The lists of containers that an operator adds, with the list of the pod that each extends: the first one at its front.
ADDED_LISTS: Final = MappingProxyType(
    {"firstInitContainers": "initContainers", "initContainers": "initContainers", "containers": "containers"}
)
_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
_IN_BINARY = frozenset({"memory", "ephemeral-storage"})
# `IsExtendedResourceName`: with the prefix `requests.` of quotas it has to be a qualified name, so 9 of 253 are gone.
_EXTENDED = re.compile(
    r"(?!requests\.)(?=[^/]{1,244}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
    r"/(?=.{1,63}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)
_LONGEST_NAME = 253 + 1 + 63  # prefix, slash and name: a longer name could only fill the caches
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SPEC: Path = ("spec",)
_KEPT = 8192  # more than one call needs in the server's own process: its pod sets may share their requests
_LARGEST = 2**63 - 1


class Counting(StrEnum):
    """Which formula computes the amounts."""

    SCHEDULER = "scheduler"
    KARMADA = "karmada"


class PodRequirements(NamedTuple):
    """The resources of one replica, where it may run and how urgent it is.

    Amounts are in Karmada's units: thousandths of a ``cpu``, whole numbers of all else.
    """

    resource_request: Mapping[str, int] = MappingProxyType({})
    node_claim: Object | None = None
    priority_class_name: str = ""

    def to_json(self, *, namespace: str = "", priority_class: bool = False) -> NewObject | None:
        """Return Karmada's ReplicaRequirements without its empty keys, or None if it asks for nothing.

        ``namespace`` is added if one is given, the priority class if ``priority_class`` is true.

        >>> PodRequirements({"cpu": 2000}).to_json(namespace="team")
        {'resourceRequest': {'cpu': '2'}, 'namespace': 'team'}
        """
        # A priority class without anything else asks for nothing.
        if not self.resource_request and self.node_claim is None:
            return None
        wire: NewObject = {}
        if self.node_claim is not None:
            wire["nodeClaim"] = self.node_claim
        if request := self.resource_request:
            wire["resourceRequest"] = {name: _written(name, request[name]) for name in sorted(request)}
        if namespace:
            wire["namespace"] = namespace
        if priority_class and self.priority_class_name:
            wire["priorityClassName"] = self.priority_class_name
        return wire


def pod_requirements(template: Object, counting: Counting) -> PodRequirements:
    """Return the requests of one replica of a pod template.

    Per resource: the sum over the containers, or the need of the pod while its init containers run, whichever is more,
    and the overhead on top. Raises InterpretationError naming the field that has the wrong type.

    >>> spec = {"containers": [{"resources": {"limits": {"memory": "1Gi"}}}], "overhead": {"cpu": "250m"}}
    >>> pod_requirements({"spec": spec}, Counting.SCHEDULER).to_json()
    {'resourceRequest': {'cpu': '250m', 'memory': '1Gi'}}
    """
    spec = object_field(template, "spec", ())
    found = _requirements(spec, counting)
    # The remembered claim stays here: a program that changed it would change it for all equal templates.
    return found if found.node_claim is None else found._replace(node_claim=_node_claim(spec))


@remembered
def _requirements(spec: Object, counting: Counting) -> PodRequirements:
    priority_class = text_field(spec, "priorityClassName", _SPEC)
    totals: dict[str, int] = {}
    for index, container in enumerate(objects_field(spec, "containers", _SPEC)):
        _add_container(totals, container, ("spec", "containers", index))
    if "initContainers" in spec:
        _cover_init_containers(totals, objects_field(spec, "initContainers", _SPEC), counting)
    if counting is Counting.SCHEDULER and "resources" in spec:
        # After the init containers, which it replaces as well, and before the overhead, which comes on top.
        totals |= _of_the_pod(object_field(spec, "resources", _SPEC), totals)
    if "overhead" in spec:
        _add(totals, object_field(spec, "overhead", _SPEC), _SPEC, "overhead")
    request = {name: total for name, total in totals.items() if total > 0}
    return PodRequirements(request, _node_claim(spec), priority_class)


REQUIREMENTS_READ: Final = (
    "overhead",
    "resources",
    "affinity",
    "nodeSelector",
    "tolerations",
    "priorityClassName",
    "containers[].resources",
    "initContainers[].resources",
    "initContainers[].restartPolicy",
)
"""The paths in the spec of a pod that `pod_requirements` reads. Its tests fail if one is missing."""


def is_extended(name: str) -> bool:
    """Return whether a resource may be one of devices, and Karmada counts it.

    >>> is_extended("nvidia.com/gpu"), is_extended("gpus")
    (True, False)
    """
    return "/" in name and len(name) <= _LONGEST_NAME and _amount(name, "1") is not None


def with_devices(requirements: PodRequirements, devices: Iterable[tuple[str, int]]) -> PodRequirements:
    """Return requirements with amounts of resources in addition. Raises InterpretationError beyond an int64.

    >>> with_devices(PodRequirements({"nvidia.com/gpu": 1}), [("nvidia.com/gpu", 2)]).resource_request
    {'nvidia.com/gpu': 3}
    """
    totals = {**requirements.resource_request}
    for name, amount in devices:
        totals[name] = totals.get(name, 0) + amount
        if totals[name] > _LARGEST:
            raise InterpretationError(f"{name} of claims: it is more than an int64 holds, in which Karmada counts it")
    return requirements._replace(resource_request=totals)


def merge_requirements(requirements: Iterable[PodRequirements]) -> PodRequirements:
    """Return requirements that are enough for any one of several kinds of replica.

    Per resource the largest amount. A node claim or priority class only if all have the same one.
    """
    several = list(requirements)
    if len(several) == 1:
        return several[0]
    largest: dict[str, int] = {}
    for one in several:
        _raise(largest, one.resource_request)
    claims, classes = [one.node_claim for one in several], [one.priority_class_name for one in several]
    return PodRequirements(
        largest,
        claims[0] if claims and claims.count(claims[0]) == len(claims) else None,
        classes[0] if len(set(classes)) == 1 else "",
    )


def add_requirements(parts: Iterable[tuple[int, PodRequirements]]) -> PodRequirements:
    """Return the requirements of a unit with so many pods of each kind: their sum, and a node claim of them all.

    >>> one, other = PodRequirements({"cpu": 2000}), PodRequirements({"cpu": 500, "memory": 8})
    >>> dict(add_requirements([(1, one), (3, other)]).resource_request)
    {'cpu': 3500, 'memory': 24}
    """
    total, claims, classes = dict[str, int](), list[Object | None](), set[str]()
    for number, one in parts:
        if not number:
            continue
        claims.append(one.node_claim)
        classes.add(one.priority_class_name)
        for name, amount in one.resource_request.items():
            total[name] = total.get(name, 0) + number * amount
    for name, amount in total.items():
        if amount > _LARGEST:
            raise InterpretationError(f"{name}: a unit requests more than an int64 holds, in which Karmada counts it")
    claim = claims[0] if claims and claims.count(claims[0]) == len(claims) else None
    return PodRequirements(total, claim, classes.pop() if len(classes) == 1 else "")


def _cover_init_containers(totals: dict[str, int], containers: Iterable[Object], counting: Counting) -> None:
    """Raise the totals to the need of the pod while each of these containers runs.

    In kube-scheduler a sidecar (restartPolicy Always) runs on next to the init containers after it and the containers.
    In Karmada it is an init container as any other: karmada-io/karmada#5745.
    """
    sidecars: dict[str, int] = {}
    peaks: list[Mapping[str, int]] = []
    for index, container in enumerate(containers):
        path = ("spec", "initContainers", index)
        running = sidecars.copy()
        _add_container(running, container, path)
        peaks.append(running)
        if counting is Counting.SCHEDULER and text_field(container, "restartPolicy", path) == "Always":
            _add_container(totals, container, path)
            sidecars = running
    for peak in peaks:
        _raise(totals, peak)


def _raise(totals: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        # Also 0 for 0: a request that is stated keeps a limit of the pod from standing in for it, see `_of_the_pod`.
        if amount >= totals.get(name, 0):
            totals[name] = amount


def _of_the_pod(resources: Object, containers: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts that the pod states as a whole. They replace the sum of its containers.

    A limit of the pod replaces a request that the pod and its containers lack. A limit of huge pages,
    which cannot be overcommitted, counts next to anything that the containers have.
    """
    path = (*_SPEC, "resources")
    requests = {name: value for name, value in object_field(resources, "requests", path).items() if _is_of_pods(name)}
    limits = {
        name: value
        for name, value in object_field(resources, "limits", path).items()
        if _is_of_pods(name) and name not in requests and (name not in containers or _is_huge_page(name))
    }
    amounts: dict[str, int] = {}
    _add(amounts, requests, path, "requests")
    _add(amounts, limits, path, "limits")
    return amounts


def _is_of_pods(name: str) -> bool:
    """Return whether a pod as a whole can state the resource (``IsSupportedPodLevelResource``)."""
    return name in ("cpu", "memory") or _is_huge_page(name)


def _is_huge_page(name: str) -> bool:
    return name.startswith("hugepages-")


def _add_container(totals: dict[str, int], container: Object, path: Path) -> None:
    """Add a container's requests, and its limits if it has no request for the same resource."""
    resources = object_field(container, "resources", path)
    if not resources:
        return
    path = (*path, "resources")
    requests = object_field(resources, "requests", path)
    _add(totals, requests, path, "requests")
    limits = object_field(resources, "limits", path)
    if limits and not limits.keys() <= requests.keys():
        _add(totals, {name: value for name, value in limits.items() if name not in requests}, path, "limits")


def _add(totals: dict[str, int], quantities: Object, path: Path, field: str) -> None:
    for name, value in quantities.items():
        if len(name) > _LONGEST_NAME:
            continue
        try:
            amount = _amount(name, value if type(value) is str else _text(value, (*path, field, name)))
        except QuantityError as err:
            raise InterpretationError(f"{field_path((*path, field, name))}: {err}") from err
        if amount is not None:
            total = totals.get(name, 0) + amount
            # Quantities may be negative: only API servers reject negative ones in pods, and a custom resource may hold
            # any.
            if abs(total) > _LARGEST:
                at = field_path((*path, field, name))
                raise InterpretationError(f"{at}: it is more than an int64 holds, in which Karmada counts it")
            totals[name] = total


def _text(value: JSON, path: Path) -> str:
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        refuse(value, "a quantity", path)
    return repr(value)


@lru_cache(_KEPT)
def _amount(name: str, text: str) -> int | None:
    """Return an amount in Karmada's unit of the resource, or None for a resource that Karmada does not count."""
    quantity = Quantity.parse(text)
    if name == "cpu":
        return quantity.milli
    # Karmada's `IsScalarResourceName`: extended, huge page, `kubernetes.io/` and attachable volumes.
    is_scalar = name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name
    return quantity.value if name in _NATIVE or is_scalar or _EXTENDED.fullmatch(name) else None


@lru_cache(_KEPT)
def _written(name: str, amount: int) -> str:
    if name == "cpu":
        return str(Quantity.of_milli(amount))
    return str(Quantity.of_value(amount, "BinarySI" if name in _IN_BINARY or _is_huge_page(name) else "DecimalSI"))


def _node_claim(spec: Object) -> Object | None:
    """Return node selector, tolerations and the required node affinity, or None if all are absent.

    A node selector that is an empty object still makes a claim, an empty one, as it does for Karmada.
    """
    claim: NewObject = {}
    if "affinity" in spec:
        node_affinity = object_field(object_field(spec, "affinity", _SPEC), "nodeAffinity", ("spec", "affinity"))
        if node_affinity.get(_REQUIRED) is not None:
            claim["hardNodeAffinity"] = object_field(node_affinity, _REQUIRED, ("spec", "affinity", "nodeAffinity"))
    selector = object_field(spec, "nodeSelector", _SPEC)
    if selector:
        path = ("spec", "nodeSelector")
        claim["nodeSelector"] = {label: text_field(selector, label, path) for label in selector}
    if tolerations := objects_field(spec, "tolerations", _SPEC):
        claim["tolerations"] = tolerations
    return claim if claim or spec.get("nodeSelector") is not None else None
