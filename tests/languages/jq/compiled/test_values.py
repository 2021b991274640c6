"""What jq says of JSON values."""

import itertools
import math
import sys

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled import values
from karta_interpreter.languages.jq.syntax import Binary, FunctionCall, Identity, Index, Literal
from tests.languages.jq.expressions import objects
from tests.languages.jq.oracle import libjq
from tests.support.rows import rows

IN_ORDER: list[JSON] = [
    None,
    False,
    True,
    -1.5,
    0,
    2,
    10,
    "",
    "10",
    "2",
    "z",
    "é",
    "\uffff",
    "\U0001f600",
    [],
    [None],
    [1],
    [1, 0],
    [2],
    {},
    {"a": 1},
    {"a": 2},
    {"a": 1, "b": 0},
    {"b": 0},
]


def test_values_are_ordered_as_in_the_manual() -> None:
    for (i, left), (j, right) in itertools.product(enumerate(IN_ORDER), repeat=2):
        assert values.less(left, right) is (i < j), (left, right)
        assert values.equal(left, right) is (i == j), (left, right)


@given(objects, objects)
def test_order_and_equality_are_those_of_libjq(left: JSON, right: JSON) -> None:
    first, second = (Index(Identity(), Literal(index)) for index in (0, 1))
    assert libjq(Binary("<", first, second), [left, right]) == [values.less(left, right)]
    assert libjq(Binary("==", first, second), [left, right]) == [values.equal(left, right)]


@given(objects)
def test_text_is_that_of_libjq(value: JSON) -> None:
    assert libjq(FunctionCall("tojson"), value) == [values.to_json(value)]
    assert libjq(FunctionCall("tostring"), value) == [values.to_text(value)]


@rows(
    ("left", "right", "expected"),
    [
        pytest.param(True, 1, False, id="true is not 1"),
        pytest.param([False], [0], False, id="not inside of an array either"),
        pytest.param({"a": [1.0]}, {"a": [1]}, True, id="1.0 is 1 at any depth"),
        pytest.param(2**53, 2**53 + 1, True, id="a double cannot tell them apart"),
        pytest.param("1", 1, False, id="a numeral is not a number"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="the order of keys has no meaning"),
        pytest.param({"a": None}, {}, False, id="a null field is a field"),
    ],
)
def test_equal(left: JSON, right: JSON, expected: bool) -> None:
    assert values.equal(left, right) is expected


@rows(
    ("value", "expected"), [(None, False), (False, False), (True, True), (0, True), ("", True), ([], True), ({}, True)]
)
def test_only_null_and_false_are_not_true(value: JSON, expected: bool) -> None:
    assert values.truthy(value) is expected


def test_a_long_text_is_read_once_as_a_number() -> None:
    """A pattern that gives back digits takes hours, in which a server answers no call."""
    with pytest.raises(QueryEvaluationError, match="cannot be read as a number"):
        values.to_number(f"{'1' * 1_000_000}.{'1' * 1_000_000}x")


@rows(
    ("number", "expected"),
    [
        pytest.param(3.0, 3, id="an integral double is an int"),
        pytest.param(-0.0, 0, id="there is one zero"),
        pytest.param(2**53, 2**53, id="the largest exact integer"),
        pytest.param(2**53 + 1, 2**53, id="rounded to a double"),
        pytest.param(-(2**53) - 1, -(2**53), id="rounded below zero"),
        pytest.param(2**62, 2**62, id="64 bits stay an int"),
        pytest.param(2**63, 2.0**63, id="more bits are a float"),
        pytest.param(10**400, sys.float_info.max, id="an int beyond all doubles"),
        pytest.param(-math.inf, -sys.float_info.max, id="JSON has no infinity"),
    ],
)
def test_normal(number: values.Number, expected: values.Number) -> None:
    result = values.normal(number)
    assert (result, type(result)) == (expected, type(expected))
    assert math.copysign(1, result) == math.copysign(1, expected)


def test_nan_is_no_number() -> None:
    with pytest.raises(QueryEvaluationError, match="NaN"):
        values.normal(math.nan)


@rows(
    ("number", "expected"),
    [
        pytest.param(1.0, "1", id="integral"),
        pytest.param(0.1 + 0.2, "0.30000000000000004", id="shortest digits that are exact"),
        pytest.param(123456.75, "123456.75", id="fraction"),
        pytest.param(2**53 + 1, "9007199254740992", id="no more digits than a double has"),
        pytest.param(1e17, "100000000000000000", id="large, no exponent"),
        pytest.param(1.5e20, "150000000000000000000", id="last decade without exponent"),
        pytest.param(1e21, "1e+21", id="first decade with exponent"),
        pytest.param(-2.5e300, "-2.5e+300", id="negative with exponent"),
        pytest.param(10**400, "1.7976931348623157e+308", id="an int beyond all doubles"),
        pytest.param(1e-6, "0.000001", id="smallest decade without exponent"),
        pytest.param(1.25e-7, "1.25e-7", id="small: no zero in the exponent"),
        pytest.param(1e-10, "1e-10", id="two digits in the exponent"),
    ],
)
def test_numbers_are_printed_as_go_does(number: values.Number, expected: str) -> None:
    assert values.number_text(number) == expected


@rows(
    ("value", "expected"),
    [
        pytest.param({"b": 1, "a": {"d": 1, "c": 2}}, '{"a":{"c":2,"d":1},"b":1}', id="keys are sorted"),
        pytest.param(["é\U0001f600<&>"], '["é\U0001f600<&>"]', id="only what must be is escaped"),
        pytest.param('"\\\n\x01\x7f', '"\\"\\\\\\n\\u0001\\u007f"', id="control characters, delete among them"),
        pytest.param([True, None, 2.0], "[true,null,2]", id="scalars"),
    ],
)
def test_to_json(value: JSON, expected: str) -> None:
    assert values.to_json(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_text_is_read_back_as_that_number(number: float) -> None:
    assert float(values.number_text(number)) == number
