"""Quantities against worked examples and against exact fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.k8s.quantity import Quantity
from tests.support.rows import rows


@rows(
    ("text", "canonical"),
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("0Ki", "0", id="zero has no suffix"),
        pytest.param("-0", "0", id="zero has no sign"),
        pytest.param("100m", "100m", id="canonical already"),
        pytest.param("0.1", "100m", id="no fractional digits"),
        pytest.param("1.5", "1500m", id="a mixed number goes to milli"),
        pytest.param("1.500", "1500m", id="trailing zeros do not matter"),
        pytest.param("2000m", "2", id="the largest suffix that keeps it whole"),
        pytest.param("1000", "1k", id="thousands"),
        pytest.param("1100", "1100", id="1.1k would have a fraction"),
        pytest.param("10000000", "10M", id="millions"),
        pytest.param("0.001k", "1", id="down to no suffix"),
        pytest.param("1.2345", "1234500u", id="an exponent is a multiple of 3"),
        pytest.param("123456789.123456789", "123456789123456789n", id="to the last nano"),
        pytest.param("0.9n", "1n", id="finer than nano rounds up"),
        pytest.param("1e-100", "1e-9", id="much finer too, as an exponent"),
        pytest.param("-0.9n", "-1n", id="a negative one rounds away from zero"),
        pytest.param("+5", "5", id="a plus sign goes"),
        pytest.param("-1500m", "-1500m", id="a minus sign stays"),
        pytest.param(".5", "500m", id="no digits before the point"),
        pytest.param("1.G", "1G", id="no digits after the point"),
        pytest.param("007", "7", id="leading zeros"),
        pytest.param("1E", "1E", id="exa, not an exponent"),
        pytest.param("1000E", "1e21", id="no suffix above exa"),
        pytest.param("1e3", "1e3", id="an exponent stays one"),
        pytest.param("1E3", "1e3", id="in lower case"),
        pytest.param("1500e-3", "1500e-3", id="a negative exponent"),
        pytest.param("12e4", "120e3", id="an exponent becomes a multiple of 3"),
        pytest.param("5e0", "5", id="exponent zero is not written"),
        pytest.param("1Ki", "1Ki", id="binary"),
        pytest.param("1024Ki", "1Mi", id="the largest binary suffix"),
        pytest.param("1.5Gi", "1536Mi", id="a mixed binary number"),
        pytest.param("1025Ki", "1025Ki", id="1025Ki is not a whole number of Mi"),
        pytest.param("0.5Ki", "512", id="binary below 1024 is written without suffix"),
        pytest.param("0.9765625Ki", "1k", id="and in decimal even when it is a round thousand"),
        pytest.param("0.5Mi", "512Ki", id="half of a Mi"),
        pytest.param("1.1Ki", "1126400m", id="a fraction is not lost to the binary format"),
        pytest.param("0.0001Ki", "102400u", id="binary below one"),
        pytest.param("-1Gi", "-1Gi", id="negative binary"),
        pytest.param("8Ei", "9223372036854775807", id="binary is capped at 2^63-1"),
        pytest.param("9E", "9E", id="decimal below 2^63-1"),
        pytest.param("18446744073709551616", "18446744073709551616", id="decimal is not capped"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(Quantity.parse(text)) == canonical


@rows(
    "text",
    [
        pytest.param("", id="no digits"),
        pytest.param("abc", id="no digits, abc"),
        pytest.param(" 1", id="a space before"),
        pytest.param("1 ", id="a space behind"),
        pytest.param("1\n", id="a newline behind"),
        pytest.param("1 k", id="a space inside"),
        pytest.param("--1", id="two signs"),
        pytest.param("1.1.1", id="two points"),
        pytest.param("1+1", id="an exponent without e"),
        pytest.param("1e", id="an exponent without digits"),
        pytest.param("1e+", id="an exponent without digits, 1e+"),
        pytest.param("1e1.5", id="an exponent with a fraction"),
        pytest.param("1i", id="no such suffix"),
        pytest.param("1K", id="no such suffix: kilo is k"),
        pytest.param("1ki", id="no such suffix: kibi is Ki"),
        pytest.param("1mi", id="no such suffix, 1mi"),
        pytest.param("1KI", id="no such suffix, 1KI"),
        pytest.param("1Ki5", id="digits behind the suffix"),
        pytest.param("0x1", id="only decimal digits"),
        pytest.param("1_0", id="no separators"),
        pytest.param("\u0661", id="only ASCII digits"),
        pytest.param("1e1001", id="more than 10^1000"),
        pytest.param("1" * 257, id="longer than any amount"),
    ],
)
def test_text_that_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(text)


@rows(
    ("number", "canonical"),
    [
        pytest.param(2, "2", id="int"),
        pytest.param(2.0, "2", id="integral float"),
        pytest.param(0.25, "250m", id="float"),
        pytest.param(1e21, "1e21", id="large float, which JSON writes with an exponent"),
    ],
)
def test_numbers_are_quantities(number: float, canonical: str) -> None:
    assert str(Quantity.parse(number)) == canonical


@rows("value", [True, math.nan, math.inf])
def test_values_that_are_no_quantity(value: float) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(value)


@rows(
    ("text", "value", "milli"),
    [
        pytest.param("1500m", 2, 1500, id="a value is rounded up"),
        pytest.param("1001m", 2, 1001, id="however little it is above"),
        pytest.param("100u", 1, 1, id="milli is rounded up"),
        pytest.param("0", 0, 0, id="zero"),
        pytest.param("-1500m", -2, -1500, id="away from zero"),
        pytest.param("1Ki", 1024, 1024000, id="binary"),
    ],
)
def test_value_and_milli(text: str, value: int, milli: int) -> None:
    assert Quantity.parse(text).value == value
    assert Quantity.parse(text).milli == milli


@rows(
    ("left", "right", "total"),
    [
        pytest.param("1Gi", "1G", "2073741824", id="the left format, where it keeps the sum whole"),
        pytest.param("1Gi", "1Gi", "2Gi", id="binary"),
        pytest.param("1G", "1Gi", "2073741824", id="decimal"),
        pytest.param("0", "1Gi", "1Gi", id="zero takes the other's format"),
        pytest.param("1Ki", "1m", "1024001m", id="exact across magnitudes"),
        pytest.param("1", "-1", "0", id="to nothing"),
        pytest.param("4Ei", "4Ei", "8Ei", id="above 2^63-1"),
    ],
)
def test_sums(left: str, right: str, total: str) -> None:
    assert str(Quantity.parse(left) + Quantity.parse(right)) == total


def test_quantities_compare_and_hash_by_value() -> None:
    kibi, plain = Quantity.parse("1Ki"), Quantity.parse("1024")
    assert kibi == plain
    assert hash(kibi) == hash(plain)
    assert max(Quantity.parse("1Gi"), Quantity.parse("1G"), Quantity.parse("999M")) == Quantity.parse("1Gi")


def test_built_from_integers() -> None:
    assert str(Quantity.of_milli(1500)) == "1500m"
    assert str(Quantity.of_value(2**30, "BinarySI")) == "1Gi"
    assert Quantity.of_value(3).format == "DecimalSI"


FACTORS = {
    **{suffix: Fraction(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G"), -3)},
    **{suffix: Fraction(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti"), 1)},
    **{f"e{exponent}": Fraction(10) ** exponent for exponent in (-12, -3, 0, 1, 8)},
}
NUMBERS = st.from_regex(r"[0-9]{1,6}(\.[0-9]{0,12})?", fullmatch=True)


@given(st.sampled_from(["", "-"]), NUMBERS, st.sampled_from(sorted(FACTORS)))
def test_parsing_is_exact_to_the_nano_and_survives_writing(sign: str, number: str, suffix: str) -> None:
    amount = math.ceil(Fraction(number.rstrip(".")) * FACTORS[suffix] * 10**9)
    quantity = Quantity.parse(sign + number + suffix)
    assert quantity.nanos == (-amount if sign else amount)
    assert Quantity.parse(str(quantity)) == quantity
    assert "." not in str(quantity)
