"""Objects of operators that the catalogue lacks, with pods as their builders make them.

- ZookeeperCluster (``pkg/zk/generators.go`` of pravega/zookeeper-operator): the spec has lists of containers and
  volumes, as the spec of a pod has.
- OpenSearchCluster (``pkg/builders/cluster.go`` and ``dashboards.go`` of opensearch-project/opensearch-k8s-operator):
  pods of node pools and of dashboards have no label in common.
- VMCluster (``factory/vmcluster/vmcluster.go`` of VictoriaMetrics/operator): each section has containers and a count of
  its own, and requests that the operator sets (``internal/config/config.go``) where it has none.
"""

from typing import Any

from karta_interpreter.engine.verification import Evidence
from tests.engine.verification.member import Thing, container, pod, workload


def _shown(obj: Thing, *sets: tuple[int, Thing, list[Thing], list[Thing]]) -> Evidence:
    pods = [
        pod(number, *containers, labels=labels, initContainers=init)
        for at, (replicas, labels, init, containers) in enumerate(sets)
        for number in range(100 * at, 100 * at + replicas)
    ]
    return Evidence(obj, tuple(pods), now=2e9)


def _zookeeper(replicas: int, cpu: str | None) -> Evidence:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    spec: Thing = {"replicas": replicas, "pod": {"resources": resources}, "containers": [], "volumes": []}
    labels = {"app": "it", "kind": "ZookeeperMember"}
    obj = workload("zookeeper.pravega.io/v1beta1", "ZookeeperCluster", spec)
    return _shown(obj, (replicas, labels, [], [container("zookeeper", cpu)]))


def _opensearch(dashboards: int, helper: str, **pools: tuple[int, str]) -> Evidence:
    spec: Thing = {
        "initHelper": {"resources": {"requests": {"cpu": helper}}},
        "dashboards": {"enable": True, "replicas": dashboards, "resources": {"requests": {"cpu": "200m"}}},
        "nodePools": [
            {"component": name, "replicas": replicas, "roles": ["data"], "resources": {"requests": {"cpu": cpu}}}
            for name, (replicas, cpu) in pools.items()
        ],
    }
    if not dashboards:
        del spec["dashboards"]
    sets: list[Any] = [
        (
            replicas,
            {
                "opensearch.org/opensearch-cluster": "it",
                "opensearch.org/opensearch-nodepool": name,
                **({"opensearch.role": "cluster_manager"} if name == "masters" else {}),
            },
            [container("init", helper)],
            [container("opensearch", cpu)],
        )
        for name, (replicas, cpu) in pools.items()
    ]
    sets.append((dashboards, {"opensearch.cluster.dashboards": "it"}, [], [container("dashboards", "200m")]))
    return _shown(workload("opensearch.org/v1", "OpenSearchCluster", spec), *sets)


_DEFAULTS = {"vmstorage": "250m", "vmselect": "100m", "vminsert": "150m"}


def _victoria(balancers: int = 0, **parts: tuple[int, str | None]) -> Evidence:
    spec: Thing = {
        name: {"replicaCount": replicas, "containers": [], **({"resources": {"requests": {"cpu": cpu}}} if cpu else {})}
        for name, (replicas, cpu) in parts.items()
    }
    sets: list[Any] = [
        (replicas, {"app.kubernetes.io/name": name}, [], [container(name, cpu or _DEFAULTS[name])])
        for name, (replicas, cpu) in parts.items()
    ]
    if balancers:
        inner = {"replicaCount": balancers, "resources": {"requests": {"cpu": "200m"}}}
        spec["requestsLoadBalancer"] = {"enabled": True, "spec": inner}
        sets.append((balancers, {"app.kubernetes.io/name": "balancer"}, [], [container("vmauth", "200m")]))
    return _shown(workload("operator.victoriametrics.com/v1beta1", "VMCluster", spec), *sets)


OPERATORS = {
    "zookeeper": [_zookeeper(3, "1"), _zookeeper(5, "2"), _zookeeper(1, "500m"), _zookeeper(7, None)],
    "opensearch": [
        _opensearch(1, "250m", masters=(3, "1")),
        _opensearch(1, "100m", masters=(3, "1"), hot=(3, "2"), cold=(2, "500m")),
        _opensearch(0, "50m", masters=(3, "500m"), nodes=(4, "2")),
        _opensearch(2, "250m", masters=(1, "500m"), nodes=(1, "1"), coordinators=(1, "500m")),
        _opensearch(3, "10m", masters=(5, "4"), nodes=(7, "8")),
    ],
    "victoria": [
        _victoria(vmstorage=(2, None), vmselect=(2, "500m"), vminsert=(2, "400m")),
        _victoria(2, vmstorage=(4, "2"), vmselect=(2, "300m"), vminsert=(2, None)),
        _victoria(vmstorage=(4, "1"), vmselect=(2, None), vminsert=(2, None)),
        _victoria(vmstorage=(3, "1"), vmselect=(1, None), vminsert=(1, None)),
    ],
}
"""Four objects of each operator or more."""
