"""The policies by which the objects of the fleet are placed."""

from collections.abc import Sequence

from tests.proofs.fleet.workloads import Kind
from tests.proofs.rig.api import Object
from tests.proofs.rig.policy import divided, duplicated, one_of, propagation, weighted

_TOLERATION = 10
"""Seconds for which an object may be unhealthy before it fails over."""


def placement(kind: Kind, number: int, members: Sequence[str]) -> Object:
    """Return the placement of an object: shared, in one member, or in several as it is."""
    first = members[number % len(members)]
    if kind.name in {"DaemonSet", "CronJob"}:
        return duplicated(*members)
    if not kind.divided or number % 4 == 3:
        return one_of(*members)
    if number % 4 == 2:
        return duplicated(*dict.fromkeys((first, members[-1])))
    if number % 4 == 1:
        return divided(members, {"dynamicWeight": "AvailableReplicas"})
    return weighted(*(2 if name == first else 1 for name in members))


def policy(thing: Object, placed: Object, *, fails_over: bool = False) -> Object:
    """Return the policy that propagates an object with what it depends on."""
    made = propagation(thing, placed)
    if fails_over:
        conditions = {"tolerationSeconds": _TOLERATION}
        made["spec"]["failover"] = {"application": {"decisionConditions": conditions, "purgeMode": "Directly"}}
    return made
