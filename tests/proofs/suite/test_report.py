"""Reports of ginkgo: which cases have run, and what is not as expected of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.suite.report import DIFFERENCES, FAMILIES, Difference, Family, Result, cases, failures, read

_FAMILY = Family("counts", "counting", 2)
_DIFFERENCE = Difference("counting halves", "2 is not 3")
_WHOLE = Result("counting wholes", 1.0, "")
_HALVES = Result("counting halves", 1.0, "Expected: 2 is not 3")


def _spec(text: str, state: str = "passed", kind: str = "It", **more: Any) -> dict[str, Any]:
    texts = {"ContainerHierarchyTexts": ["counting"], "LeafNodeText": text, "LeafNodeType": kind}
    return {**texts, "State": state, "RunTime": 2_000_000_000, **more}


def _wrong(*results: Result) -> list[str]:
    return list(failures(list(results), (_FAMILY,), (_DIFFERENCE,)))


def test_read_returns_cases_that_have_run_and_preparations_that_have_failed(tmp_path: Path) -> None:
    specs = [
        _spec("wholes"),
        _spec("halves", "failed", Failure={"Message": "2 is not 3"}),
        _spec("thirds", "skipped"),
        _spec("", kind="SynchronizedAfterSuite"),
        _spec("", "timedout", "SynchronizedBeforeSuite", ContainerHierarchyTexts=None),
    ]
    file = tmp_path / "report.json"
    file.write_text(json.dumps([{"SpecReports": specs}, {"SpecReports": None}]), encoding="utf-8")
    assert read(file) == [
        Result("counting wholes", 2.0, ""),
        Result("counting halves", 2.0, "2 is not 3"),
        Result("SynchronizedBeforeSuite", 2.0, "timedout"),
    ]


def test_case_that_differs_as_named_is_no_failure() -> None:
    assert _wrong(_WHOLE, _HALVES) == []


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([_WHOLE], "counts: 1 cases have run, not 2"),
        ([Result("counting wholes", 1.0, "lost"), _HALVES], "counting wholes: lost"),
        ([_WHOLE, Result("counting halves", 1.0, "")], "counting halves: it passes"),
        ([_WHOLE, Result("counting halves", 1.0, "lost")], "counting halves: it fails for another reason"),
    ],
)
def test_failures_name_what_is_not_as_expected(results: list[Result], message: str) -> None:
    (line,) = _wrong(*results)
    assert line.startswith(message)


def test_each_difference_is_a_case_of_one_family() -> None:
    for difference in DIFFERENCES:
        result = Result(difference.case, 0.0, "")
        assert sum(bool(cases(family, [result])) for family in FAMILIES) == 1
