"""What a run comes to."""

import pytest

from karta_interpreter.base.errors import SuiteError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.suites import Outcome, SuiteReport, Totals
from karta_interpreter.engine.suites.suite import read_suite
from tests.support.rows import rows

_CASE = "{name: %s, operation: InterpretStatus, observedObj: {apiVersion: %s, kind: Brew}}"


def _outcome(name: str, api_version: str, *failures: str) -> Outcome:
    (case,) = read_suite(_CASE % (name, api_version))
    return Outcome(case, failures)


_GOOD, _BAD, _LATER = (
    _outcome("good", "toys.io/v1"),
    _outcome("bad", "toys.io/v1", "status: expected 1, got 2"),
    _outcome("later", "toys.io/v2"),
)


def test_cases_are_counted_kind_by_kind() -> None:
    report = SuiteReport((_LATER, _GOOD, _BAD))
    assert report.kinds == {GVK("toys.io", "v1", "Brew"): Totals(2, 1), GVK("toys.io", "v2", "Brew"): Totals(1, 0)}
    assert list(report.kinds) == sorted(report.kinds)
    assert (report.totals.passed, report.totals.failed) == (2, 1)


def test_cases_that_passed_count_even_when_they_are_not_shown() -> None:
    report = SuiteReport((_GOOD, _BAD), fail_only=True)
    assert report.shown == (_BAD,)
    assert report.totals == Totals(2, 1)


@rows(
    ("report", "passed"),
    [
        pytest.param(SuiteReport((_GOOD, _LATER)), True, id="every case passed"),
        pytest.param(SuiteReport((_GOOD, _BAD)), False, id="a case failed"),
        pytest.param(SuiteReport((_GOOD,), (SuiteError("a.yaml:1: no name"),)), False, id="a suite is unreadable"),
    ],
)
def test_report_has_verdict(report: SuiteReport, passed: bool) -> None:
    assert report.passed is passed


def test_case_without_kind_counts_as_empty_kind() -> None:
    (case,) = read_suite("{name: a, operation: InterpretStatus, observedObj: {status: {}}}")
    assert list(SuiteReport((Outcome(case),)).kinds) == [GVK("", "", "")]
