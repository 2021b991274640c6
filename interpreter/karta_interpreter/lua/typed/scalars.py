"""The Go types that are no struct, list or map, and how ``encoding/json`` reads them."""

import calendar
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from karta_interpreter.errors import QuantityError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.typed.mismatch import MismatchError, mismatch
from karta_interpreter.lua.typed.numbers import EXACT, number_text
from karta_interpreter.lua.typed.quantities import written_quantity

Reader: TypeAlias = Callable[[JSON], JSON]
"""Gives back a value as Go keeps it, or raises MismatchError."""

_INSTANT = re.compile(
    r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T([01]?\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[-+]([01]\d|2[0-4]):[0-5]\d)",
    re.ASCII,
)
_LAYOUT = "2006-01-02T15:04:05Z07:00"


def _plain(kind: type, go_type: str) -> Reader:
    def read(value: JSON) -> JSON:
        if type(value) is kind:
            return value
        raise mismatch(value, go_type)

    return read


def _integer(go_type: str, bits: int) -> Reader:
    bound = 1 << (bits - 1)

    def read(value: JSON) -> int:
        if type(value) is int:
            number = value if -EXACT <= value <= EXACT else int(Decimal(number_text(value)))
            if -bound <= number < bound:
                return number
        raise mismatch(value, go_type, exactly=True)

    return read


def _quantity(value: JSON) -> str:
    if type(value) is str:
        return _quantity_of(value)
    # The text of anything but a number is no quantity either.
    return _quantity_of(number_text(value) if type(value) in (int, float) else "")


@lru_cache(maxsize=4096)
def _quantity_of(text: str) -> str:
    try:
        return written_quantity(text.strip(" "))
    except QuantityError as err:
        raise MismatchError(str(err)) from err


def _int_or_string(value: JSON) -> JSON:
    return value if type(value) is str else _int32(value)


def _time(value: JSON) -> str:
    if type(value) is not str:
        raise mismatch(value, "string")
    match = _INSTANT.fullmatch(value)
    if match is None or not 1 <= int(match[3]) <= calendar.monthrange(int(match[1]), int(match[2]))[1]:
        raise MismatchError(f'parsing time "{value}" as "{_LAYOUT}": cannot parse "{value}"')
    return value


_int32 = _integer("int32", 32)

SCALARS: Final[Mapping[str, Reader]] = {
    "string": _plain(str, "string"),
    "bool": _plain(bool, "bool"),
    "int32": _int32,
    "int64": _integer("int64", 64),
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Time": _time,
    "any": lambda value: value,
}
"""By the name of the type."""

TEXTS: Final[Mapping[str, Callable[[str], str]]] = {"Quantity": _quantity_of}
"""How a string is read as one of the types whose strings are not taken as they are, which is remembered."""

PLAIN: Final[Mapping[str, type]] = {"string": str, "bool": bool}
"""The types of which every Python value of one type is a value."""
