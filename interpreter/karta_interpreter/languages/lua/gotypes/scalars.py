"""The Go types other than structs, lists and maps, how ``encoding/json`` reads and writes them, and its errors."""

import calendar
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from karta_interpreter.base.errors import LuaRunError, QuantityError
from karta_interpreter.base.k8s import JSON, field_path
from karta_interpreter.languages.lua.go_numbers import json_number, json_text
from karta_interpreter.languages.lua.gotypes.quantities import written_quantity

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
"""By the name of the type."""
