"""Functions, case by case; that they do what libjq does is a law of test_plain."""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from typing import Any

import pytest

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS, Argument, Function
from karta_interpreter.languages.jq.compiled.operators import total
from karta_interpreter.languages.jq.compiled.values import order_key
from karta_interpreter.languages.jq.syntax import Alternative, Array, Comma, FunctionCall, Literal, Node, Try
from karta_interpreter.languages.jq.syntax.parser import parse
from karta_interpreter.languages.jq.syntax.printer import render
from tests.languages.jq.expressions import NUMBERS, PATTERNS, REPLACEMENTS, TEXTS, function_id
from tests.languages.jq.oracle import compile_many, libjq_program
from tests.support.examples import few
from tests.support.rows import rows

_ARGUMENTS = [
    parse(text)
    for text in (
        *(".", ".a", ".key", ".[]", ".[]?", "empty", "length", ". == 1", 'type == "string"', "null"),
        *(
            '"a"',
            '""',
            '", "',
            '"a", "b"',
            '"key"',
            "0",
            "1",
            "2",
            "[]",
            '["a"]',
            '["a", 0]',
            '{"a": 1}',
            "{key, value: 1}",
        ),
    )
]
_KINDS: dict[Argument, list[Node]] = {
    Argument.ONCE: _ARGUMENTS,
    Argument.EACH: _ARGUMENTS,
    Argument.PATTERN: [Literal(pattern) for pattern in PATTERNS],
    Argument.SINGLE: REPLACEMENTS,
    Argument.FLAGS: [Literal(flags) for flags in (None, "", "g", "i", "gi")],
    Argument.TEXT: [Literal("no")],
}
_INPUTS: list[JSON] = [
    *(None, True, False, *NUMBERS, *TEXTS, [], {}, ["a"], ["b", "a", ""], ["a", 1, None, True], [3, 1.5, -2, 3]),
    *([None, 2], [True, False], [[1, [2]], [], [[3]]], [[0, 1], [0]], {"b": 2, "a": {"a": 1}}, {"a": [1], "key": "a"}),
    *([{"key": "a", "value": 1}, {"key": "b"}], [{"a": 2, "key": 1}, {"a": 1, "key": 2}, {"a": 2}], [{"name": 1}]),
]
_WITHOUT_OUTPUT = {("empty", 0), ("error", 1)}
_MOST_CALLS = 60


@pytest.mark.sweep
@rows("function", few([*FUNCTIONS.values()], "agree"), ids=function_id)
def test_functions_agree_with_libjq(function: Function) -> None:
    arguments = list(product(*(_KINDS[kind] for kind in function.arguments)))
    calls = [FunctionCall(function.name, chosen) for chosen in arguments[:: 1 + len(arguments) // _MOST_CALLS]]
    found = 0
    for node, run, expected in zip(calls, map(compile_many, calls), libjq_outputs(calls), strict=True):
        for value, wanted in zip(_INPUTS, expected, strict=True):
            outputs = attempted(run, value)
            assert comparable(outputs) == comparable(wanted), (render(node), value)
            found += len(outputs or [])
    assert (found > 0) is (function.key not in _WITHOUT_OUTPUT)


def libjq_outputs(calls: list[FunctionCall]) -> Iterable[tuple[list[JSON] | None, ...]]:
    """The outputs for each input, None where libjq fails, by call; one program, which libjq takes long to compile."""
    attempts: list[Node] = [Alternative(Try(Array(call)), Literal(None)) for call in calls]
    program = libjq_program(Array(reduce(Comma, attempts)))
    return zip(*(next(program(value)) for value in _INPUTS), strict=True)


def attempted(run: Callable[[JSON], Iterable[JSON]], value: JSON) -> list[JSON] | None:
    try:
        return list(run(value))
    except QueryEvaluationError:
        return None


def comparable(outputs: list[JSON] | None) -> list[Any] | None:
    return None if outputs is None else [order_key(output) for output in outputs]


def run(text: str, value: JSON = None) -> list[JSON]:
    return list(compile_many(parse(text))(value))


def test_sum_of_many_strings_takes_linear_time() -> None:
    assert total(["ab"] * 200_000) == "ab" * 200_000


@rows(
    ("text", "value"),
    [
        pytest.param("contains([[1]])", [[0] * 200] * 200, id="deep comparison"),
        pytest.param("map(.)", [0] * 10_001, id="a large array"),
        pytest.param("to_entries", dict.fromkeys(map(str, range(10_001))), id="a large object"),
        pytest.param("sort", [0] * 10_001, id="sorting a large array"),
    ],
)
def test_work_is_limited(text: str, value: JSON) -> None:
    with pytest.raises(QueryLimitError):
        run(text, value)


@rows(
    ("text", "number", "expected"),
    [
        pytest.param("[1][.]", math.inf, [None], id="no element is there"),
        pytest.param("[1, 2][:.]", math.inf, [[1, 2]], id="an open end"),
        pytest.param("[1, 2][.:]", 10**400, [[]], id="a start beyond all ends"),
        pytest.param("tostring", 10**400, ["1.7976931348623157e+308"], id="the largest double"),
    ],
)
def test_numbers_that_json_does_not_have(text: str, number: float, expected: list[JSON]) -> None:
    assert run(text, number) == expected
