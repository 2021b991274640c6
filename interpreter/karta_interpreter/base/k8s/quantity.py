"""Kubernetes quantities: exact amounts such as ``100m``, ``1.5`` and ``2Gi``.

The rules follow ``k8s.io/apimachinery/pkg/api/resource``. An amount is kept to the nano. A finer one is rounded up
(away from zero). A sum is written the way its first operand was.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, Self

from karta_interpreter.base.errors import QuantityError

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

_NANOS = 10**9
_MOST_BINARY = (2**63 - 1) * _NANOS
# Go has no such bounds. Without them a few bytes of an object could take any time and memory.
_MAX_EXPONENT = 1000
_MAX_LENGTH = 256
QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)|([KMGTPE]i|[numkMGTPE]?))")
"""A sign, a whole number, a fraction, and an exponent or a suffix. Missing parts are empty."""
_DECIMAL_SUFFIXES = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
# The factor of each suffix, in nanos.
_UNITS = {suffix: 1024**power * _NANOS for power, suffix in enumerate(_BINARY_SUFFIXES)} | {
    suffix: 1000**power for power, suffix in enumerate(_DECIMAL_SUFFIXES)
}


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """An exact amount. Quantities compare by value, however they were written.

    >>> str(Quantity.parse("1.5Gi")), str(Quantity.parse("0.1") + Quantity.parse("2"))
    ('1536Mi', '2100m')
    >>> Quantity.parse("1Ki") == Quantity.parse("1024")
    True
    """

    nanos: int
    format: Format = field(default="DecimalSI", compare=False)

    @classmethod
    def parse(cls, value: str | float) -> "Quantity":
        """Return the quantity of a text or a number.

        Binary amounts are capped at 2^63-1. Raises QuantityError, also above 10^1000.
        """
        text = value if isinstance(value, str) else repr(value)
        match = QUANTITY.fullmatch(text) if 0 < len(text) <= _MAX_LENGTH else None
        if match is None:
            raise QuantityError(
                f'"{text[:64]}" is not a quantity such as 100m, 1.5 or 2Gi'
                + ("; render the template first, as `helm template` does" if "{{." in text.replace(" ", "") else "")
            )
        sign, whole, fraction, exponent, suffix = match.groups("")
        mantissa = int(whole + fraction or "0")
        unit_format: Format = "DecimalSI"
        if exponent:
            nanos, unit_format = _shifted(mantissa, int(exponent), len(fraction)), "DecimalExponent"
        else:
            nanos = mantissa * _UNITS[suffix]
            if fraction:
                nanos = _divide_up(nanos, 10 ** len(fraction))
            # As `ParseQuantity`: an amount below one is decimal, and only binary ones have a largest amount.
            if suffix.endswith("i") and (nanos >= _NANOS or not nanos):
                nanos, unit_format = min(nanos, _MOST_BINARY), "BinarySI"
        return Quantity(-nanos if sign == "-" else nanos, unit_format)

    @classmethod
    def of_value(cls, number: int, unit_format: Format = "DecimalSI") -> Self:
        """Return a whole number."""
        return cls(number * _NANOS, unit_format)

    @classmethod
    def of_milli(cls, thousandths: int) -> Self:
        """Return a number of thousandths."""
        return cls(thousandths * (_NANOS // 1000))

    @property
    def value(self) -> int:
        """The amount rounded up (away from zero) to a whole number."""
        return _divide_up(self.nanos, _NANOS)

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded up (away from zero)."""
        return _divide_up(self.nanos, _NANOS // 1000)

    def __add__(self, other: "Quantity") -> "Quantity":
        # As Go's `Add`: zero has no format of its own.
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __str__(self) -> str:
        """Return the shortest text without fractional digits. No precision is lost."""
        nanos = self.nanos
        if not nanos:
            return "0"
        if self.format == "BinarySI" and abs(nanos) >= 1024 * _NANOS and nanos % _NANOS == 0:
            amount, power = _factor(nanos // _NANOS, 1024, len(_BINARY_SUFFIXES) - 1)
            return f"{amount}{_BINARY_SUFFIXES[power]}"
        amount, power = _factor(nanos, 1000, _MAX_EXPONENT)
        if self.format == "DecimalExponent" or power >= len(_DECIMAL_SUFFIXES):
            exponent = 3 * power - 9
            return f"{amount}e{exponent}" if exponent else str(amount)
        return f"{amount}{_DECIMAL_SUFFIXES[power]}"


def _shifted(mantissa: int, exponent: int, places: int) -> int:
    if abs(exponent) > _MAX_EXPONENT:
        raise QuantityError(f"the exponent {exponent} of a quantity is out of range")
    shift = 9 + exponent - places
    return mantissa * 10**shift if shift >= 0 else _divide_up(mantissa, 10**-shift)


def _factor(amount: int, base: int, limit: int) -> tuple[int, int]:
    """Move factors of ``base``, at most ``limit`` of them, from an amount into a power."""
    power = 0
    while power < limit and amount % base == 0:
        amount //= base
        power += 1
    return amount, power


def _divide_up(amount: int, divisor: int) -> int:
    return -(-amount // divisor) if amount >= 0 else amount // divisor


_NANOSECONDS = {"ns": 1, "ms": 10**6, "s": _NANOS, "m": 60 * _NANOS, "h": 3600 * _NANOS} | dict.fromkeys(
    ("us", "µs", "μs"), 10**3
)
_TERMS = re.compile(rf"([0-9]+(?:\.[0-9]*)?)({'|'.join(_NANOSECONDS)})")
_DURATION = re.compile(rf"(-?)((?:{_TERMS.pattern})+)")
_MAX_DURATION_LENGTH = 64


def parse_duration(text: str) -> int | None:
    """Return the nanoseconds of a Go duration, or None for other text.

    >>> parse_duration("1m0.5s"), parse_duration("soon"), parse_duration("999999999h")
    (60500000000, None, None)
    """
    match = _DURATION.fullmatch(text) if len(text) <= _MAX_DURATION_LENGTH else None
    if match is None:
        return None
    nanoseconds = int(sum(Fraction(number) * _NANOSECONDS[unit] for number, unit in _TERMS.findall(match[2])))
    # Go has 292 years in 64 bits.
    return None if nanoseconds >= 2**63 else -nanoseconds if match[1] else nanoseconds
