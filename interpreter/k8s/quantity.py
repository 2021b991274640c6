"""Kubernetes quantities: exact amounts such as ``100m``, ``1.5`` and ``2Gi``.

The rules are those of ``k8s.io/apimachinery/pkg/api/resource``: an amount is kept to the nano, a finer one is
rounded up (away from zero), and a sum is written the way its first operand was.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Self

from interpreter.errors import QuantityError

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

_NANOS = 10**9
_MAX_INT64 = 2**63 - 1
_MAX_EXPONENT = 1000
_MAX_LENGTH = 256
_SYNTAX = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:[eE](?P<exponent>[+-]?[0-9]+)|(?P<binary>[KMGTPE])i|(?P<decimal>[numkMGTPE]?))"
)
_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """An exact amount; quantities compare by value, however they were written.

    >>> str(Quantity.parse("1.5Gi")), str(Quantity.parse("0.1") + Quantity.parse("2"))
    ('1536Mi', '2100m')
    >>> Quantity.parse("1Ki") == Quantity.parse("1024")
    True
    """

    nanos: int
    format: Format = field(default="DecimalSI", compare=False)

    @classmethod
    def parse(cls, value: str | float) -> "Quantity":
        """The quantity that text or a number stands for.

        Binary amounts are capped at 2^63-1. Raises QuantityError, also above 10^1000.
        """
        return _parse(value if isinstance(value, str) else repr(value))

    @classmethod
    def of_value(cls, number: int, unit_format: Format = "DecimalSI") -> Self:
        """A whole number."""
        return cls(number * _NANOS, unit_format)

    @classmethod
    def of_milli(cls, thousandths: int, unit_format: Format = "DecimalSI") -> Self:
        """A number of thousandths."""
        return cls(thousandths * (_NANOS // 1000), unit_format)

    @property
    def value(self) -> int:
        """The amount rounded up (away from zero) to a whole number."""
        return _divide_up(self.nanos, _NANOS)

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded up (away from zero)."""
        return _divide_up(self.nanos, _NANOS // 1000)

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __str__(self) -> str:
        return _canonical(self.nanos, self.format)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    match = _SYNTAX.fullmatch(text) if 0 < len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(f'"{text[:64]}" is not a quantity such as 100m, 1.5 or 2Gi')
    fraction = match["fraction"] or ""
    mantissa = int(match["whole"] + fraction or "0")
    binary = match["binary"]
    if binary:
        nanos, unit_format = _binary(mantissa, len(fraction), "KMGTPE".index(binary) + 1)
    elif match["exponent"]:
        nanos, unit_format = _decimal(mantissa, len(fraction), int(match["exponent"])), "DecimalExponent"
    else:
        nanos, unit_format = _decimal(mantissa, len(fraction), _DECIMAL_EXPONENTS[match["decimal"]]), "DecimalSI"
    return Quantity(-nanos if match["sign"] == "-" else nanos, unit_format)


def _decimal(mantissa: int, places: int, exponent: int) -> int:
    if abs(exponent) > _MAX_EXPONENT:
        raise QuantityError(f"the exponent {exponent} of a quantity is out of range")
    shift = 9 + exponent - places
    return mantissa * 10**shift if shift >= 0 else _divide_up(mantissa, 10**-shift)


def _binary(mantissa: int, places: int, power: int) -> tuple[int, Format]:
    nanos = _divide_up(mantissa * 1024**power * _NANOS, 10**places)
    if 0 < nanos < _NANOS:
        return nanos, "DecimalSI"
    return min(nanos, _MAX_INT64 * _NANOS), "BinarySI"


@lru_cache(maxsize=4096)
def _canonical(nanos: int, unit_format: Format) -> str:
    """The shortest text without fractional digits; no precision is lost."""
    if not nanos:
        return "0"
    if unit_format == "BinarySI" and abs(nanos) >= 1024 * _NANOS and nanos % _NANOS == 0:
        amount, power = _factor(nanos // _NANOS, 1024, len(_BINARY_SUFFIXES) - 1)
        return f"{amount}{_BINARY_SUFFIXES[power]}"
    amount, power = _factor(nanos, 1000, _MAX_EXPONENT)
    exponent = 3 * power - 9
    if unit_format == "DecimalExponent" or exponent not in _DECIMAL_SUFFIXES:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL_SUFFIXES[exponent]}"


def _factor(amount: int, base: int, limit: int) -> tuple[int, int]:
    """Move factors of ``base``, at most ``limit`` of them, from an amount into a power."""
    power = 0
    while power < limit and amount % base == 0:
        amount //= base
        power += 1
    return amount, power


def _divide_up(amount: int, divisor: int) -> int:
    return -(-amount // divisor) if amount >= 0 else amount // divisor
