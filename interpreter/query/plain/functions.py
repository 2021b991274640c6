"""The functions that a plain expression may call.

Their work grows with the size of their input, apart from sorting; none of them loops by itself.
"""

import math
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Final

from interpreter.errors import QueryEvaluationError
from interpreter.k8s.values import JSON, type_name
from interpreter.query.plain import collection, strings
from interpreter.query.plain.access import elements, item
from interpreter.query.plain.arithmetic import split, total
from interpreter.query.plain.filters import (
    EMPTY,
    IDENTITY,
    Filter,
    Many,
    One,
    Operator,
    collect,
    conditional,
    pipe,
    single,
)
from interpreter.query.plain.regex import simple_pattern
from interpreter.query.plain.values import Number, equal, is_number, kind, normal, to_json, to_text, truthy

__all__ = ["ARGUMENTS", "FILTERS", "LITERALS", "PLAIN_FUNCTIONS", "SELECTIONS", "VALUES", "simple_pattern"]

_ELEMENTS: Final = Filter(elements)
_NOTHING: Final = object()


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


VALUES: Final[dict[str, One]] = {
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
    "max": collection.greatest,
    "min": collection.least,
    "not": lambda value: not truthy(value),
    "reverse": collection.reverse,
    "round": _round,
    "sort": collection.sort,
    "to_entries": collection.to_entries,
    "tojson": to_json,
    "tonumber": strings.to_number,
    "tostring": to_text,
    "type": kind,
    "unique": collection.unique,
}
"""Functions of the input alone, with one output."""

ARGUMENTS: Final[dict[str, Operator]] = {
    "contains": collection.contains,
    "endswith": strings.ends_with,
    "flatten": collection.flatten_to,
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


def _selection(kinds: tuple[str, ...]) -> Filter:
    return Filter(lambda value: (value,) if kind(value) in kinds else ())


def _any(source: Filter, condition: Filter) -> Filter:
    several = pipe(source, condition).many
    return single(lambda value: any(map(truthy, several(value))))


def _all(source: Filter, condition: Filter) -> Filter:
    several = pipe(source, condition).many
    return single(lambda value: all(map(truthy, several(value))))


def _first(source: Filter) -> Filter:
    several = source.many
    return source if source.one else Filter(lambda value: islice(several(value), 1))


def _last(source: Filter) -> Filter:
    several = source.many
    return source if source.one else Filter(lambda value: deque(several(value), maxlen=1))


def _is_empty(source: Filter) -> Filter:
    several = source.many
    return single(lambda value: next(iter(several(value)), _NOTHING) is _NOTHING)


def _map(body: Filter) -> Filter:
    return collect(pipe(_ELEMENTS, body))


def _map_values(body: Filter) -> Filter:
    """Replace each element by the first output for it, or drop it when there is none."""

    def one(value: JSON) -> JSON:
        firsts = (tuple(islice(body.many(element), 1)) for element in elements(value))
        if isinstance(value, list):
            return [new for outputs in firsts for new in outputs]
        return {key: new for key, outputs in zip(sorted(value), firsts, strict=True) for new in outputs}

    return single(one)


def _with_entries(body: Filter) -> Filter:
    entries, back = single(collection.to_entries), single(collection.from_entries)
    return pipe(pipe(entries, _map(body)), back)


def _among(candidates: Filter) -> Filter:
    several = candidates.many
    return single(lambda value: any(equal(value, candidate) for candidate in several(value)))


def _sum(terms: Filter) -> Filter:
    several = terms.many
    return single(lambda value: total(several(value)))


def _by(function: Callable[[JSON, Many], JSON]) -> Callable[[Filter], Filter]:
    return lambda key: single(lambda value: function(value, key.many))


FILTERS: Final[dict[tuple[str, int], Callable[..., Filter]]] = {
    ("IN", 1): _among,
    ("add", 1): _sum,
    ("all", 1): lambda condition: _all(_ELEMENTS, condition),
    ("all", 2): _all,
    ("any", 1): lambda condition: _any(_ELEMENTS, condition),
    ("any", 2): _any,
    ("empty", 0): lambda: EMPTY,
    ("first", 1): _first,
    ("group_by", 1): _by(collection.group_by),
    ("isempty", 1): _is_empty,
    ("last", 1): _last,
    ("map", 1): _map,
    ("map_values", 1): _map_values,
    ("max_by", 1): _by(collection.greatest_by),
    ("min_by", 1): _by(collection.least_by),
    ("select", 1): lambda condition: conditional(condition, IDENTITY, EMPTY),
    ("sort_by", 1): _by(collection.sort_by),
    ("unique_by", 1): _by(collection.unique_by),
    ("with_entries", 1): _with_entries,
    **{(name, 0): lambda kinds=kinds: _selection(kinds) for name, kinds in SELECTIONS.items()},
}
"""Functions whose arguments are run as filters."""

LITERALS: Final = frozenset((("error", 1), ("test", 1), ("test", 2)))
"""Functions whose arguments have to be texts as they stand, known before anything runs."""

PLAIN_FUNCTIONS: Final = frozenset(
    {*((name, 0) for name in VALUES), *((name, 1) for name in ARGUMENTS), *FILTERS, *LITERALS}
)
"""Name and number of arguments of every function that runs in process."""
