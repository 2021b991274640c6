import json

import pytest
import yaml

from karta_interpreter.cli.render import to_json, to_yaml
from karta_interpreter.k8s.values import JSON

# What `sigs.k8s.io/yaml` writes: block style, lists not indented, double quotes for what would read as another type,
# single quotes for what plain text may not begin with, and no anchors.
_VALUES = [
    pytest.param(None, "null\n", id="null"),
    pytest.param(3, "3\n", id="a number"),
    pytest.param(True, "true\n", id="a boolean"),
    pytest.param("x", "x\n", id="text"),
    pytest.param("100m", "100m\n", id="a quantity"),
    pytest.param("2", '"2"\n', id="text like a number"),
    pytest.param("1e3", '"1e3"\n', id="text like a number with an exponent"),
    pytest.param("true", '"true"\n', id="text like a boolean"),
    pytest.param("on", '"on"\n', id="text like a boolean of YAML 1.1"),
    pytest.param("y", '"y"\n', id="text like a short boolean of YAML 1.1"),
    pytest.param("null", '"null"\n', id="text like null"),
    pytest.param("", '""\n', id="empty text"),
    pytest.param("2024-01-01T00:00:00Z", '"2024-01-01T00:00:00Z"\n', id="text like a time"),
    pytest.param("a: b", "'a: b'\n", id="text like a mapping"),
    pytest.param("*", "'*'\n", id="text like an alias"),
    pytest.param("a\nb\n", "|\n  a\n  b\n", id="several lines"),
    pytest.param([], "[]\n", id="an empty list"),
    pytest.param({}, "{}\n", id="an empty object"),
    pytest.param({"b": [1, {"c": 2, "a": []}], "a": {}}, "a: {}\nb:\n- 1\n- a: []\n  c: 2\n", id="nested"),
]


@pytest.mark.parametrize(("value", "text"), _VALUES)
def test_yaml_as_kubernetes_writes_it(value: JSON, text: str) -> None:
    assert to_yaml(value) == text
    assert yaml.safe_load(text) == value


def test_shared_parts_are_written_out() -> None:
    part = {"x": 1}

    assert to_yaml({"a": part, "b": part}) == "a:\n  x: 1\nb:\n  x: 1\n"


def test_json_is_sorted_and_readable() -> None:
    assert to_json({"b": "é", "a": 1}) == '{\n  "a": 1,\n  "b": "é"\n}\n'
    assert json.loads(to_json(None)) is None
