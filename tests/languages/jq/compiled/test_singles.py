"""Which expressions have exactly one output."""

from contextlib import suppress

import pytest
from hypothesis import assume, given

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.compiler import compile_list
from karta_interpreter.languages.jq.compiled.singles import Singles
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.expressions import objects, plain_expressions
from tests.support.rows import rows


@rows(
    ("text", "is_single"),
    [
        pytest.param(".a.b", True, id="a path"),
        pytest.param(".a[]", False, id="iteration"),
        pytest.param(".a[].b", False, id="behind it as well"),
        pytest.param("[.a[]] | length", True, id="collected"),
        pytest.param(".a?", False, id="what may be missing"),
        pytest.param(".a // 1", True, id="a default"),
        pytest.param(".a // empty", False, id="none"),
        pytest.param("if .a then 1 end", True, id="without else"),
        pytest.param("if .a then 1 else empty end", False, id="a branch without output"),
        pytest.param("select(.a)", False, id="selected"),
        pytest.param('{a, "b": "\\(.c)", (.k): .v}', True, id="an object"),
        pytest.param("{a: .b[]}", False, id="several objects"),
        pytest.param('"\\(.a[])"', False, id="several texts"),
        pytest.param(".[.a:.b]", True, id="a slice"),
        pytest.param(".[.a[]:]", False, id="several slices"),
        pytest.param('startswith("a")', True, id="a function of one argument"),
        pytest.param('startswith("a", "b")', False, id="of two values of it"),
        pytest.param("first(.a)", True, id="the first of one"),
        pytest.param("first(.a[])", False, id="the first of perhaps none"),
        pytest.param("any(.a[]; .b, .c)", True, id="one answer"),
        pytest.param("strings", False, id="by type"),
        pytest.param('error("no")', True, id="one, if it did not fail"),
        pytest.param("range(3)", False, id="what is not plain"),
    ],
)
def test_single_output_is_recognised(text: str, is_single: bool) -> None:
    assert (parse(text) in Singles()) is is_single


@given(plain_expressions, objects)
def test_single_expression_has_one_output_for_every_input(node: Node, value: JSON) -> None:
    assume(node in Singles())
    with suppress(QueryEvaluationError):
        assert len(compile_list(node)(value)) == 1
