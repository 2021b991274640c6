from dataclasses import replace

import click
import pytest

from karta_interpreter.base.findings import Finding, Severity, Span
from karta_interpreter.cli.render import findings_text
from tests.support.rows import rows


def _text(finding: Finding) -> str:
    return click.unstyle(findings_text([finding]))


def _about(expression: str, marked: str) -> Finding:
    start = expression.index(marked)
    span = Span(start, start + len(marked))
    return Finding(Severity.ERROR, "r", (), "no", expression=expression, span=span)


def test_finding_has_parts_in_order() -> None:
    finding = Finding(
        Severity.WARNING,
        "some-rule",
        ("spec", "items", 0),
        "looks odd",
        hint="do this",
        source="a.yaml",
        line=3,
        column=7,
        expression=".a | .b",
        span=Span(5, 7),
    )

    assert _text(finding) == (
        "a.yaml:3:7: warning [some-rule] spec.items[0]: looks odd\n    .a | .b\n         ^^\n    hint: do this\n"
    )


@rows(
    ("finding", "text"),
    [
        pytest.param(Finding(Severity.ERROR, "r", (), "no"), "error [r] no\n", id="from nowhere"),
        pytest.param(
            Finding(Severity.ERROR, "r", (), "no", source="a"), "a: error [r] no\n", id="from a file as a whole"
        ),
        pytest.param(_about(".a |\n.b", ".b"), "error [r] no\n    .b\n    ^^\n", id="in the second line"),
        pytest.param(_about("a\tb", "b"), "error [r] no\n    a b\n      ^\n", id="behind a tab"),
    ],
)
def test_parts_that_are_missing_leave_no_trace(finding: Finding, text: str) -> None:
    assert _text(finding) == text


def test_what_is_the_same_about_several_places_is_printed_once() -> None:
    first = Finding(Severity.WARNING, "r", ("spec", "a"), "no", "b", "k.yaml", 3, 1, ".a | .b", span=Span(0, 2))
    same = replace(first, path=("spec", "c"), line=7)
    below, other = replace(same, line=8, span=Span(5, 7)), replace(first, source="other.yaml")

    assert click.unstyle(findings_text([same, below, first, other, same])).splitlines() == [
        *("k.yaml:3:1: warning [r] spec.a: no", "    .a | .b", "    ^^", "    hint: b"),
        "    also: k.yaml:7:1: spec.c",
        *("k.yaml:8:1: warning [r] spec.c: no", "    .a | .b", "         ^^", "    hint: b"),
        *("other.yaml:3:1: warning [r] spec.a: no", "    .a | .b", "    ^^", "    hint: b"),
    ]


def test_caret_may_stand_behind_the_expression() -> None:
    finding = Finding(Severity.ERROR, "r", (), "no", expression=".a |", span=Span(4, 4))

    assert _text(finding).splitlines()[2] == "        ^"


def test_long_expression_is_cut_around_the_place() -> None:
    finding = _about(f"{'.a | ' * 60}BAD{' | .z' * 60}", "BAD")

    _, expression, carets = _text(finding).splitlines()
    assert len(expression) <= 100
    assert expression[carets.index("^") : carets.rindex("^") + 1] == "BAD"
