from pathlib import Path

import pytest

from tests.proofs.benchmarks.comparison import QUICK_FLOOR, better, falls, read_baseline, unmeasured, write_baseline


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


@pytest.mark.parametrize(
    ("name", "now", "fallen"),
    [
        ("floor, 5 KB", 0.46, False),
        ("floor, 5 KB", 0.45, True),
        ("quick floor", 0.41, False),
        ("quick floor", 0.39, True),
    ],
)
def test_floors_have_tolerances_of_their_own(name: str, now: float, fallen: bool) -> None:
    name = {"quick floor": f"{QUICK_FLOOR}5 KB"}.get(name, name)
    assert bool(falls({name: 0.5}, {name: now})) is fallen


def test_a_growth_is_told_in_floors() -> None:
    (fall,) = falls({"floor, 5 KB": 0.5}, {"floor, 5 KB": 0.4})
    assert str(fall) == "floor, 5 KB: 2.00 times the floor has become 2.50, 25 % more"


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
    write_baseline(file, {"CPU, 5 KB": 7.42491, "p99": 5.0, f"{QUICK_FLOOR}5 KB": 0.5})
    assert list(read_baseline(file, quick=False).items()) == [("CPU, 5 KB", 7.425), ("p99", 5.0)]
    assert read_baseline(file, quick=True) == {f"{QUICK_FLOOR}5 KB": 0.5}


def test_no_file_is_an_empty_baseline(tmp_path: Path) -> None:
    assert read_baseline(tmp_path / "baseline.json", quick=True) == {}
