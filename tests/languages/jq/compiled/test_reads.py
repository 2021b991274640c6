"""An expression gives the same outputs when all that it does not look at is missing."""

from typing import Any

from hypothesis import example, given

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.reads import mark_all, project
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.expressions import objects, plain_expressions
from tests.languages.jq.oracle import compile_many


def projection_of(node: Node) -> Projection:
    projection = Projection()
    mark_all(project(node, (projection,)))
    return projection


def cut(value: JSON, projection: Projection) -> JSON:
    """Leave out all fields that are not looked at."""
    if projection.is_whole or (projection.fields and projection.elements):
        return value
    if isinstance(value, dict):
        if projection.elements:
            return {key: cut(below, projection.elements) for key, below in value.items()}
        return {key: cut(value[key], below) for key, below in projection.fields.items() if key in value}
    if isinstance(value, list) and projection.elements:
        return [cut(element, projection.elements) for element in value]
    return value


def outcome(node: Node, value: JSON) -> Any:
    try:
        return list(compile_many(node)(value))
    except QueryEvaluationError as error:
        return str(error)


@given(node=plain_expressions, value=objects)
@example(node=parse(".a[] | select(.b) | .key"), value={"a": [{"b": {"c": 1}, "key": 2, "value": 3}], "b": 4})
@example(node=parse("if .a then .b else empty end"), value={"a": {"b": 1}, "b": {"c": 2}})
@example(node=parse('"\\(.a.key)-\\(.b[].key)"'), value={"a": {"key": 1, "b": 2}, "b": [{"key": 3, "a": 4}]})
@example(node=parse("any(.a[]; .b == 1), all(.a[]?; .b)"), value={"a": [{"b": 1, "c": 2}]})
def test_unread_fields_may_be_missing(node: Node, value: JSON) -> None:
    assert outcome(node, cut(value, projection_of(node))) == outcome(node, value)


def test_variable_is_read_where_the_input_is_read_as_a_whole() -> None:
    value = {"a": {"key": 1}, "b": [{"key": 1}]}
    assert cut(value, projection_of(parse(".a as $x | .b | sort_by(.key == $x.key)"))) == value


def test_projection_of_path_keeps_only_the_path() -> None:
    value = {"spec": {"groups": [{"name": "a", "template": {}}, {"template": {}}], "paused": True}, "status": {}}
    left = cut(value, projection_of(parse('.spec.groups[] | .name // "none"')))
    assert left == {"spec": {"groups": [{"name": "a"}, {}]}}
