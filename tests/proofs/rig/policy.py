"""The policies that the tests propagate workloads by."""

from tests.proofs.rig.api import Object

_AFFINITY = {"clusterAffinity": {"clusterNames": ["member1", "member2"]}}


def duplicated(*members: str) -> Object:
    """Return a placement that gives each of the members all replicas."""
    affinity = {"clusterAffinity": {"clusterNames": list(members)}}
    return affinity | {"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}


DUPLICATED: Object = duplicated("member1", "member2")
ONE_CLUSTER: Object = _AFFINITY | {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}


def weighted(member1: int, member2: int) -> Object:
    """Return a placement that divides the replicas by static weights."""
    weights = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in (("member1", member1), ("member2", member2))
    ]
    scheduling = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }
    return _AFFINITY | {"replicaScheduling": scheduling}


def propagation(workload: Object, placement: Object) -> Object:
    """Return a policy that propagates the workload with what it depends on."""
    metadata = workload["metadata"]
    selector = {"apiVersion": workload["apiVersion"], "kind": workload["kind"], "name": metadata["name"]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"propagateDeps": True, "resourceSelectors": [selector], "placement": placement},
    }
