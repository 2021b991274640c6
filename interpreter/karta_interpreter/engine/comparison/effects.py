"""What happens to what runs, once Karmada asks the definitions about an object.

Karmada divides by ReviseReplica (``ensureWork`` in ``pkg/controllers/binding/common.go``), places by the requirements
of a binding (``pkg/estimator``), counts them in a FederatedResourceQuota (``CalculateResourceUsage`` in
``pkg/util/helper/binding.go``) and moves what is unhealthy (``pkg/controllers/applicationfailover``).
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import Struct

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import JSON, Object, Quantity, get, objects_in

WHEN: Final = (
    "registration alone changes nothing: Karmada asks about an object at its next change, and about all of them when "
    "karmada-controller-manager restarts"
)
_TOLERATION: Final = 300
"""Seconds, the default of ``decisionConditions.tolerationSeconds``."""


class Severity(IntEnum):
    """How bad an effect is, the worst first."""

    REFUSED = 0
    NO_ROOM = 1
    MOVED = 2
    DIVIDED = 3
    FIRST = 4
    STATUS = 5


class Effect(NamedTuple):
    """What happens to an object."""

    severity: Severity
    text: str


KEEPS_ALL: Final = Effect(
    Severity.STATUS, "status: Karmada keeps chosen fields of what members report today, and all of it afterwards"
)
"""What becomes of the status that Karmada's own code and scripts reflect (``default/native/reflectstatus.go``)."""


class Capacity(Struct, frozen=True):
    """What Karmada knows of clusters and quotas. None of it if it could not be read."""

    clusters: Sequence[Object] = ()
    quotas: Sequence[Object] = ()


def division(binding: Object, count: int) -> Effect | None:
    """Return what becomes of a workload that nobody divides today and that is divided from now on."""
    clusters = [str(cluster.get("name")) for cluster in objects_in(get(binding, ("spec", "clusters")))]
    scheduling = get(binding, ("spec", "placement", "replicaScheduling")) or {}
    if scheduling.get("replicaSchedulingType") != "Divided" or len(clusters) < 2 or not count:  # noqa: PLR2004 - one gets all
        return None
    today = f"divided: {listed(clusters)} run all {count} pods each now"
    preference = scheduling.get("weightPreference") or {}
    if scheduling.get("replicaDivisionPreference") == "Aggregated":
        return Effect(Severity.DIVIDED, f"{today}, and {count} together afterwards, in as few clusters as have room")
    if preference.get("dynamicWeight"):
        return Effect(Severity.DIVIDED, f"{today}, and {count} together afterwards, divided by what has room")
    shares = _shares(clusters, objects_in(preference.get("staticWeightList")), count)
    about = "" if all(share.denominator == 1 for share in shares) else "about "
    numbers = " + ".join(map(str, _whole(shares, count)))
    return Effect(Severity.DIVIDED, f"{today}, and {about}{numbers} afterwards")


def _shares(clusters: Sequence[str], weights: Sequence[Object], count: int) -> list[Fraction]:
    by_cluster = dict.fromkeys(clusters, 0)
    for entry in weights:
        for name in get(entry, ("targetCluster", "clusterNames")) or ():
            if name in by_cluster:
                by_cluster[name] = max(by_cluster[name], int(entry.get("weight") or 0))
    total = sum(by_cluster.values())
    if not total:
        return [Fraction(count, len(clusters))] * len(clusters)
    return [Fraction(count * weight, total) for weight in by_cluster.values()]


def _whole(shares: Sequence[Fraction], count: int) -> list[int]:
    """Return whole shares: the largest remainders first get what is left."""
    whole = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda number: whole[number] - shares[number])
    for number in by_remainder[: count - sum(whole)]:
        whole[number] += 1
    return whole


