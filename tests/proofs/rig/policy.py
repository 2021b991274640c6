"""The policies that the tests propagate workloads by."""

from collections.abc import Sequence

from tests.proofs.rig.api import Object, named


def duplicated(*members: str) -> Object:
    """Return a placement that gives each of the members all replicas."""
    return _affinity(members) | {"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}


def one_of(*members: str) -> Object:
    return _affinity(members) | {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}


def weighted(*weights: int) -> Object:
    """Return a placement that divides the replicas by static weights of the members, from ``member1`` on."""
    members = [f"member{number}" for number in range(1, len(weights) + 1)]
    pairs = zip(members, weights, strict=True)
    listed = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in pairs]
    return divided(members, {"staticWeightList": listed})


def divided(members: Sequence[str], preference: Object) -> Object:
    """Return a placement that divides the replicas by a preference of weights."""
    scheduling = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    return _affinity(members) | {"replicaScheduling": scheduling | {"weightPreference": preference}}


def aggregated(*members: str) -> Object:
    """Return a placement that divides the replicas among as few members as have room."""
    scheduling = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    return _affinity(members) | {"replicaScheduling": scheduling}


def propagation(workload: Object, placement: Object) -> Object:
    """Return a policy that propagates the workload with what it depends on."""
    metadata = workload["metadata"]
    selector = {"apiVersion": workload["apiVersion"], "kind": workload["kind"], "name": metadata["name"]}
    name = f"{metadata['name']}-{workload['kind'].lower()}"
    spec = {"propagateDeps": True, "resourceSelectors": [selector], "placement": placement}
    return named("policy.karmada.io/v1alpha1", "PropagationPolicy", name, metadata["namespace"]) | {"spec": spec}


def _affinity(members: Sequence[str]) -> Object:
    return {"clusterAffinity": {"clusterNames": [*members]}}


DUPLICATED = duplicated("member1", "member2")
ONE_CLUSTER = one_of("member1", "member2")
