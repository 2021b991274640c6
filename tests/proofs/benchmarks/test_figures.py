"""What is made of rounds."""

from tests.proofs.benchmarks.figures import Figures, cpu, times


def _rounds(*costs: float) -> list[Figures]:
    return [Figures(one, 100.0, 1.0, 1.0) for one in costs]


def test_wild_round_among_five_changes_nothing() -> None:
    assert cpu(_rounds(20.0, 20.0, 900.0, 20.0, 20.0)) == 20.0


def test_times_compares_each_round_with_its_own() -> None:
    assert times(_rounds(20.0, 400.0, 40.0), _rounds(10.0, 100.0, 20.0)) == 2.0
