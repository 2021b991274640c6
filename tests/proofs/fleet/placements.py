"""The policies by which the objects of the fleet are placed."""

from collections.abc import Sequence

from tests.proofs.fleet.workloads import Kind
from tests.proofs.rig.api import Object
from tests.proofs.rig.policy import duplicated

_TOLERATION = 10
"""Seconds for which an object may be unhealthy before it fails over."""


def placement(kind: Kind, number: int, members: Sequence[str]) -> Object:
    """Return the placement of an object: shared, in one member, or in several as it is."""
    first = members[number % len(members)]
    if kind.name in {"DaemonSet", "CronJob"}:
        return duplicated(*members)
    if not kind.divided or number % 4 == 3:
        return _one(members)
    if number % 4 == 2:
        return duplicated(*dict.fromkeys((first, members[-1])))
    return _divided(members, first, dynamic=number % 4 == 1)


def policy(thing: Object, placed: Object, *, fails_over: bool = False) -> Object:
    """Return the policy that propagates an object with what it depends on."""
    metadata = thing["metadata"]
    name = f"{metadata['name']}-{thing['kind'].lower()}"
    selector = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": metadata["name"]}
    spec: Object = {"propagateDeps": True, "resourceSelectors": [selector], "placement": placed}
    if fails_over:
        conditions = {"tolerationSeconds": _TOLERATION}
        spec["failover"] = {"application": {"decisionConditions": conditions, "purgeMode": "Directly"}}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": metadata["namespace"]},
        "spec": spec,
    }


def _one(members: Sequence[str]) -> Object:
    spread = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
    return {"clusterAffinity": {"clusterNames": [*members]}, "spreadConstraints": spread}


def _divided(members: Sequence[str], first: str, *, dynamic: bool) -> Object:
    weights: Object = {"dynamicWeight": "AvailableReplicas"}
    if not dynamic:
        weights = {
            "staticWeightList": [
                {"targetCluster": {"clusterNames": [name]}, "weight": 2 if name == first else 1} for name in members
            ]
        }
    scheduling = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    return {
        "clusterAffinity": {"clusterNames": [*members]},
        "replicaScheduling": scheduling | {"weightPreference": weights},
    }
