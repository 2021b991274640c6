import pytest

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.cli.answers import changes
from tests.support.rows import rows


@rows(
    ("before", "after", "lines"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing"),
        pytest.param({"a": 1}, {"a": 2}, ["a: 1 -> 2"], id="another value"),
        pytest.param({"a": 1}, {"a": True}, ["a: 1 -> true"], id="another type of equal value"),
        pytest.param({}, {"a": None}, ["a: null (new)"], id="a new field"),
        pytest.param({}, {"a": {"b": 1, "c": 2}}, ["a.b: 1 (new)", "a.c: 2 (new)"], id="new fields in a new object"),
        pytest.param({"a": 1}, {"a": {"b": 2}}, ['a: 1 -> {"b": 2}'], id="an object instead of a value"),
        pytest.param({}, {"a": {}}, ["a: {} (new)"], id="a new object that is empty"),
        pytest.param({"a": {"b": []}}, {"a": {}}, ["a.b: [] (removed)"], id="a removed field"),
        pytest.param({"a": [{"b": 1}, 2]}, {"a": [{"b": 3}, 2]}, ["a[0].b: 1 -> 3"], id="inside a list"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, ["a: [1] -> [1, 2]"], id="a longer list"),
        pytest.param({"x/y": "é"}, {"x/y": "z"}, ['["x/y"]: "é" -> "z"'], id="a name that needs quotes"),
    ],
)
def test_lines(before: JSON, after: JSON, lines: list[str]) -> None:
    assert changes(before, after) == lines


def test_long_values_are_cut() -> None:
    (line,) = changes({"a": "x" * 500}, {"a": None})

    assert line.endswith("... -> null")
    assert len(line) < 80
