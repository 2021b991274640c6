import click
import pytest

from karta_interpreter.cli.doctor import results_table, summary
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from tests.support.rows import rows

RESULTS = [
    CheckResult(Level.OK, "tls", "fine"),
    CheckResult(Level.WARNING, "call", "slow", "give it\nmore CPU"),
    CheckResult(Level.PROBLEM, "address", "of two\n lines", "fix it"),
]


def test_result_is_a_line_with_advice_below() -> None:
    assert click.unstyle(results_table(RESULTS)).splitlines() == [
        "LEVEL    CHECK    FOUND",
        "ok       tls      fine",
        "warning  call     slow",
        "                  → give it more CPU",
        "problem  address  of two lines",
        "                  → fix it",
    ]


@rows(
    ("results", "expected"),
    [
        pytest.param([], "0 ok, 0 warnings, 0 problems", id="nothing"),
        pytest.param(RESULTS, "1 ok, 1 warning, 1 problem", id="one of each"),
        pytest.param(RESULTS[2:] * 2, "0 ok, 0 warnings, 2 problems", id="several"),
    ],
)
def test_summary_counts_results(results: list[CheckResult], expected: str) -> None:
    assert summary(results) == expected
