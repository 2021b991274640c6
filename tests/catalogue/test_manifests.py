"""Manifests as users write them, answered from the catalogue."""

from pathlib import Path

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.support.rows import rows

_FOLDER = Path(__file__).parent / "manifests"


def _manifest(name: str) -> Object:
    (document,) = read_documents((_FOLDER / name).read_text(encoding="utf-8"), name)
    manifest: Object = document.value
    return manifest


def _ask(obj: Object, operation: Operation, replicas: int | None = None) -> JSON:
    found = find_in_catalogue(GVK.of(obj))
    assert found is not None
    return next(iter(interpret(found.definition, Call(operation, obj, replicas=replicas)).values()))


@rows(
    ("name", "components", "dependencies"),
    [
        pytest.param(
            "raycluster.yaml",
            # 2 slices of 4 hosts are 8 pods.
            {"head": 1, "spot-cpu": 6, "tpu-slice": 8},
            [
                "ConfigMap/autoscaler-settings",
                "PersistentVolumeClaim/checkpoints",
                "Secret/feature-store",
                "Secret/ray-redis",
                "ServiceAccount/ray",
            ],
            id="RayCluster",
        ),
        pytest.param("jobset.yaml", {"prepare": 1, "train": 32, "evaluate": 1},
            ["ConfigMap/hyperparameters", "PersistentVolumeClaim/corpus"], id="JobSet"),
        pytest.param("leaderworkerset.yaml", {"leader": 2, "worker": 6},
            ["Secret/model-hub", "ServiceAccount/model-reader"], id="LeaderWorkerSet"),
    ],
)  # fmt: skip
def test_manifest_has_components_and_dependencies(
    name: str, components: dict[str, int], dependencies: list[str]
) -> None:
    obj = _manifest(name)
    answered = _ask(obj, Operation.INTERPRET_COMPONENT)
    assert {component["name"]: component["replicas"] for component in answered} == components
    replicas = {"leaderworkerset.yaml": 2}.get(name, sum(components.values()))
    assert _ask(obj, Operation.INTERPRET_REPLICA) == replicas
    needed = _ask(obj, Operation.INTERPRET_DEPENDENCY)
    assert [f"{one['kind']}/{one['name']}" for one in needed] == dependencies


def test_autoscaled_cluster_is_divided_within_its_bounds() -> None:
    obj = _manifest("raycluster.yaml")
    # 8 pods: the head, and of 7 workers in the proportion 6 to 8 three, which leaves a slice of four.
    groups = _ask(obj, Operation.REVISE_REPLICA, 8)["spec"]["workerGroupSpecs"]
    assert [group["replicas"] for group in groups] == [3, 1]
    # The head and 2 spot workers are the least.
    with pytest.raises(InterpretationError, match="cannot set 2 replicas"):
        _ask(obj, Operation.REVISE_REPLICA, 2)


def test_training_run_is_divided_by_whole_jobs() -> None:
    obj = _manifest("jobset.yaml")
    jobs = _ask(obj, Operation.REVISE_REPLICA, 18)["spec"]["replicatedJobs"]
    assert [job.get("replicas") for job in jobs] == [None, 4, 1]
    with pytest.raises(InterpretationError, match="in steps of 4"):
        _ask(obj, Operation.REVISE_REPLICA, 17)
