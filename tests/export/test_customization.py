from typing import Any

import pytest

from karta_interpreter.errors import LuaError
from karta_interpreter.operations import Call, Operation
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
