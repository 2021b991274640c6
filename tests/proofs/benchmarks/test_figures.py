"""What is made of rounds."""

import pytest

from tests.proofs.benchmarks.figures import Figures, cpu, spread, times


def _rounds(*costs: float) -> list[Figures]:
    return [Figures(one, 100.0, 1.0, 1.0) for one in costs]


def test_wild_round_among_five_changes_nothing() -> None:
    assert cpu(_rounds(20.0, 20.0, 900.0, 20.0, 20.0)) == 20.0


def test_times_compares_each_round_with_its_own() -> None:
    assert times(_rounds(20.0, 400.0, 40.0), _rounds(10.0, 100.0, 20.0)) == 2.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([5.0], 0.0, id="one value does not spread"),
        pytest.param([8.0, 10.0, 12.0], 0.4, id="of three none is left out"),
        pytest.param([0.0, 9.0, 10.0, 11.0, 99.0], 0.2, id="of five the outermost two are left out"),
    ],
)
def test_spread_is_the_middle_half(values: list[float], expected: float) -> None:
    assert spread(values) == pytest.approx(expected)
