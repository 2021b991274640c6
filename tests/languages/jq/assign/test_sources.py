"""What an expression may be written over."""

from contextlib import suppress

import pytest
from hypothesis import example, given

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from karta_interpreter.languages.jq.syntax.printer import render
from tests.languages.jq.expressions import objects, plain_expressions
from tests.support.rows import rows

GROUPS = """
.groups[] | if .suspend then 0
  else ([([(.replicas // 0), (.min // 0)] | max), (.max // empty)] | min) * (.hosts // 1) end
"""
GROUP = {"replicas": 2, "min": 0, "max": 9, "hosts": 1}


@rows(
    ("text", "value", "is_complete"),
    [
        pytest.param(".replicas // 1", {"replicas": 0}, True, id="a zero is a value"),
        pytest.param(".replicas // 1", {}, False, id="a default is not"),
        pytest.param(".replicas // 1", {"replicas": None}, False, id="nor is null"),
        pytest.param(".replicas // 1", {"replicas": False}, True, id="false is one, whatever it may mean"),
        pytest.param(".spec.replicas", {"spec": 1}, False, id="what fails is not told"),
        pytest.param("(.a // 1) * (.b // 1)", {"a": 2, "b": 3}, True, id="both factors"),
        pytest.param("(.a // 1) * (.b // 1)", {"a": 2}, False, id="one of them; it might be written"),
        pytest.param("(.a // .b // 1)", {"a": False}, False, id="the second choice"),
        pytest.param("[.a, .b] | min", {"a": 1}, False, id="what may be the least"),
        pytest.param("(.a // 1) * 2", {"a": 2}, True, id="a literal is not written"),
        pytest.param("1", {}, True, id="nothing is written over a literal"),
        pytest.param("if .paused then .x else .y end", {"y": 1}, True, id="only the branch that is taken"),
        pytest.param("if .paused then .x end", {"paused": True, "x": None}, False, id="without a value there"),
        pytest.param(GROUPS, {"groups": [GROUP, GROUP]}, True, id="groups that say everything"),
        pytest.param(GROUPS, {"groups": [GROUP, {**GROUP, "replicas": None}]}, False, id="one that does not"),
        pytest.param(GROUPS, {"groups": [GROUP, {"suspend": True}]}, True, id="one that is not written"),
        pytest.param(GROUPS, {"groups": []}, True, id="no groups"),
        pytest.param(".x[] | select(.on) | .n", {"x": [{"on": True, "n": 1}, {}]}, True, id="what is selected"),
        pytest.param("[.a // 1] | .[0]", {"a": 2}, False, id="parts of new arrays are not followed"),
        pytest.param("(.spec // {}) | .n", {"spec": {"n": 1}}, False, id="nor are default objects"),
        pytest.param('.n // "4" | tonumber', {"n": "3"}, True, id="a numeral"),
        pytest.param("reduce .x[] as $n (0; . + $n)", {"x": [1]}, False, id="what runs elsewhere"),
    ],
)
def test_is_said(text: str, value: JSON, is_complete: bool) -> None:
    assert Query.compile(text).is_complete(value) is is_complete


def test_variables_are_not_asked() -> None:
    query = Query.compile(".n * $runtime.n", frozenset({"runtime"})).bound({"runtime": {"n": 2}})
    assert not query.is_complete({"n": 1})


@given(plain_expressions, objects)
@example(parse("[(.a // 1), (.b // 2)] | max"), {"a": 1})
@example(parse(".a | [.b, .c] | min"), {"a": {"b": 1}})
def test_complete_query_has_no_place_without_value(node: Node, value: JSON) -> None:
    query = Query.compile(render(node))
    if query.is_complete(value):
        with suppress(QueryError):  # which those who read the counts are told
            assert all(place is None or place.raw(value) is not None for place in query.locate_each(value))
