"""A kind that serves is not healthy while fewer pods than wanted are of the present template and ready."""

import re
from collections.abc import Sequence

from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, entries

_COUNTS = {
    "ready": re.compile("(?<!not)(?<!un)(ready|available)", re.IGNORECASE),
    "updated": re.compile("^(?!expected).*updated(?!.*(Version|Revision))|^updated", re.IGNORECASE),
}
"""The names of the fields that count pods which serve, and those of the present template."""

_BY_ITSELF = "the controller compares the counts, and says so by its condition or state"
_DATA = "a member holds its data, which does not move along; it serves while instances are missing"
_ON_PURPOSE = "the others get the template later, as was asked for"
_REASONS = {
    ("CloneSet", "updated"): _ON_PURPOSE,
    ("Cluster", "ready"): _DATA,
    ("DaemonSet", "updated"): "how many nodes the selector of a roll-out takes, the status does not tell",
    ("Deployment", "updated"): "while it is scaled down there are more than wanted",
    ("DisaggregatedSet", "ready"): _BY_ITSELF,
    ("DisaggregatedSet", "updated"): _BY_ITSELF,
    ("Elasticsearch", "ready"): _DATA,
    ("LeaderWorkerSet", "ready"): _BY_ITSELF,
    ("LeaderWorkerSet", "updated"): _BY_ITSELF,
    ("Milvus", "ready"): "a component that is paused has the pods that were asked for",
    ("Milvus", "updated"): "nobody looks at one whose reconciliation is paused",
    ("ModelServing", "updated"): "groups below a partition keep the template before",
    ("NIMService", "ready"): _BY_ITSELF,
    ("NodeSet", "updated"): _ON_PURPOSE + ", or when the jobs on them have ended",
    ("Notebook", "ready"): "one that is being stopped loses its pod",
    ("PodCliqueSet", "updated"): "an update has a progress of its own, by which the counter is set",
    ("RayCluster", "ready"): "workers come and go with the autoscaler, and the head runs jobs without them",
    ("RayClusterFleet", "updated"): "a roll-out that is paused has as many ready RayClusters as wanted",
    ("ReplicaSet", "ready"): "there may be more than wanted",
    ("RoleBasedGroup", "ready"): _BY_ITSELF,
    ("RoleBasedGroup", "updated"): "the controller does not tell anew what is updated",
    ("Rollout", "updated"): "a version that was refused leaves the stable one, and a step takes as long as it takes",
    ("SandboxWarmPool", "ready"): "claims take ready sandboxes out, and those that are left serve",
    ("SeldonDeployment", "ready"): _BY_ITSELF,
    ("SidecarSet", "ready"): "it gives pods of others a container, and does not answer for their readiness",
    ("SidecarSet", "updated"): _ON_PURPOSE,
    ("StormService", "updated"): "a roll-out that is paused has as many ready pods as wanted",
    ("VirtualMachineInstanceReplicaSet", "ready"): "there may be more than wanted",
}


def _serves(entry: Entry) -> bool:
    rules = entry.definition.status if entry.definition else None
    return rules is not None and Status.COMPLETED not in dict(rules.mappings)


def test_reasons_are_needed() -> None:
    needed = {
        (entry.definition.gvk.kind, what)
        for entry in filter(_serves, entries())
        for what in _COUNTS
        if entry.definition and _healthy_with_fewer(entry.definition, entry.cases, what)
    }
    assert needed == _REASONS.keys()


def _healthy_with_fewer(definition: Definition, cases: Sequence[Case], what: str) -> list[str]:
    """Return the cases of objects that are healthy, and stay so with one pod less by each of some counts."""
    objects = [(case.name, case.call.object) for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    fewer = [(name, obj, {**obj, "status": _fewer(obj.get("status"), _COUNTS[what])}) for name, obj in objects]
    return [
        name
        for name, obj, changed in fewer
        if changed["status"] != obj.get("status") and _is_healthy(definition, obj) and _is_healthy(definition, changed)
    ]


def _fewer(value: JSON, name: re.Pattern[str], key: str = "") -> JSON:
    if isinstance(value, dict):
        return {key: _fewer(part, name, key) for key, part in value.items()}
    if isinstance(value, list):
        return [_fewer(part, name) for part in value]
    return value - 1 if type(value) is int and value and name.search(key) else value


def _is_healthy(definition: Definition, obj: Object) -> bool:
    return bool(interpret(definition, Call(Operation.INTERPRET_HEALTH, obj))["healthy"])
