"""What is computed in place is what the functions compute."""

from collections.abc import Callable
from itertools import product

import pytest

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.collection import greatest, least
from karta_interpreter.languages.jq.compiled.compiler import compile_one
from karta_interpreter.languages.jq.compiled.operators import add, divide, modulo, multiply, subtract
from karta_interpreter.languages.jq.compiled.values import equal, less
from karta_interpreter.languages.jq.syntax import (
    Alternative,
    Array,
    Binary,
    Comma,
    FunctionCall,
    Identity,
    Index,
    Literal,
    Node,
    Pipe,
)
from tests.support.rows import rows

OPERATORS: dict[str, Callable[[JSON, JSON], JSON]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": less,
    "<=": lambda left, right: not less(right, left),
    ">": lambda left, right: less(right, left),
    ">=": lambda left, right: not less(left, right),
}
"""Every binary operator but ``and`` and ``or``."""

EDGES: list[JSON] = [
    *(None, True, False, 0, 1, -1, 3, -7, 0.5, -0.0, 1.0, "", "a", "1", [], [1], {}, {"a": 1}),
    *(sign * (2**power + step) for sign in (1, -1) for power in (30, 31, 50, 52, 53, 60, 63) for step in (-1, 0, 1)),
    *(10**15 - 1, 10**15, 2**64, 1e300, float("inf"), float("nan")),
]
"""Values of every type, and numbers on both sides of every place where they are treated differently."""


def outcome(function: object, *arguments: JSON) -> str:
    try:
        result = function(*arguments)  # type: ignore[operator] # one of those below
    except QueryEvaluationError as error:
        return f"error: {error}"
    return f"{type(result).__name__} {result!r}"


def part(index: int) -> Node:
    return Index(Identity(), Literal(index))


@pytest.mark.slow
@rows("operator", sorted(OPERATORS))
def test_operators_in_place_are_the_functions(operator: str) -> None:
    both = compile_one(Binary(operator, part(0), part(1)))
    for left, right in product(EDGES, EDGES):
        expected = outcome(OPERATORS[operator], left, right)
        assert outcome(both, [left, right]) == expected, (left, right)


def _is_literal(value: JSON) -> bool:
    return not isinstance(value, list | dict) and value == value  # noqa: PLR0124 - so not NaN


@pytest.mark.slow
@rows("operator", sorted(OPERATORS))
def test_operators_with_a_literal_are_the_functions(operator: str) -> None:
    for known in filter(_is_literal, EDGES):
        before = compile_one(Binary(operator, Literal(known), Identity()))
        behind = compile_one(Binary(operator, Identity(), Literal(known)))
        literal = compile_one(Literal(known))
        number = literal and literal(None)
        for value in EDGES:
            assert outcome(before, value) == outcome(OPERATORS[operator], number, value), (known, value)
            assert outcome(behind, value) == outcome(OPERATORS[operator], value, number), (value, known)


@pytest.mark.parametrize(("name", "function"), [("min", least), ("max", greatest)])
@pytest.mark.parametrize("is_optional", [False, True])
def test_bounds_in_place_are_the_functions(name: str, function: object, is_optional: bool) -> None:
    bound = Alternative(part(1), FunctionCall("empty")) if is_optional else part(1)
    extreme = compile_one(Pipe(Array(Comma(part(0), bound)), FunctionCall(name)))
    for own, other in product(EDGES, EDGES):
        is_there = not is_optional or (other is not None and other is not False)
        expected = outcome(function, [own, other] if is_there else [own])
        assert outcome(extreme, [own, other]) == expected, (own, other)
