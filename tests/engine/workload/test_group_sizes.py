"""Groups of kinds that run all of their pods: each has as many pods as its minimum says."""

from collections.abc import Iterator
from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.engine.workload.gang import pod_groups
from tests.support.rows import rows

Raw = dict[str, Any]

_POD: Raw = {"spec": {"containers": [{"name": "main"}]}}
_GROUP: Raw = {"workerTemplate": _POD}


def _pod(labels: Raw, **annotations: str) -> Raw:
    return {"metadata": {"name": "p", "labels": labels, "annotations": annotations}, **_POD}


def _storm_service() -> Iterator[Raw]:
    for replica in ("a-1", "a-2"):
        for role in ("prefill", "prefill", "decode"):
            yield _pod({"storm-service-name": "a", "role-name": role, "roleset-name": replica})


def _model_serving() -> Iterator[Raw]:
    prefix = "modelserving.volcano.sh"
    for group in ("a-0", "a-1"):
        labels = {f"{prefix}/group-name": group, f"{prefix}/role": "prefill"}
        for _ in range(2):
            yield _pod({**labels, f"{prefix}/entry": "true"})
            yield _pod(labels)


def _ray_cluster_fleet() -> Iterator[Raw]:
    for cluster in ("a-1", "a-2"):
        for group, node_type in (("headgroup", "head"), ("small", "worker"), ("small", "worker")):
            yield _pod({"ray.io/cluster": cluster, "ray.io/node-type": node_type, "ray.io/group": group})


def _disaggregated_set() -> Iterator[Raw]:
    prefix = "leaderworkerset.sigs.k8s.io"
    for slice_number in (0, 1):
        for role, group, size in (("prefill", 0, 1), ("prefill", 1, 1), ("decode", 0, 3)):
            for index in range(size):
                labels = {
                    "disaggregatedset.x-k8s.io/role": role,
                    f"{prefix}/name": f"a-{slice_number}-{role}",
                    f"{prefix}/group-index": str(group),
                    f"{prefix}/worker-index": str(index),
                }
                yield _pod(labels, **({f"{prefix}/leader-name": "a-leader"} if index else {}))


@rows(
    ("api_version", "kind", "spec", "pods", "sizes"),
    [
        pytest.param("orchestration.aibrix.ai/v1alpha1", "StormService",
            {"replicas": 2, "template": {"spec": {"roles": [
                {"name": "prefill", "replicas": 2, "template": _POD},
                {"name": "decode", "replicas": 1, "template": _POD},
            ]}}}, _storm_service, [3, 3], id="a group for each RoleSet"),
        pytest.param("workload.serving.volcano.sh/v1alpha1", "ModelServing",
            {"replicas": 2, "template": {"roles": [
                {"name": "prefill", "replicas": 2, "entryTemplate": _POD, "workerReplicas": 1, "workerTemplate": _POD}
            ]}}, _model_serving, [4, 4], id="a group for each replica"),
        pytest.param("orchestration.aibrix.ai/v1alpha1", "RayClusterFleet",
            {"replicas": 2, "template": {"spec": {
                "headGroupSpec": {"template": _POD},
                "workerGroupSpecs": [{"groupName": "small", "replicas": 2, "maxReplicas": 5, "template": _POD}],
            }}}, _ray_cluster_fleet, [3, 3], id="a group for each RayCluster"),
        pytest.param("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet",
            {"slices": 2, "roles": [
                {"name": "prefill", "spec": {"replicas": 2, "leaderWorkerTemplate": _GROUP}},
                {"name": "decode", "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 3, **_GROUP}}},
            ]}, _disaggregated_set, [1, 1, 3, 1, 1, 3], id="a group for each leader, which is of one role"),
    ],
)  # fmt: skip
def test_group_of_running_pods_has_its_minimum(
    api_version: str, kind: str, spec: Raw, pods: Any, sizes: list[int]
) -> None:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "n"}, "spec": spec}
    groups = pod_groups(Karta.for_object(obj).definition, obj, pods())

    assert [len(group.pods) for group in groups] == sizes
    assert [group.minimum for group in groups] == sizes
