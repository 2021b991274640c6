import pytest

from tests.proofs.benchmarks.figures import Figures, mean_cpu, percentile, spread, summary


def figures(cpu: float, p99: float = 1.0) -> Figures:
    return Figures(count=10, cpu=cpu, rate=100.0, p50=1.0, p99=p99, longest=9.0, busy=0.5)


def test_each_figure_has_its_own_median() -> None:
    found = summary([figures(30.0, p99=5.0), figures(10.0, p99=9.0), figures(20.0, p99=1.0)])
    assert (found.cpu, found.p99, found.least) == (20.0, 5.0, 10.0)


def test_one_wild_round_of_five_changes_nothing() -> None:
    calm = [figures(20.0) for _ in range(4)]
    assert summary([*calm, figures(900.0)]).cpu == 20.0
    assert summary([*calm, figures(900.0)]).spread == 0.0


def test_a_core_has_a_million_microseconds_for_each_second() -> None:
    assert summary([figures(25.0)]).per_core == 40_000


def test_requests_that_are_equally_frequent_cost_the_mean() -> None:
    assert mean_cpu([summary([figures(10.0)]), summary([figures(40.0)])]) == 25.0


@pytest.mark.parametrize(
    ("values", "expected", "reason"),
    [
        ([5.0], 0.0, "one value does not spread"),
        ([8.0, 10.0, 12.0], 0.4, "of three, none is left out"),
        ([0.0, 9.0, 10.0, 11.0, 99.0], 0.2, "of five, the outermost two are left out"),
    ],
)
def test_spread(values: list[float], expected: float, reason: str) -> None:
    assert spread(values) == pytest.approx(expected), reason


@pytest.mark.parametrize(
    ("share", "expected", "reason"),
    [
        (0.0, 1.0, "the smallest"),
        (0.5, 51.0, "half of a hundred are below"),
        (0.99, 100.0, "99 are below"),
        (1.0, 100.0, "there is none above the largest"),
    ],
)
def test_percentile(share: float, expected: float, reason: str) -> None:
    assert percentile(map(float, reversed(range(1, 101))), share) == expected, reason
