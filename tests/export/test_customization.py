import pytest

from karta_interpreter.operations import Operation
from tests.catalogue.entries import Entry, entries
from tests.conformance.customizations import Pair, Tally, compare_ours, exported

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
