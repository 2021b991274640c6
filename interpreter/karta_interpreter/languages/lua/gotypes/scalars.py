"""The Go types other than structs, lists and maps, how ``encoding/json`` reads and writes them, and its errors.

A `resource.Quantity` that was read remembers its text if the text looked canonical at a glance, and writes it back:
``1.500`` stays as it is while ``1.50`` becomes ``1500m``. And its value as a float depends on the scale that it was
written with. Follows ``k8s.io/apimachinery/pkg/api/resource/quantity.go``.
"""

import calendar
import math
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from karta_interpreter.base.errors import LuaRunError, QuantityError
from karta_interpreter.base.k8s import JSON, Quantity, field_path
from karta_interpreter.languages.lua.go_numbers import json_number, json_text

_SPLIT = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
_SYNTAX = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_EXPONENT = re.compile(r"[eE][-+]?[0-9]+")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NEEDS_DIGITS = ("Pi", "Ei")  # any other suffix without digits is zero
_NANO = -9
_MOST_DIGITS = 18
_LARGEST_EXPONENT = 308
_LARGEST = Quantity.of_value(2**63 - 1)


class _Small(NamedTuple):
    """An amount in the fast form: ``value`` times ten to the power of ``scale``."""

    value: int
    scale: int
    looks_canonical: bool


def read_quantity(text: str) -> Quantity:
    """Return the quantity of a text. Raise QuantityError in Go's words.

    >>> read_quantity("1 Gi")
    Traceback (most recent call last):
    karta_interpreter.base.errors.QuantityError: quantities must match the regular expression \
'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    """
    *_, suffix = _parts(text)
    if suffix not in _DECIMAL and suffix not in _BINARY and not _EXPONENT.fullmatch(suffix):
        raise QuantityError("unable to parse quantity's suffix")
    if suffix in _NEEDS_DIGITS and not any(map(str.isdigit, text)):
        raise QuantityError("unable to parse numeric part of quantity")
    return Quantity.parse(text)


def _parts(text: str) -> tuple[str, str, str, str]:
    """Return the sign, the digits before and after the point, and the suffix."""
    match = _SYNTAX.fullmatch(text) if text else None
    if match is None:
        raise QuantityError(f"quantities must match the regular expression '{_SPLIT}'")
    return match[1], match[2] or "0", match[3] or "", match[4]


def written_quantity(text: str) -> str:
    """Return the text that Go writes for a quantity that it read from text.

    >>> written_quantity("1.500"), written_quantity("1.50"), written_quantity("2048Mi")
    ('1.500', '1500m', '2Gi')
    """
    quantity = read_quantity(text)
    small = _small(text)
    return text if small and small.looks_canonical else str(quantity)


def approximate(text: str) -> float:
    """Go's ``AsApproximateFloat64``: its rounding errors too, and infinity above the largest float.

    >>> approximate("1Gi"), approximate("0.7")
    (1073741824.0, 0.7000000000000001)
    """
    quantity = read_quantity(text)
    small = _small(text)
    if small:
        return small.value * _power_of_ten(small.scale)
    if abs(quantity.nanos) == _LARGEST.nanos:
        return math.copysign(_LARGEST.value, quantity.nanos)
    try:
        return float(quantity.nanos) * _power_of_ten(_NANO)
    except OverflowError:
        return math.inf if quantity.nanos > 0 else -math.inf


