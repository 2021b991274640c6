"""The functions that a plain expression may call.

Their work grows with the size of their input, apart from sorting; none of them loops by itself.
"""

import math
from collections.abc import Callable
from typing import Final

from karta_interpreter.errors import QueryEvaluationError
from karta_interpreter.jq.inprocess import collection, strings
from karta_interpreter.jq.inprocess.operators import at_path, elements, item, split, total
from karta_interpreter.jq.inprocess.regex import REGEX_FUNCTIONS
from karta_interpreter.jq.inprocess.values import Number, is_number, kind, normal, to_json, to_text, truthy
from karta_interpreter.k8s.values import JSON, type_name

__all__ = ["ARGUMENTS", "FILTERS", "LITERALS", "PLAIN_FUNCTIONS", "SELECTIONS", "VALUES"]


def _number_of(name: str, value: JSON) -> Number:
    if is_number(value):
        return normal(value)
    raise QueryEvaluationError(f"{name} needs a number, not {type_name(value)}")


def _round(value: JSON) -> Number:
    """Halves go away from zero."""
    number = _number_of("round", value)
    whole = math.floor(abs(number))
    return normal(math.copysign(whole + (abs(number) - whole >= 0.5), number))  # noqa: PLR2004 - a half


def _split(value: JSON, separator: JSON) -> list[str]:
    return split(strings.text_of("split", value), strings.text_of("split", separator))


VALUES: Final[dict[str, Callable[[JSON], JSON]]] = {
    "abs": lambda value: abs(_number_of("abs", value)),
    "add": lambda value: total(elements(value)),
    "all": lambda value: all(map(truthy, elements(value))),
    "any": lambda value: any(map(truthy, elements(value))),
    "ascii_downcase": strings.ascii_downcase,
    "ascii_upcase": strings.ascii_upcase,
    "ceil": lambda value: normal(math.ceil(_number_of("ceil", value))),
    "fabs": lambda value: abs(_number_of("fabs", value)),
    "first": lambda value: item(value, 0),
    "flatten": collection.flatten,
    "floor": lambda value: normal(math.floor(_number_of("floor", value))),
    "from_entries": collection.from_entries,
    "keys": collection.keys,
    "last": lambda value: item(value, -1),
    "length": collection.length,
    "ltrim": strings.ltrim,
    "max": collection.greatest,
    "min": collection.least,
    "not": lambda value: not truthy(value),
    "reverse": collection.reverse,
    "round": _round,
    "rtrim": strings.rtrim,
    "sort": collection.sort,
    "to_entries": collection.to_entries,
    "tojson": to_json,
    "tonumber": strings.to_number,
    "tostring": to_text,
    "trim": strings.trim,
    "type": kind,
    "unique": collection.unique,
}
"""Functions of the input alone, with one output."""

ARGUMENTS: Final[dict[str, Callable[[JSON, JSON], JSON]]] = {
    "contains": collection.contains,
    "endswith": strings.ends_with,
    "flatten": collection.flatten_to,
    "getpath": at_path,
    "has": collection.has,
    "join": strings.join,
    "ltrimstr": strings.without_prefix,
    "rtrimstr": strings.without_suffix,
    "split": _split,
    "startswith": strings.starts_with,
}
"""Functions of the input and the value of one argument."""

SELECTIONS: Final = {
    "arrays": ("array",),
    "booleans": ("boolean",),
    "iterables": ("array", "object"),
    "nulls": ("null",),
    "numbers": ("number",),
    "objects": ("object",),
    "scalars": ("null", "boolean", "number", "string"),
    "strings": ("string",),
    "values": ("boolean", "number", "string", "array", "object"),
}
"""Functions that let through values of some kinds only."""


FILTERS: Final = frozenset(
    {
        *((name, 1) for name in ("IN", "add", "all", "any", "first", "group_by", "isempty", "last", "map")),
        *((name, 1) for name in ("map_values", "max_by", "min_by", "select", "sort_by", "unique_by", "with_entries")),
        *(("all", 2), ("any", 2), ("empty", 0)),
        *((name, 0) for name in SELECTIONS),
    }
)
"""Functions whose arguments are run as filters, or that may have no output."""

LITERALS: Final = frozenset((("error", 1),))
"""Functions whose arguments have to be texts as they stand, known before anything runs."""

PLAIN_FUNCTIONS: Final = frozenset(
    {*((name, 0) for name in VALUES), *((name, 1) for name in ARGUMENTS), *FILTERS, *LITERALS, *REGEX_FUNCTIONS}
)
"""Name and number of arguments of every function that runs in process."""