def move(binding: Object, unhealthy: Sequence[str]) -> Effect | None:
    """Return what becomes of a workload that is unhealthy from now on in some clusters."""
    failover = get(binding, ("spec", "failover", "application"))
    if failover is None or not unhealthy:
        return None
    seconds = get(failover, ("decisionConditions", "tolerationSeconds"))
    after = _TOLERATION if seconds is None else seconds
    return Effect(Severity.MOVED, f"moved: out of {listed(unhealthy)}, {after} s after it counts as unhealthy")


def first_run(policy: str, today: str) -> Effect:
    """Return what becomes of an object without a binding: Karmada makes none where who counts it ``today`` fails."""
    text = f"runs for the first time, if {today} fails to count it: policy {policy} selects it, and it has no binding"
    return Effect(Severity.FIRST, text)


def no_room(binding: Object, requests: Sequence[str], capacity: Capacity) -> Effect | None:
    """Return what becomes of a workload with a resource that no cluster has in what Karmada divides by."""
    scheduling = get(binding, ("spec", "placement", "replicaScheduling")) or {}
    is_dynamic = bool((scheduling.get("weightPreference") or {}).get("dynamicWeight"))
    is_estimated = is_dynamic or scheduling.get("replicaDivisionPreference") == "Aggregated"
    if scheduling.get("replicaSchedulingType") != "Divided" or not is_estimated or not capacity.clusters:
        return None
    missing = [name for name in requests if not any(name in _known(cluster) for cluster in capacity.clusters)]
    if not missing:
        return None
    what = f"no room that Karmada can see: no cluster's resource models or allocatable have {listed(missing)}"
    return Effect(Severity.NO_ROOM, f"{what}, so it is Unschedulable and its changes do not arrive")


def _known(cluster: Object) -> set[str]:
    """Return the resources by which Karmada estimates what a cluster has room for."""
    if get(cluster, ("status", "resourceSummary", "allocatableModelings")):
        models = objects_in(get(cluster, ("spec", "resourceModels")))
        return {str(part.get("name")) for model in models for part in objects_in(model.get("ranges"))}
    return {*(get(cluster, ("status", "resourceSummary", "allocatable")) or {})}


def usage_of(binding: Object, pod_sets: Iterable[tuple[int, JSON]], *, by_component: bool) -> dict[str, Quantity]:
    """Return what a binding adds to the usage of its namespace, in its present clusters, by the name of a resource."""
    clusters = objects_in(get(binding, ("spec", "clusters")))
    scheduling = get(binding, ("spec", "placement", "replicaScheduling")) or {}
    is_divided = scheduling.get("replicaSchedulingType") == "Divided" and not by_component
    times = min(len(clusters), 1) if is_divided else len(clusters)
    usage = dict[str, Quantity]()
    for replicas, requirements in pod_sets:
        for name, amount in (get(requirements, ("resourceRequest",)) or {}).items():
            nanos = _nanos(amount) * replicas * times
            usage[name] = Quantity(nanos + (usage[name].nanos if name in usage else 0))
    return usage


def refusal(
    namespace: str, usage: Mapping[str, Quantity], added: Mapping[str, int], capacity: Capacity
) -> Effect | None:
    """Return what the quotas of a namespace do with an object of new usage. ``added`` is that of all objects there."""
    for quota in capacity.quotas:
        if get(quota, ("metadata", "namespace")) != namespace:
            continue
        used = get(quota, ("status", "overallUsed")) or {}
        for resource, limit in (get(quota, ("spec", "overall")) or {}).items():
            is_new = resource in usage and usage[resource].nanos > 0
            if is_new and _nanos(used.get(resource)) + added.get(resource, 0) > _nanos(limit):
                what = f"refused by quota: all new usage of {namespace} is beyond {resource} {limit} of {_name(quota)}"
                return Effect(Severity.REFUSED, f"{what}: with FederatedQuotaEnforcement its changes do not arrive")
    return None


def _name(obj: Object) -> str:
    return str(get(obj, ("metadata", "name")))


def _nanos(amount: JSON) -> int:
    try:
        return Quantity.parse(amount or 0).nanos
    except QuantityError:
        return 0
