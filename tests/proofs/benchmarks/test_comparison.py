from pathlib import Path

import pytest

from tests.proofs.benchmarks.comparison import better, falls, read_baseline, unmeasured, write_baseline


@pytest.mark.parametrize(
    ("now", "fallen", "reason"),
    [
        (12.0, False, "better than it was"),
        (10.0, False, "as it was"),
        (8.0, False, "a fifth less is still borne"),
        (7.9, True, "more than a fifth less"),
        (0.0, True, "nothing is left"),
    ],
)
def test_a_fall_is_more_than_a_fifth(now: float, fallen: bool, reason: str) -> None:
    assert bool(falls({"CPU": 10.0}, {"CPU": now})) is fallen, reason


def test_a_fall_is_named() -> None:
    (fall,) = falls({"CPU": 10.0, "p99": 4.0}, {"CPU": 5.0, "p99": 4.0})
    assert str(fall) == "CPU: 10.00 has become 5.00, 50 % less"


def test_only_what_both_have_can_fall() -> None:
    assert falls({"gone": 10.0}, {"new": 0.1}) == []


def test_comparison_names_rows_that_are_gone() -> None:
    assert unmeasured({"CPU": 10.0, "gone": 10.0}, {"CPU": 1.0, "new": 1.0}) == ["gone"]


def test_the_better_of_two_measurements_counts() -> None:
    assert better({"CPU": 7.0, "p99": 4.0}, {"CPU": 9.0}) == {"CPU": 9.0, "p99": 4.0}


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    write_baseline(file, {"CPU, 5 KB": 7.4249, "p99": 5.0})
    assert read_baseline(file) == {"CPU, 5 KB": 7.42, "p99": 5.0}
    assert list(read_baseline(file)) == ["CPU, 5 KB", "p99"]


def test_no_file_is_an_empty_baseline(tmp_path: Path) -> None:
    assert read_baseline(tmp_path / "baseline.json") == {}
