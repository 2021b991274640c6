"""Quantities that Go has read, as text and as a float."""

import math

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.languages.lua.go_numbers import json_text
from karta_interpreter.languages.lua.gotypes.scalars import approximate, written_quantity
from tests.support.rows import rows


@rows(
    ("text", "written"),
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("0Ki", "0", id="zero of something"),
        pytest.param("1.500", "1.500", id="three places look canonical"),
        pytest.param("1.50", "1500m", id="two do not"),
        pytest.param("1.000", "1", id="three zeros do not"),
        pytest.param("0.500", "500m", id="a leading zero does not"),
        pytest.param("+5", "+5", id="a sign is not looked at"),
        pytest.param("007", "007", id="nor are zeros before the number"),
        pytest.param("5e0", "5e0", id="nor an exponent of zero"),
        pytest.param("5e1", "50", id="an exponent has to be a multiple of three"),
        pytest.param("5e3", "5e3", id="as this one is"),
        pytest.param("1000", "1k", id="thousands"),
        pytest.param("1025Mi", "1025Mi", id="an odd number of a binary unit"),
        pytest.param("01025Mi", "01025Mi", id="a zero before it is kept, too"),
        pytest.param("1032Mi", "1032Mi", id="a multiple of eight is looked at closely"),
        pytest.param("2048Mi", "2Gi", id="for it may be a larger unit"),
        pytest.param("1.5Gi", "1536Mi", id="a mixed number of a binary unit"),
        pytest.param("1234567890123456789.5", "1234567890123456789500m", id="many digits are not kept as text"),
        pytest.param("123456Gi", "123456Gi", id="too many digits for the fast form of Gi"),
    ],
)
def test_written(text: str, written: str) -> None:
    assert written_quantity(text) == written


@pytest.mark.parametrize("text", ["0" * 1_000_000 + "x", "1" * 1_000_000 + "x", "1." + "1" * 1_000_000 + "x"])
def test_a_long_text_is_read_once(text: str) -> None:
    with pytest.raises(QuantityError):
        written_quantity(text)


@given(st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,9})?(|[numkMGT]|[KMGT]i|e[0-9])", fullmatch=True))
def test_writing_keeps_the_amount(text: str) -> None:
    assert Quantity.parse(written_quantity(text)) == Quantity.parse(text)
    assert math.isclose(approximate(text), Quantity.parse(text).nanos / 1e9, rel_tol=1e-15, abs_tol=1e-9)


@rows(
    ("text", "number"),
    [
        pytest.param("1.1", 11 * 0.1, id="eleven tenths"),
        pytest.param("1e40", 1e40, id="a power put together from two"),
        pytest.param("0.1n", 1e-9, id="less than a nano is one"),
        pytest.param("-1.5Gi", -1.5 * 2**30, id="negative"),
        pytest.param("-9Ei", -float(2**63 - 1), id="negative and capped"),
        pytest.param("1e999", math.inf, id="more than a float holds"),
        pytest.param("-1e999", -math.inf, id="less than a float holds"),
        pytest.param("1234567890123456789e500", math.inf, id="the same with more digits"),
    ],
)
def test_approximate(text: str, number: float) -> None:
    assert approximate(text) == number


@rows(
    ("number", "text"),
    [
        pytest.param(0, "0", id="zero"),
        pytest.param(1.5, "1.5", id="a fraction"),
        pytest.param(-3, "-3", id="a negative number"),
        pytest.param(123456789.0, "123456789", id="an integer of type float"),
        pytest.param(1e20, "100000000000000000000", id="plain below 1e21"),
        pytest.param(1e21, "1e+21", id="an exponent from there"),
        pytest.param(0.000001, "0.000001", id="plain down to a millionth"),
        pytest.param(0.0000001, "1e-7", id="an exponent of one digit below"),
        pytest.param(1.5e-10, "1.5e-10", id="and of two"),
        pytest.param(2**53 + 2, "9007199254740994", id="above 2^53 the shortest digits"),
        pytest.param(2**69, "590295810358705700000", id="with zeros behind them"),
    ],
)
def test_number_text(number: float, text: str) -> None:
    assert json_text(number) == text
