"""Functions of Python that hold what an expression's author wrote, and nothing that he could have them do."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QueryRaisedError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.compiler import RUNTIME, compile_list
from karta_interpreter.languages.jq.compiled.module import Module
from karta_interpreter.languages.jq.compiled.variables import with_values
from karta_interpreter.languages.jq.syntax import (
    Binary,
    Entry,
    FunctionCall,
    Identity,
    Index,
    Literal,
    Node,
    Object,
    Text,
    Variable,
)
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.support.rows import rows

HOSTILE = [
    *("'''", '"""', "\\", "\\'", "a\nb\rc", "{0}", "{}", "{", "%s", "#", "\x00", "\u2028", "\ud800", "\u202etxt"),
    *("__import__('os').system('true')", "'): yield 1 #", "é\U0001f600", "t1", "v", "None", ""),
]


def _constant(value: Any) -> Any:
    module = Module()
    name = module.function(lambda name: [f"def {name}(v):", f"    return {module.constant(value)}"])
    return module.functions(RUNTIME)[name](None)


@rows(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param(True, id="true"),
        pytest.param(1, id="which 1 is not"),
        pytest.param(-(2**53) + 1, id="the last one that is spelled out"),
        pytest.param(2**64, id="a large number"),
        pytest.param(10**5000, id="one that Python does not even print"),
        pytest.param(1e300, id="a double"),
        pytest.param(math.inf, id="which has no literal in Python"),
        *HOSTILE,
    ],
)
def test_constant_keeps_value_and_type(value: JSON) -> None:
    result = _constant(value)
    assert (result, type(result)) == (value, type(value))


@given(st.text())
def test_any_text_is_a_constant_in_ascii(text: str) -> None:
    assert _constant(text) == text
    assert Module().constant(text).isascii()


@rows("text", HOSTILE)
def test_names_and_texts_of_an_expression_are_no_python(text: str) -> None:
    literal = Literal(text)
    table: list[tuple[Node, JSON, JSON]] = [
        (literal, None, text),
        (Index(Identity(), literal), {text: 1}, 1),
        (Object((Entry(literal, literal),)), None, {text: text}),
        (Text((text, Identity(), text)), "-", f"{text}-{text}"),
        (Binary("==", Identity(), literal), text, True),
        (FunctionCall("IN", (literal,)), text, True),
        (FunctionCall("startswith", (literal,)), f"{text}-", True),
        (Variable(text), None, 2),
    ]
    for node, value, expected in table:
        assert with_values({text: 2}, compile_list(node), value) == [expected], node
    with pytest.raises(QueryRaisedError) as caught:
        compile_list(FunctionCall("error", (literal,)))(None)
    assert str(caught.value) == text


def test_functions_see_nothing_but_what_they_name() -> None:
    module = Module()
    name = module.function(lambda name: [f"def {name}(v):", "    return len(v)"])
    space: Mapping[str, object] = module.functions(RUNTIME)
    assert space.keys() == {"__builtins__", "len", name}
    assert space["__builtins__"] == {}
    assert not {"eval", "exec", "open", "__import__", "getattr", "globals", "vars"} & RUNTIME.keys()


def test_function_calls_function_of_same_module() -> None:
    module = Module()
    inner = module.function(lambda name: [f"def {name}(v):", "    return v"])
    outer = module.function(lambda name: [f"def {name}(v):", f"    return [{inner}(v)]"])
    assert module.functions(RUNTIME)[outer](1) == [1]


def test_nested_expression_that_is_not_plain_is_refused() -> None:
    deep = parse("[" * 30 + "first(.a[]?, range(3))" + "]" * 30)
    with pytest.raises(ValueError, match="range/1 is not plain"):
        compile_list(deep)
