from typing import Any

import pytest

from karta_interpreter.errors import LuaError
from karta_interpreter.export.customization import script_of
from karta_interpreter.k8s import edit
from karta_interpreter.karta.loading import load_definition
from karta_interpreter.lua.script import Script
from karta_interpreter.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, entries
from tests.conformance.customizations import Pair, Tally, compare_ours, exported
from tests.scripts import answer

KINDS = ("Job", "JobSet", "RayCluster", "PyTorchJob", "MPIJob", "CronJob", "StatefulSet", "SparkApplication")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    def is_sampled(entry: Entry) -> bool:
        return entry.folder.name in KINDS

    return list(exported(filter(is_sampled, entries()), Tally()))


@pytest.mark.parametrize("operation", Operation)
def test_the_answer_of_an_exported_script_is_that_of_the_karta(pairs: list[Pair], operation: Operation) -> None:
    tally = Tally()

    for pair in pairs:
        if pair.operation is operation:
            compare_ours(pair, tally)

    assert not list(tally.failures())


def test_so_is_its_answer_about_a_changed_object_or_there_is_a_reason(pairs: list[Pair]) -> None:
    tally = Tally()

    for pair in pairs:
        compare_ours(pair, tally, copies=1)

    assert not tally.differences
    assert tally.changed == tally.cases > 0


@pytest.mark.parametrize(
    ("operation", "spec"),
    [
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": False}, id="containers that are false"),
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": {"a": {}}}, id="containers that are an object"),
        pytest.param(
            Operation.INTERPRET_REPLICA,
            {"containers": [{"resources": {"requests": {"cpu": {}}}}]},
            id="a quantity that is an object",
        ),
        pytest.param(Operation.INTERPRET_DEPENDENCY, {"initContainers": False}, id="init containers that are false"),
        pytest.param(Operation.INTERPRET_DEPENDENCY, {"resourceClaims": {"a": 1}}, id="claims that are an object"),
    ],
)
def test_a_script_rejects_pods_that_the_karta_rejects(
    pairs: list[Pair], operation: Operation, spec: dict[str, Any]
) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": {"spec": spec}}}
    (pair,) = (each for each in pairs if each.operation is operation and each.definition.name == "batch-job-v1")

    assert pair.expected(Call(operation, job)).results is None
    with pytest.raises(LuaError):
        answer([pair.script], object=job)


@pytest.mark.parametrize("elastic", ["replicatedjob/hot", "replicatedjob/hot, replicatedjob/warm", "replicatedjob"])
def test_a_script_changes_the_instances_that_are_elastic(pairs: list[Pair], elastic: str) -> None:
    jobset = next(pair.definition for pair in pairs if pair.definition.gvk.kind == "JobSet")
    path = ("metadata", "annotations", "karta-interpreter.io/elastic")
    definition = load_definition(edit.set_value(jobset.manifest, path, elastic))
    template = {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}
    jobs = [{"name": name, "replicas": 2, "template": template} for name in ("hot", "cold", "warm")]
    obj = {
        "apiVersion": jobset.gvk.api_version,
        "kind": "JobSet",
        "metadata": {"name": "x"},
        "spec": {"replicatedJobs": jobs},
    }
    script = Script("ReviseReplica", script_of(definition, Operation.REVISE_REPLICA), definition.name)
    expected = interpret(definition, Call(Operation.REVISE_REPLICA, obj, replicas=9))
    assert answer([script], object=obj, replicas=9) == expected
    assert expected["revised"] != obj