def _small(text: str) -> _Small | None:
    """Return the fast form that Go uses for an amount of few digits, or None for any other."""
    sign, whole, fraction, suffix = _parts(text)
    digits = whole + fraction
    value = int(digits)
    signed = -value if sign == "-" else value
    if suffix in _BINARY:
        power = _BINARY[suffix]
        # `ParseQuantity`: the precision is 15 - digits - exponent * 3 / 10 - 1, and there is a fast form from 0 on.
        if fraction or len(whole) > 14 - power * 3 // 10:
            return None
        return _Small(signed << power, 0, bool(value & 7))
    scale = (_DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])) - len(fraction)
    if len(digits) > _MOST_DIGITS or scale < _NANO:
        return None
    return _Small(signed, scale, scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0")


def _power_of_ten(exponent: int) -> float:
    """Go's ``math.Pow10``, which puts large powers together from two tables."""
    if exponent > _LARGEST_EXPONENT:
        return math.inf
    many, few = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{32 * many}") * float(f"1e{few}")
    return float(f"1e-{32 * many}") / float(f"1e{few}")


ScalarReader: TypeAlias = Callable[[JSON], JSON]
"""Returns a value as Go keeps it, or raises MismatchError."""

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool"}
# Go's `time.Parse` also takes an hour of one digit, and a comma before the fraction.
_INSTANT = re.compile(
    r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T([01]?\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[-+]([01]\d|2[0-4]):[0-5]\d)",
    re.ASCII,
)
_LAYOUT = "2006-01-02T15:04:05Z07:00"


class MismatchError(LuaRunError):
    """A value that does not fit. On its way out it collects the path of the value.

    Its text is the message of ``encoding/json`` with the index of every list in the path, which Go leaves out.
    """

    def __init__(self, problem: str, go_type: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.go_type = go_type
        self._struct = ""
        self._path: list[str | int] = []

    def within(self, step: str | int, struct: str = "") -> None:
        """Add an outer step to the path. The message names the innermost struct."""
        self._path.append(step)
        self._struct = self._struct or struct

    def __str__(self) -> str:
        path = field_path(tuple(reversed(self._path))) if self._path else ""
        if not self.go_type:
            return f"{path}: {self.problem}" if path else self.problem
        where = f"Go struct field {self._struct}.{path}".replace(".[", "[", 1) if self._struct else "Go value"
        return f"json: cannot unmarshal {self.problem} into {where} of type {self.go_type}"


def mismatch(value: JSON, go_type: str, *, exactly: bool = False) -> MismatchError:
    """Return the error about a value of another kind than the type takes.

    ``exactly`` names the number that does not fit.

    >>> str(mismatch(1.5, "int32", exactly=True))
    'json: cannot unmarshal number 1.5 into Go value of type int32'
    >>> str(mismatch({}, "int32", exactly=True))
    'json: cannot unmarshal object into Go value of type int32'
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = f"number {json_text(value)}" if exactly else "number"
    return MismatchError(kind, go_type)


def _plain(kind: type, go_type: str) -> ScalarReader:
    def read(value: JSON) -> JSON:
        if type(value) is kind:
            return value
        raise mismatch(value, go_type)

    return read


def _integer(go_type: str, bits: int) -> ScalarReader:
    bound = 1 << (bits - 1)

    def read(value: JSON) -> int:
        if type(value) is int:
            number = json_number(value)
            if isinstance(number, int) and -bound <= number < bound:
                return number
        raise mismatch(value, go_type, exactly=True)

    return read


def _quantity(value: JSON) -> str:
    # The text of anything but a number is not a quantity either.
    text = value if type(value) is str else json_text(value) if type(value) in (int, float) else ""
    try:
        # Go trims the text as it is in JSON, where the other blanks of ASCII are escaped.
        return written_quantity(text.strip(" "))
    except QuantityError as err:
        raise MismatchError(str(err)) from err


def _time(value: JSON) -> str:
    if type(value) is not str:
        raise mismatch(value, "string")
    match = _INSTANT.fullmatch(value)
    if match is None or not 1 <= int(match[3]) <= calendar.monthrange(int(match[1]), int(match[2]))[1]:
        raise MismatchError(f'parsing time "{value}" as "{_LAYOUT}": cannot parse "{value}"')
    return value


_int32 = _integer("int32", 32)

SCALARS: Final[Mapping[str, ScalarReader]] = {
    "string": _plain(str, "string"),
    "bool": _plain(bool, "bool"),
    "int32": _int32,
    "int64": _integer("int64", 64),
    "Quantity": _quantity,
    "IntOrString": lambda value: value if type(value) is str else _int32(value),
    "Time": _time,
    "any": lambda value: value,
}
