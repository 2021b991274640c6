import click
import pytest

from karta_interpreter.cli.doctor import diagnosis_text, summary
from karta_interpreter.doctor import Level, Result

RESULTS = [
    Result(Level.OK, "tls", "fine"),
    Result(Level.WARNING, "call", "slow", "give it\nmore CPU"),
    Result(Level.PROBLEM, "address", "of two\n lines", "mend it"),
]


def test_every_result_is_a_line_and_advice_is_below_what_it_is_about() -> None:
    assert click.unstyle(diagnosis_text(RESULTS)).splitlines() == [
        "LEVEL    CHECK    FOUND",
        "ok       tls      fine",
        "warning  call     slow",
        "                  → give it more CPU",
        "problem  address  of two lines",
        "                  → mend it",
    ]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        pytest.param([], "0 ok, 0 warnings, 0 problems", id="nothing"),
        pytest.param(RESULTS, "1 ok, 1 warning, 1 problem", id="one of each"),
        pytest.param(RESULTS[2:] * 2, "0 ok, 0 warnings, 2 problems", id="several"),
    ],
)
def test_the_summary_counts(results: list[Result], expected: str) -> None:
    assert summary(results) == expected
