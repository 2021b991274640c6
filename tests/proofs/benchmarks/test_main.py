"""What `make bench-compare` says, without measuring."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.proofs.benchmarks import __main__ as module, run
from tests.proofs.benchmarks.comparison import QUICK_FLOOR, write_baseline
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.golang import Programs
from tests.proofs.benchmarks.report import Part
from tests.proofs.benchmarks.run import QUICK_SECTION, Run, Section

GO = cast("Programs", object())
Measured = Callable[..., list[str]]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Have the sections find what they are told to, one time after the other, compared with a baseline."""
    monkeypatch.setattr(module, "_BASELINE", tmp_path / "baseline.json")
    asked: list[str] = []

    def measure(run: Run, _: Programs | None, names: list[str]) -> None:
        asked.extend(names)
        run.measure(cast("Field", None), names)

    monkeypatch.setattr(module, "_measure", measure)

    def sections(baseline: dict[str, float], **found: list[dict[str, float]]) -> list[str]:
        write_baseline(tmp_path / "baseline.json", baseline)
        known = {name: Section(_finding(iter(times)), (name,)) for name, times in found.items()}
        monkeypatch.setattr(run, "SECTIONS", known)
        monkeypatch.setattr(module, "SECTIONS", known)
        return asked

    return sections


def _finding(times: Iterator[dict[str, float]]) -> Callable[..., Part]:
    return lambda *_: Part({}, next(times))


def test_what_has_not_fallen_is_measured_once(measured: Measured) -> None:
    asked = measured({"CPU": 10.0, "p99": 5.0}, cpu=[{"CPU": 8.1}], waiting=[{"p99": 6.0}])
    assert module.compare(GO) == 0
    assert asked == ["cpu", "waiting"]


def test_what_has_fallen_by_chance_is_measured_again_alone(measured: Measured) -> None:
    asked = measured({"CPU": 10.0, "p99": 5.0}, cpu=[{"CPU": 9.0}], waiting=[{"p99": 1.0}, {"p99": 4.8}])
    assert module.compare(GO) == 0
    assert asked == ["cpu", "waiting", "waiting"]


def test_what_has_fallen_twice_is_named(measured: Measured, capsys: pytest.CaptureFixture[str]) -> None:
    measured({"CPU": 10.0, "p99": 5.0}, cpu=[{"CPU": 7.0}, {"CPU": 6.0}], waiting=[{"p99": 5.0}])
    assert module.compare(GO) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "CPU: 10.00 has become 7.00, 30 % less"


def test_what_cannot_be_measured_any_more_is_named(measured: Measured, capsys: pytest.CaptureFixture[str]) -> None:
    measured({"CPU": 10.0, "p99": 5.0}, cpu=[{"CPU": 10.0}])
    assert module.compare(GO) == 1
    assert "p99: not measured" in capsys.readouterr().err


def test_without_go_only_what_needs_none_is_compared(measured: Measured) -> None:
    measured({"CPU": 10.0, "1,000 definitions": 1.0}, definitions=[{"1,000 definitions": 1.0}])
    assert module.compare(None) == 0


@pytest.mark.parametrize(
    ("found", "exit_code", "runs"),
    [
        pytest.param([0.5], 0, 1, id="as it was"),
        pytest.param([0.3, 0.39, 0.41], 0, 3, id="one of three is good"),
        pytest.param([0.3, 0.39, 0.39], 1, 3, id="three agree"),
    ],
)
def test_the_quick_comparison_fails_where_three_runs_agree(
    measured: Measured, found: list[float], exit_code: int, runs: int
) -> None:
    name = f"{QUICK_FLOOR}Workload"
    asked = measured({name: 0.5, "CPU": 10.0}, **{QUICK_SECTION: [{name: each} for each in found]})
    assert module.compare(None, quick=True) == exit_code
    assert asked == [QUICK_SECTION] * runs


def test_the_quick_comparison_looks_again_for_what_is_missing(measured: Measured) -> None:
    name = f"{QUICK_FLOOR}Workload"
    measured({name: 0.5}, **{QUICK_SECTION: [{}, {name: 0.5}]})
    assert module.compare(None, quick=True) == 0


def test_there_has_to_be_a_baseline(measured: Measured) -> None:
    measured({}, cpu=[{"CPU": 10.0}])
    with pytest.raises(SystemExit, match="make bench"):
        module.compare(GO)
