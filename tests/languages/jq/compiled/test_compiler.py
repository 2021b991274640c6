"""Plain expressions against libjq, and where they differ on purpose."""

from itertools import islice

import pytest
from hypothesis import given, reject

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.compiler import Outputs, compile_list, compile_one
from karta_interpreter.languages.jq.compiled.values import order_key
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.expressions import objects, plain_expressions
from tests.languages.jq.oracle import compile_many, libjq
from tests.support.rows import rows


def run(node: Node, value: JSON) -> list[JSON] | None:
    try:
        return list(islice(compile_many(node)(value), 1000))
    except QueryLimitError:
        reject()  # to libjq every piece may be repeated in a text
    except QueryEvaluationError:
        return None


def comparable(outputs: list[JSON] | None) -> list[JSON] | None:
    return None if outputs is None else [order_key(output) for output in outputs]


@given(plain_expressions, objects)
def test_plain_expressions_agree_with_libjq(node: Node, value: JSON) -> None:
    assert comparable(run(node, value)) == comparable(libjq(node, value))


@given(plain_expressions, objects)
def test_list_and_single_forms_agree_with_generator(node: Node, value: JSON) -> None:
    expected, only = run(node, value), compile_one(node)
    assert comparable(attempted(compile_list(node), value)) == comparable(expected)
    if only:
        assert comparable(attempted(lambda here: [only(here)], value)) == comparable(expected)


def attempted(outputs: Outputs, value: JSON) -> list[JSON] | None:
    try:
        return outputs(value)
    except QueryEvaluationError:
        return None


@rows(
    ("text", "value"),
    [
        pytest.param(".[]", [0] * 1000, id="one for each element"),
        pytest.param(".[], .[]", [0] * 500, id="in two loops"),
        pytest.param(".[] | .a, .b", [{}] * 500, id="several for each element"),
        pytest.param(".[] | .a", [{}] * 1000 + [1], id="before anything fails"),
    ],
)
def test_list_has_at_most_999_outputs(text: str, value: list[JSON]) -> None:
    outputs = compile_list(parse(text))
    assert len(outputs(value[:400])) >= 400
    with pytest.raises(QueryLimitError, match="it gives more than 999 results"):
        outputs(value)


@rows(
    ("repeated", "expected"),
    [
        pytest.param("é" * 256, ["é" * 256 + "-1"], id="a text"),
        pytest.param(7, ["7-1"], id="a number"),
        pytest.param(None, ["null-1"], id="null"),
        pytest.param("x" * 257, None, id="a long text"),
        pytest.param([1], None, id="a list"),
        pytest.param({}, None, id="an object"),
    ],
)
@rows("text", ['"\\(.a)-\\(.b[])"', '"\\(.a)-\\(.b[])\\("", empty)"'])
def test_repeated_piece_of_text_is_short(text: str, repeated: JSON, expected: list[JSON] | None) -> None:
    outputs = compile_list(parse(text))
    assert outputs({"a": repeated}) == []
    if expected is None:
        with pytest.raises(QueryLimitError, match=r"is repeated in several texts; a text of 256 characters can be"):
            outputs({"a": repeated, "b": [1]})
    else:
        assert outputs({"a": repeated, "b": [1]}) == expected


@rows("text", [".[] | .a", ".[].a", ".[] | [.a, 1] | .[0]", ".[] | .a // .b", ".[] | .a?, .a"])
def test_error_before_limit_of_outputs_is_raised(text: str) -> None:
    with pytest.raises(QueryEvaluationError, match="a number has no field 'a'"):
        compile_list(parse(text))([{"a": 0}] * 400 + [1] + [{"a": 0}] * 2000)


def test_outputs_are_computed_when_they_are_asked_for() -> None:
    outputs = compile_many(parse(".[] | .a"))([{"a": 1}, {"a": 2}, 3])
    assert [next(outputs), next(outputs)] == [1, 2]
    with pytest.raises(QueryEvaluationError, match="a number has no field 'a'"):
        next(outputs)


def test_limit_cannot_be_caught() -> None:
    with pytest.raises(QueryLimitError, match="more than 10000 elements"):
        list(compile_many(parse("[.[]?]"))([0] * 10_001))


def test_results_are_shared_with_the_object_not_copied() -> None:
    job = {"name": "driver"}
    assert next(compile_many(parse(".jobs[0]"))({"jobs": [job]})) is job


@rows(
    "text", ["try error catch .", "@base64", '@uri "\\(.)"', "label $x | 1", "range(3)", 'test("a"; .b)', "def f: f; f"]
)
def test_expressions_that_are_not_plain_are_not_compiled(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not plain|out of reach"):
        compile_many(parse(text))
