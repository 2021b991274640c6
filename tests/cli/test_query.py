"""``query``: one expression on one object."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.rows import rows

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _files(files: Path) -> None:
    (files / "groups.yaml").write_text("spec: {groups: [{count: 2}, {}], size: '3'}")


@rows(
    ("expression", "rows"),
    [
        pytest.param(".spec.groups[].count", ["2       spec.groups[0].count", "null    spec.groups[1].count"],
            id="one row each"),
        pytest.param(".spec.groups[] | .count // 1",
            ["2       spec.groups[0].count", "1       spec.groups[1].count  absent, so its default"], id="a default"),
        pytest.param(".spec.groups[0].count * 3 | [., 5] | max", ["6       spec.groups[0].count  times 3, at least 5"],
            id="a number is changed on the way"),
        pytest.param(".spec.size // " * 80 + ".spec.size", ['"3"     spec.size'],
            id="longer than the name of a file may be"),
        pytest.param(".spec.groups | length", ["2       computed"], id="no place"),
    ],
)  # fmt: skip
def test_outputs_have_places_that_they_are_read_from(run: Run, expression: str, rows: list[str]) -> None:
    result = run("query", expression, "--object", "groups.yaml")

    verdict, _, *shown = result.stdout.splitlines()
    assert (result.exit_code, verdict, shown) == (0, "plain: the server answers it at once", rows)


@pytest.mark.parametrize("expression", [".", ".spec"])
def test_expression_that_a_folder_is_called_like_is_an_expression(run: Run, expression: str) -> None:
    Path(".spec").mkdir()

    result = run("query", expression, "--object", "groups.yaml")

    assert (result.exit_code, result.stderr) == (0, "")
    assert f"  {'.' if expression == '.' else 'spec'}" in result.stdout


@rows(
    ("expression", "value", "changed"),
    [
        pytest.param(
            ".spec.groups[] | .count // 1", "2", ["spec.groups[1].count: 2 (new)"], id="only what is not so yet"
        ),
        pytest.param(".spec.groups[0].count * 3", "12", ["spec.groups[0].count: 2 -> 4"], id="what gives the number"),
        pytest.param(".spec.suspend", "true", ["spec.suspend: true (new)"], id="a new field"),
        pytest.param(".spec.groups[0].count", "2", ["no change"], id="it is so already"),
    ],
)
def test_assign_shows_what_a_write_changes(run: Run, expression: str, value: str, changed: list[str]) -> None:
    result = run("query", expression, "--object", "groups.yaml", "--assign", value)

    assert (result.exit_code, result.stdout.splitlines()[-len(changed) :]) == (0, changed)


@rows(
    ("arguments", "code", "stderr"),
    [
        pytest.param([".a | del(.b)"], 1, "`del` is not allowed: an expression only reads", id="refused"),
        pytest.param([".a |"], 1, "error [expression-syntax]", id="no jq"),
        pytest.param([".spec.size[]", "--object", "groups.yaml"], 1, "error: .spec.size[]: cannot iterate over",
            id="it fails"),
        pytest.param([".spec.size | length", "--object", "groups.yaml", "--assign", "2"], 1,
            "is not read from one place", id="no place"),
        pytest.param([".a", "--object", "groups.yaml", "--assign", "x"], 2, "this is not JSON",
            id="a value without quotes"),
        *(
            pytest.param([".a", "--object", "groups.yaml", "--assign", value], 2, "this is not JSON", id=value[:20])
            for value in ("NaN", '{"a": -Infinity}', "1e400", '"\\ud800"', "[" * 100_000)
        ),
        pytest.param([".a", "--assign", "1"], 2, "give FILE or --object FILE", id="nothing to write to"),
    ],
)  # fmt: skip
def test_query_names_what_is_wrong(run: Run, arguments: list[str], code: int, stderr: str) -> None:
    result = run("query", *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert stderr in result.stderr


def test_bounded_expression_has_reason_and_outputs(run: Run) -> None:
    result = run("query", "reduce .spec.groups[].count as $n (0; . + $n)", "--object", "groups.yaml", "-o", "json")

    found = json.loads(result.stdout)
    assert (found["verdict"], found["outputs"]) == ("bounded", [{"value": 2}])
    assert "`reduce` does not run in this process" in result.stderr
