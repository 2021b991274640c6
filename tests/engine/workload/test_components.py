import re
from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter import (
    ComponentNotFoundError,
    Karta,
    PathNotWritableError,
    Workload,
    WorkloadError,
    WriteVerificationError,
)

_TEMPLATE: dict[str, Any] = {"spec": {"containers": [{"name": "main"}]}}


def _made(api_version: str, kind: str, spec: Any) -> Workload:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return Workload(Karta.for_object(obj), obj)


@pytest.fixture
def ray() -> Workload:
    groups = [
        {"groupName": "cpu", "replicas": 2, "maxReplicas": 5, "template": _TEMPLATE},
        {"groupName": "tpu", "replicas": 1, "numOfHosts": 4, "template": _TEMPLATE},
    ]
    return _made("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": _TEMPLATE}, "workerGroupSpecs": groups})


@pytest.fixture
def groups() -> Workload:
    template = {"size": 4, "workerTemplate": _TEMPLATE, "leaderTemplate": _TEMPLATE}
    return _made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": template})


def _counts(workload: Workload) -> dict[str, int]:
    answer: Any = workload.karta.answers(workload.object)["InterpretComponent"]["components"]
    return {component["name"]: component["replicas"] for component in answer}


def test_counts_of_several_components_are_set_at_once(ray: Workload) -> None:
    before = deepcopy(ray.object)
    changed = ray.set_components({"cpu": 5, "tpu": 8})
    assert _counts(changed) == {"head": 1, "cpu": 5, "tpu": 8}
    assert [group["replicas"] for group in changed.object["spec"]["workerGroupSpecs"]] == [5, 2]
    assert ray.object == before


def test_components_that_share_a_field_are_set_together(groups: Workload) -> None:
    assert groups.set_components({"leader": 3, "worker": 9}).object["spec"]["replicas"] == 3


def test_present_counts_change_nothing(ray: Workload) -> None:
    assert ray.set_components({"head": 1, "cpu": 2}) is ray
    assert ray.set_components({}) is ray


def test_default_equal_to_present_count_is_written() -> None:
    spec = {"pytorchReplicaSpecs": {"Master": {"template": _TEMPLATE}, "Worker": {"template": _TEMPLATE}}}
    changed = _made("kubeflow.org/v1", "PyTorchJob", spec).set_components({"worker": 1})
    assert changed.object["spec"]["pytorchReplicaSpecs"] == {
        "Master": {"template": _TEMPLATE},
        "Worker": {"template": _TEMPLATE, "replicas": 1},
    }


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        pytest.param({"gpu": 2}, ComponentNotFoundError, 'no component "gpu"; there are: head, cpu, tpu', id="unknown"),
        pytest.param({"head": 2}, PathNotWritableError, "head to 2: no field sets its count", id="fixed"),
        pytest.param({"tpu": 6}, PathNotWritableError, "tpu to 6: its count changes in steps of 4", id="steps"),
        pytest.param({"cpu": 6}, PathNotWritableError, "cpu to 6: cpu can change up to 5", id="bound"),
        pytest.param({"cpu": -1}, WorkloadError, "the replicas of cpu must be a whole number", id="negative"),
        pytest.param({"cpu": True}, WorkloadError, "not True", id="not a number"),
        pytest.param([("cpu", 1)], WorkloadError, 'for each component, {"worker": 8}, not list', id="not a mapping"),
    ],
)
def test_count_that_cannot_be_set_names_reason(
    ray: Workload, counts: Any, error: type[WorkloadError], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        ray.set_components(counts)


def test_component_that_would_move_as_well_is_named(groups: Workload) -> None:
    reason = "worker would become 9, not 6: spec.replicas counts leader and worker; nothing was changed"
    with pytest.raises(WriteVerificationError, match=reason):
        groups.set_components({"leader": 3})


def test_indivisible_workload_keeps_its_counts(ray: Workload) -> None:
    manifest: Any = deepcopy(ray.karta.definition.manifest)
    manifest["metadata"].setdefault("annotations", {})["karta-interpreter.io/elastic"] = "none"
    whole = Workload(Karta.load(manifest), ray.object)
    assert whole.set_components({"cpu": 2}) is whole
    with pytest.raises(PathNotWritableError, match="does not let the workload be divided"):
        whole.set_components({"cpu": 3})


def test_suspend_patches_suspend_the_workload() -> None:
    job = _made("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {}})
    assert job.suspend_patches() == [{"op": "add", "path": "/spec/runPolicy", "value": {"suspend": True}}]
    assert job.suspend().suspend_patches() == []
