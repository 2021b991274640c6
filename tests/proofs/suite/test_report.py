"""Reports of ginkgo: which cases have run, and which of them are a surprise."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.suite.report import DIFFERENCES, Difference, Family, Result, failures, read

_PAGE = Path(__file__).parents[3] / "docs" / "developers" / "proofs.md"
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
        _spec("halves", "failed", Failure={"Message": "2\n  is not 3"}, CapturedGinkgoWriterOutput="1\n2"),
        _spec("thirds", "skipped"),
        _spec("", kind="SynchronizedAfterSuite"),
        _spec("", "timedout", "SynchronizedBeforeSuite", ContainerHierarchyTexts=None),
    ]
    file = tmp_path / "report.json"
    file.write_text(json.dumps([{"SpecReports": specs}, {"SpecReports": None}]), encoding="utf-8")
    assert read(file) == [
        Result("counting wholes", 2.0, ""),
        Result("counting halves", 2.0, "2 is not 3", "1 2"),
        Result("SynchronizedBeforeSuite", 2.0, "timedout"),
    ]


@pytest.mark.parametrize("result", [_HALVES, Result("counting halves", 1.0, "Timed out", "2 is not 3")])
def test_case_that_differs_as_named_is_no_failure(result: Result) -> None:
    assert _wrong(_WHOLE, result) == []


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


def test_differences_are_the_table_of_documentation() -> None:
    table = _PAGE.read_text(encoding="utf-8").partition("## Karmada's own suite")[2].partition("\n## ")[0]
    cases = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    assert sorted(cases) == sorted(difference.case for difference in DIFFERENCES)
