"""What happens to what runs, once Karmada asks the definitions about an object.

Karmada divides by ReviseReplica (``ensureWork`` in ``pkg/controllers/binding/common.go``), places by the requirements
of a binding (``pkg/estimator``), counts them in a FederatedResourceQuota (``CalculateResourceUsage`` in
``pkg/util/helper/binding.go``) and moves what is unhealthy (``pkg/controllers/applicationfailover``).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import Struct

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import (
    JSON,
    NewObject,
    Object,
    Quantity,
    get,
    name as name_of,
    namespace as namespace_of,
    objects_in,
)

WHEN: Final = (
    "registration alone changes nothing: Karmada asks about an object at its next change, and about all of them when "
    "karmada-controller-manager restarts"
)
_TOLERATION: Final = 300
"""Seconds, the default of ``decisionConditions.tolerationSeconds``."""

_MOST_ASKED: Final = 9
"""The number of shares that are tried where nothing tells which there will be."""


class Severity(IntEnum):
    """How bad an effect is, the worst first."""

    REFUSED = 0
    NO_ROOM = 1
    MULTIPLIED = 2
    INDIVISIBLE = 3
    MOVED = 4
    DIVIDED = 5
    UNIT = 6
    FIRST = 7
    STATUS = 8


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


def uncounted(reason: str) -> Effect:
    """Return what becomes of a workload that cannot be counted from now on.

    Karmada writes no binding then (``BuildResourceBinding`` in ``pkg/detector/detector.go``).
    """
    return Effect(Severity.REFUSED, f"refused: it cannot be counted, so its changes do not arrive: {reason}")


def division(
    binding: Object, count: int, refuses: Callable[[int], str] | None, stays: Callable[[int], bool] = lambda _: False
) -> Effect | None:
    """Return what becomes of a workload that nobody divides today and that is counted from now on.

    ``refuses`` returns why a cluster cannot have a share, or "". It is None without ReviseReplica: then each cluster
    with a share has all of the workload. ``stays`` returns whether the member's operator refuses a share of what runs.
    """
    clusters = [str(cluster.get("name")) for cluster in objects_in(get(binding, ("spec", "clusters")))]
    scheduling = _dividing(binding)
    if not scheduling or len(clusters) < 2 or not count:  # noqa: PLR2004 - one gets all
        return None
    today = f"divided: {listed(clusters)} run all {count} pods each now"
    then = f"and {count} together afterwards" if refuses else "and afterwards so does each cluster with a share"
    preference = scheduling.get("weightPreference") or {}
    is_dynamic = bool(preference.get("dynamicWeight"))
    shares = _shares(clusters, () if is_dynamic else objects_in(preference.get("staticWeightList")), count)
    numbers = _whole(shares, count)
    # Where clusters have room is not known: any share tells.
    asked = range(1, min(count, _MOST_ASKED)) if is_dynamic or _is_aggregated(scheduling) else numbers
    until = ", but it stays as it runs until it is made anew" if any(map(stays, asked)) else ""
    if _is_aggregated(scheduling):
        return Effect(Severity.DIVIDED, f"{today}, {then}, in as few clusters as have room{until}")
    reasons = [reason for share in numbers if refuses and share and (reason := refuses(share))]
    if reasons:
        what = f"cannot be divided: {listed(clusters)} run all {count} pods each now, and changes do not arrive"
        return Effect(Severity.INDIVISIBLE, f"{what} where the share is refused: {reasons[0]}")
    if is_dynamic:
        return Effect(Severity.DIVIDED, f"{today}, {then}, divided by what has room{until}")
    if not refuses:
        return Effect(Severity.DIVIDED, f"{today}, {then}") if 0 in numbers else None
    about = "" if all(share.denominator == 1 for share in shares) else "about "
    return Effect(Severity.DIVIDED, f"{today}, and {about}{' + '.join(map(str, numbers))} afterwards{until}")


def _is_aggregated(scheduling: Object) -> bool:
    return scheduling.get("replicaDivisionPreference") == "Aggregated"


def change_of_unit(binding: Object, units: int, pods: int) -> Effect | None:
    """Return what becomes of a workload that is divided in pods today, and in units of several pods from now on.

    Karmada writes the new number before its scheduler divides it, and asks ReviseReplica for the shares of before.
    """
    if pods < 2 or not units or binding["spec"].get("replicas") != units * pods:  # noqa: PLR2004 - a unit of one is a pod
        return None
    what = f"{units * pods} pods are {units} units of {pods}"
    shares = {str(cluster.get("name")): cluster.get("replicas") or 0 for cluster in _clusters(binding)}
    if multiplied := [f"{name} ({share})" for name, share in shares.items() if 0 < share <= units]:
        clusters = listed(multiplied)
        text = f"multiplied: {what}, and until Karmada has divided the units, shares of pods are units in {clusters}"
        return Effect(Severity.MULTIPLIED, f"{text}: see docs/upgrade.md")
    return Effect(Severity.UNIT, f"unit: {what}, and changes wait until Karmada has divided the units")


def unwritten(binding: Object, refuses: Callable[[int], str]) -> Effect | None:
    """Return that changes of a workload do not arrive in clusters with a share that cannot be written.

    Karmada goes on with the other clusters, and tries again (``ensureWork``).
    """
    shares = {str(cluster.get("name")): cluster.get("replicas") or 0 for cluster in _clusters(binding)}
    reasons = {share: refuses(share) for share in {*shares.values()} - {0}}
    refused = [name for name, share in shares.items() if reasons.get(share)]
    if not refused:
        return None
    reason = reasons[shares[refused[0]]]
    text = f"cannot be divided: changes do not arrive in {listed(refused)}, where the share is refused: {reason}"
    return Effect(Severity.INDIVISIBLE, text)


def _clusters(binding: Object) -> list[Object]:
    return objects_in(get(binding, ("spec", "clusters")))


def _dividing(binding: Object) -> Object:
    """Return how a binding divides replicas, empty if each cluster gets all of them."""
    scheduling: Object = get(binding, ("spec", "placement", "replicaScheduling")) or {}
    return scheduling if scheduling.get("replicaSchedulingType") == "Divided" else {}


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


def no_room(binding: Object, counted: Mapping[str, JSON], capacity: Capacity, *, is_revised: bool) -> Effect | None:
    """Return what becomes of a workload that newly counts with a resource that no cluster has for Karmada to divide.

    If it ``is_revised``, each cluster keeps the replicas that it has, and a server refuses 0 of them.
    """
    scheduling = _dividing(binding)
    is_aggregated = scheduling.get("replicaDivisionPreference") == "Aggregated"
    is_estimated = is_aggregated or get(scheduling, ("weightPreference", "dynamicWeight"))
    if not is_estimated or not capacity.clusters:
        return None
    requested, today = (
        {name for number, requests in pod_sets(side) if number for name in requests}
        for side in (counted, counts_of(binding))
    )
    missing = sorted(requested.difference(today, *map(_known, capacity.clusters)))
    if not missing:
        return None
    what = f"no room that Karmada can see: no cluster's resource models or allocatable have {listed(missing)}"
    if not is_revised:
        return Effect(Severity.NO_ROOM, f"{what}, so it is Unschedulable")
    assigned = sum(cluster.get("replicas") or 0 for cluster in objects_in(get(binding, ("spec", "clusters"))))
    change = f"its clusters run the {assigned} pods of today only" if assigned else "its changes do not arrive"
    return Effect(Severity.NO_ROOM, f"{what}, so it is Unschedulable and {change}")


def _known(cluster: Object) -> set[str]:
    """Return the resources by which Karmada estimates what a cluster has room for."""
    if get(cluster, ("status", "resourceSummary", "allocatableModelings")):
        models = objects_in(get(cluster, ("spec", "resourceModels")))
        return {str(part.get("name")) for model in models for part in objects_in(model.get("ranges"))}
    return {*(get(cluster, ("status", "resourceSummary", "allocatable")) or {})}


def counts_of(binding: Object) -> NewObject:
    """Return the counts of a binding as an answer has them."""
    spec = binding["spec"]
    names = {"replica": "replicas", "requires": "replicaRequirements", "components": "components"}
    return {name: spec.get(field) for name, field in names.items()}


def added_usage(binding: Object, counted: Mapping[str, JSON]) -> tuple[dict[str, int], dict[str, int]]:
    """Return by how much new counts raise the usage of a namespace, by the names of the resources that they change.

    Karmada writes the counts beside the replicas that clusters have, and schedules afterwards. Its webhook compares the
    usage both times (``isQuotaRelevantFieldChanged`` in ``pkg/webhook/resourcebinding``).
    """
    spec = binding["spec"]
    clusters = objects_in(spec.get("clusters"))
    scheduled = sum(cluster.get("replicas") or 0 for cluster in clusters)
    times = min(len(clusters), 1) if _dividing(binding) else len(clusters)
    before = _usage(counts_of(binding), len(clusters), scheduled)
    written = _usage(counted, len(clusters), scheduled)
    placed = _usage(counted, len(clusters), (counted.get("replica") or 0) * times)
    return _changed(before, written), _changed(written, placed)


def _changed(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in before | after if after[name] != before[name]}


def _usage(counted: Mapping[str, JSON], clusters: int, replicas: int) -> Counter[str]:
    """Return what counts use: components in each cluster, or else all replicas."""
    times = clusters if counted.get("components") else 1
    usage = Counter[str]()
    for number, requests in pod_sets({**counted, "replica": replicas}):
        for name, amount in requests.items():
            usage[name] += quantity_of(amount).nanos * number * times
    return usage


def pod_sets(counted: Mapping[str, JSON]) -> Iterator[tuple[int, Object]]:
    """Yield each number of pods in an answer about them, and the requests of one: components, or else all replicas."""
    components = objects_in(counted.get("components"))
    for component in components:
        yield component.get("replicas") or 0, get(component, ("replicaRequirements", "resourceRequest")) or {}
    if not components:
        yield counted.get("replica") or 0, get(counted, ("requires", "resourceRequest")) or {}


def quantity_of(amount: JSON) -> Quantity:
    """Return an amount, 0 for what is none."""
    try:
        return Quantity.parse(amount or 0)
    except QuantityError:
        return Quantity(0)


def refusal(
    binding: Object, added: Sequence[Mapping[str, int]], together: Counter[str], capacity: Capacity
) -> Effect | None:
    """Return what the quotas of its namespace do with an object. ``together`` is what all objects there add.

    Any change of a resource with a limit is refused as long as one resource is beyond its limit (``processSingleFRQ``).
    If only the scheduler's update is refused, changes arrive with the replicas that clusters have.
    """
    own = namespace_of(binding)
    has_replicas = any(cluster.get("replicas") for cluster in objects_in(binding["spec"].get("clusters")))
    for quota in capacity.quotas:
        limits = get(quota, ("spec", "overall")) or {}
        used, more = get(quota, ("status", "overallUsed")) or {}, Counter[str]()
        for number, step in enumerate(added if namespace_of(quota) == own else ()):
            more.update(step)
            for resource, limit in () if limits.keys().isdisjoint(step) else limits.items():
                # What others free may come too late.
                most = max(more[resource], together[resource]) if more[resource] > 0 else more[resource]
                if quantity_of(used.get(resource)).nanos + most > quantity_of(limit).nanos:
                    what = f"all new usage of {own} is beyond {resource} {limit} of {name_of(quota)}"
                    frozen = "its replicas stay as they are" if number and has_replicas else "its changes do not arrive"
                    text = f"refused by quota: {what}: with FederatedQuotaEnforcement {frozen}"
                    return Effect(Severity.REFUSED, text)
    return None
