import pytest

from karta_interpreter.base.findings import Finding, error, warning
from karta_interpreter.base.k8s.values import Path
from karta_interpreter.webhook.admission import refusal, warnings_of
from tests.support.rows import rows

DEEP: Path = ("spec", "structureDefinition", "childComponents", 12, "scaleDefinition", "replicasPath")


@rows(
    ("finding", "line"),
    [
        pytest.param(error("schema", (), "no object"), "  no object [schema]", id="about the whole object"),
        pytest.param(error("schema", ("spec",), "missing"), "  spec: missing [schema]", id="with a place"),
        pytest.param(error("typo", ("spec",), "wrong", "do this"), "  spec: wrong (do this) [typo]", id="with a hint"),
        pytest.param(error("jq", ("spec",), "cannot\n parse"), "  spec: cannot parse [jq]", id="of several lines"),
        pytest.param(error("jq", ("spec",), "half \ud83d"), "  spec: half ? [jq]", id="that UTF-8 cannot say"),
    ],
)
def test_error_is_one_line(finding: Finding, line: str) -> None:
    assert refusal("Karta", "x", [finding]) == f'Karta "x" cannot be used: 1 error\n{line}'


def test_message_has_no_warnings() -> None:
    text = refusal("Karta", "x", [warning("lint", (), "careful"), error("schema", (), "no"), error("schema", (), "no")])

    assert text == 'Karta "x" cannot be used: 2 errors\n  no [schema]\n  no [schema]'


def test_message_is_bounded() -> None:
    lines = refusal("Karta", "x", [error("schema", ("spec",), "m" * 990)] * 100).splitlines()

    assert lines[0] == 'Karta "x" cannot be used: 100 errors'
    assert sum(map(len, lines)) < 33_000
    assert lines[-1] == f"  and {100 - len(lines[1:-1])} more; karta-interpreter validate shows them all"


@rows(
    ("finding", "expected"),
    [
        pytest.param(warning("l", ("spec",), "short", "do it"), "spec: short (do it)", id="all of it"),
        pytest.param(warning("l", ("spec",), "short", "h" * 110), "spec: short", id="the hint goes first"),
        pytest.param(
            warning("l", DEEP, "m" * 60),
            f"…childComponents[12].scaleDefinition.replicasPath: {'m' * 60}",
            id="then the outer part of the path",
        ),
        pytest.param(warning("l", DEEP, "m" * 90), f"…replicasPath: {'m' * 90}", id="and more of it"),
        pytest.param(warning("l", ("spec",), "word " * 30), f"spec: {'word ' * 21}word…", id="then the last words"),
    ],
)
def test_warning_is_short(finding: Finding, expected: str) -> None:
    (shown,) = warnings_of([finding])

    assert len(shown) <= 120
    assert shown == expected


def test_endless_word_is_cut() -> None:
    (shown,) = warnings_of([warning("l", (), "m" * 500)])

    assert shown == "m" * 119 + "…"


def test_only_as_many_warnings_as_an_api_server_passes_on() -> None:
    shown = warnings_of([warning("l", (), "m" * 500)] * 45)

    assert sum(map(len, shown)) < 4096
    assert shown[-1] == "15 more warnings; karta-interpreter validate shows them all"
