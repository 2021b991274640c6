"""When a call is too dear."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.proofs.benchmarks import __main__ as module
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.gate import cheaper, dearer, read_baseline, write_baseline
from tests.proofs.benchmarks.instructions import PYTHON
from tests.support.rows import rows


@rows(
    ("found", "lines"),
    [
        pytest.param({"cold": 1.0}, [], id="cheaper than it was"),
        pytest.param({"cold": 2.6, "new": 9.0}, [], id="a third more is borne, and what is new"),
        pytest.param({"cold": 3.0}, ["cold: 2.00 times the floor has become 3.00, 50 % more"], id="half more"),
        pytest.param({}, ["cold: not measured"], id="missing"),
    ],
)
def test_dearer_names_calls_above_the_tolerance(found: dict[str, float], lines: list[str]) -> None:
    assert dearer({"cold": 2.0}, found) == lines


def test_cheaper_takes_the_smaller_figure_of_each_name() -> None:
    assert cheaper({"cold": 2.0, "warm": 1.0}, {"cold": 3.0, "one": 1.5}) == {"cold": 2.0, "warm": 1.0, "one": 1.5}


def test_written_baseline_is_read_with_three_digits(tmp_path: Path) -> None:
    write_baseline(tmp_path / "baseline.json", {"cold": 4.12345})
    assert read_baseline(tmp_path / "baseline.json") == {"cold": 4.12}


class _Servers(SimpleNamespace):
    def __enter__(self) -> Field:
        return cast("Field", None)

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("found", "exit_code", "tries"),
    [
        pytest.param([2.0], 0, 1, id="as it was"),
        pytest.param([4.0, 3.0, 2.1], 0, 3, id="one of three is good"),
        pytest.param([4.0, 3.0, 2.7], 1, 3, id="three agree"),
    ],
)
def test_quick_comparison_fails_if_three_runs_agree(
    found: list[float], exit_code: int, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BASELINE", tmp_path / "baseline.json")
    write_baseline(tmp_path / "baseline.json", {"cold": 2.0})
    remaining = iter(found)
    assert module.compare_with_floor(_Servers(), lambda _: {"cold": next(remaining)}) == exit_code
    assert len(found) - len([*remaining]) == tries


@pytest.mark.parametrize(
    ("found", "exit_code", "said"),
    [
        pytest.param({}, None, [], id="without Valgrind, time is compared"),
        pytest.param({"Retain": 2.1, "InterpretStatus": 1.0}, 0, [], id="what builds differ by is borne"),
        pytest.param(
            {"Retain": 2.3, "InterpretStatus": 1.0}, 1, ["Retain: 2.00 times the floor has become 2.30"], id="dearer"
        ),
        pytest.param({"Retain": 2.0}, 1, ["InterpretStatus: not measured"], id="missing"),
    ],
)
def test_instructions_are_compared_with_those_of_the_same_python(
    found: dict[str, float],
    exit_code: int | None,
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "_INSTRUCTIONS", tmp_path / "instructions.json")
    known = {PYTHON + "Retain": 2.0, PYTHON + "InterpretStatus": 1.0, "CPython 2.7, Retain": 1.0}
    write_baseline(tmp_path / "instructions.json", known)
    measured = {PYTHON + name: floors for name, floors in found.items()}
    assert module.compare_instructions(lambda: measured) == exit_code
    errors = capsys.readouterr().err
    assert [line for line in said if PYTHON + line not in errors] == []


def test_python_without_known_instructions_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INSTRUCTIONS", tmp_path / "instructions.json")
    write_baseline(tmp_path / "instructions.json", {"CPython 2.7, Retain": 1.0})
    assert module.compare_instructions(lambda: pytest.fail("counted for nothing")) is None
