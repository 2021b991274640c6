"""Reading parts of a value: fields, elements, slices, iteration."""

import math
from collections.abc import Sequence
from typing import Final

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.jq.plain.values import Number, is_number, normal
from karta_interpreter.k8s.values import JSON, type_name

MOST_ELEMENTS: Final = 10_000
"""The largest array or object that is iterated over."""


def field(value: JSON, name: str) -> JSON:
    """``.name`` of an object, or of null.

    >>> field({"a": 1}, "a"), field({}, "a"), field(None, "a")
    (1, None, None)
    """
    if type(value) is dict:
        return value.get(name)
    if value is None:
        return None
    raise QueryEvaluationError(f"{type_name(value)} has no field {name!r}")


def item(value: JSON, key: JSON) -> JSON:
    """``value[key]`` for a key that is only known now.

    >>> item({"a": 1}, "a"), item([1, 2], -1), item([1], 5), item(None, "a")
    (1, 2, None, None)
    """
    match key:
        case str() if value is None or isinstance(value, dict):
            return None if value is None else value.get(key)
        case int() | float() if is_number(key) and (value is None or isinstance(value, list)):
            return None if value is None else _element(value, key)
        case {"start": start, "end": stop}:
            return part(value, start, stop)
        case dict() if value is None:
            return None
    raise QueryEvaluationError(f"{type_name(value)} cannot be indexed with {type_name(key)}")


def at_path(value: JSON, path: JSON) -> JSON:
    """``getpath(path)``: what is at a list of keys and indices; null inside of null.

    >>> at_path({"a": [{"b": 1}]}, ["a", 0, "b"]), at_path({}, ["a", 0, "b"])
    (1, None)
    """
    if not isinstance(path, list):
        raise QueryEvaluationError(f"a path is a list, not {type_name(path)}")
    for key in path:
        value = item(value, key)
    return value


def _element(values: list[JSON], key: Number) -> JSON:
    index = position(values, key)
    return None if index is None else values[index]


def position(values: Sequence[JSON], key: Number) -> int | None:
    """The index from the start that a number means, None when there is no such element."""
    index = math.trunc(normal(key))
    index += len(values) if index < 0 else 0
    return index if 0 <= index < len(values) else None


def part(value: JSON, start: JSON, stop: JSON) -> JSON:
    """``value[start:stop]`` of an array or a string, with null for an open end.

    >>> part([1, 2, 3], 1, None), part("abc", None, -1)
    ([2, 3], 'ab')
    """
    if value is None:
        return None
    if not isinstance(value, list | str):
        raise QueryEvaluationError(f"{type_name(value)} cannot be sliced")
    for bound in (start, stop):
        if bound is not None and not is_number(bound):
            raise QueryEvaluationError(f"{type_name(bound)} cannot be the bound of a slice")
    first = None if start is None else math.floor(normal(start))
    return value[first : None if stop is None else math.ceil(normal(stop))]


def elements(value: JSON) -> Sequence[JSON]:
    """What ``.[]`` gives in jq; the values of an object come in the order of its keys.

    >>> elements({"b": 1, "a": 2})
    [2, 1]
    """
    if not isinstance(value, (list, dict)):
        raise QueryEvaluationError(f"cannot iterate over {type_name(value)}")
    check_size(value)
    return value if isinstance(value, list) else [value[key] for key in sorted(value)]


def check_size(value: list[JSON] | dict[str, JSON]) -> None:
    """Raise QueryLimitError for more elements than an expression may go through."""
    if len(value) > MOST_ELEMENTS:
        raise QueryLimitError(f"{type_name(value)} has more than {MOST_ELEMENTS} elements")


def present_elements(value: JSON) -> Sequence[JSON]:
    """What ``.[]`` gives here: nothing for null, because a control plane holds objects without defaults."""
    return () if value is None else elements(value)
