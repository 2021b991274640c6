"""Constructs and operators of jq on values: parts of them, iteration, objects, texts and arithmetic."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from typing import Final, NoReturn, TypeAlias

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError, QueryRaisedError, QueryResultsError
from karta_interpreter.base.k8s import JSON, NewObject, type_name
from karta_interpreter.languages.jq.compiled.costs import MOST_REPEATED
from karta_interpreter.languages.jq.compiled.values import Number, is_number, kind, normal, to_json, to_text

Many: TypeAlias = Callable[[JSON], Iterable[JSON]]
"""An expression as a function that yields all of its outputs, in order."""

MOST_ELEMENTS: Final = 10_000
"""The largest array or object that is iterated over."""


def no_field(value: JSON, name: str) -> None:
    """Return None for ``.name`` of null, and fail for that of anything else but an object."""
    if value is not None:
        raise QueryEvaluationError(
            f"{type_name(value)} has no field {name!r}{': `[]` gives its elements' if isinstance(value, list) else ''}"
        )


def item(value: JSON, key: JSON) -> JSON:
    """``value[key]`` for a key that is only known now."""
    if type(value) is list and type(key) is int:  # half of all calls, and `match` takes three times as long
        return value[key] if -len(value) <= key < len(value) else None
    match key:
        case str() if value is None or isinstance(value, dict):
            return None if value is None else value.get(key)
        case int() | float() if is_number(key) and (value is None or isinstance(value, list)):
            values = value or []
            index = position(values, key)
            return None if index is None else values[index]
        case {"start": start, "end": stop}:
            return part(value, start, stop)
        case dict() if value is None:
            return None
    raise QueryEvaluationError(f"{type_name(value)} cannot be indexed with {type_name(key)}")


def at_path(value: JSON, path: JSON) -> JSON:
    """``getpath(path)``: the value at a list of keys and indices. Inside of null it is null."""
    if not isinstance(path, list):
        raise QueryEvaluationError(f"a path is a list, not {type_name(path)}")
    for key in path:
        value = item(value, key)
    return value


def position(values: Sequence[JSON], key: Number) -> int | None:
    """Return the index from the start that a number means, or None if there is no such element."""
    index = math.trunc(normal(key))
    index += len(values) if index < 0 else 0
    return index if 0 <= index < len(values) else None


def part(value: JSON, start: JSON, stop: JSON) -> JSON:
    """``value[start:stop]`` of an array or a string, with null for an open end."""
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
    """Return the outputs of ``.[]`` in jq. The values of an object come in the order of its keys."""
    if not isinstance(value, (list, dict)):
        raise QueryEvaluationError(f"cannot iterate over {type_name(value)}")
    check_size(value)
    return value if isinstance(value, list) else [value[key] for key in sorted(value)]


def check_size(value: list[JSON] | NewObject) -> None:
    """Raise QueryResultsError for more elements than an expression may go through."""
    if len(value) > MOST_ELEMENTS:
        raise QueryResultsError(f"{type_name(value)} has more than {MOST_ELEMENTS} elements")


def present_elements(value: JSON) -> Sequence[JSON]:
    """Return the outputs of ``.[]`` here: nothing for null, because a control plane holds objects without defaults."""
    return () if value is None else elements(value)


def optional_elements(value: JSON) -> Sequence[JSON]:
    """``.[]?``: there is nothing in a value that has no elements."""
    return present_elements(value) if isinstance(value, list | dict) else ()


def key_of(key: JSON) -> str:
    """Return a value as the key of an object."""
    if isinstance(key, str):
        return key
    raise QueryEvaluationError(f"{type_name(key)} cannot be the key of an object")


def objects(entries: Sequence[tuple[Many, Many]], value: JSON) -> Iterator[NewObject]:
    """``{key: value, ...}``, one object for every combination of keys and values. The last entry is the inner loop."""
    if not entries:
        yield {}
        return
    *others, (keys, items) = entries
    for fields in objects(others, value):
        for key in keys(value):
            for item in items(value):
                yield {**fields, key_of(key): item}


def texts(pieces: Sequence[tuple[Many, Callable[[JSON], str]]], value: JSON) -> Iterator[str]:
    """Yield a string with interpolations, for every combination of outputs. The first part is the inner loop."""
    if not pieces:
        yield ""
        return
    *others, (last, written) = pieces
    for piece in last(value):
        for before in texts(others, value):
            yield before + written(piece)


def short_text(value: JSON) -> str:
    """Return a piece of a text that is repeated for each element of a list.

    It is a text of limited length, or another scalar.
    """
    if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > MOST_REPEATED):
        raise QueryLimitError(
            f"{type_name(value)} is repeated in several texts; a text of {MOST_REPEATED} characters can be"
        )
    return to_text(value)


def refuse(message: str) -> NoReturn:
    """Fail with the error text of the definition's author."""
    raise QueryRaisedError(message)


def too_many(most: int) -> NoReturn:
    """Fail because of the number of outputs."""
    raise QueryResultsError(f"it gives more than {most} results")


_SMALL: Final = 2**52  # the sum of two is at most 2**53
_INT64: Final = 2**63


def add(left: JSON, right: JSON) -> JSON:
    """``left + right``. Null is neutral, arrays are joined, the right object wins."""
    if type(left) is int and type(right) is int and -_SMALL < left < _SMALL and -_SMALL < right < _SMALL:
        return left + right
    if left is None or right is None:
        return right if left is None else left
    if is_number(left) and is_number(right):
        return _finite(normal(left) + normal(right))
    if kind(left) == kind(right):
        match left:
            case str() | list():
                return left + right
            case dict():
                return left | right
    raise _cannot(left, right, "added")


def subtract(left: JSON, right: JSON) -> JSON:
    """``left - right`` of numbers, or the elements of ``left`` that are not in ``right``."""
    if is_number(left) and is_number(right):
        return _finite(normal(left) - normal(right))
    if isinstance(left, list) and isinstance(right, list):
        # By text: equal values have the same, and to compare each with each would take the square of the time.
        gone = set(map(to_json, right))
        return [element for element in left if to_json(element) not in gone]
    raise _cannot(left, right, "subtracted")


def multiply(left: JSON, right: JSON) -> JSON:
    """``left * right`` of numbers only."""
    if is_number(left) and is_number(right):
        return _finite(float(normal(left)) * normal(right))
    raise _cannot(left, right, "multiplied")


def merge(left: JSON, right: JSON) -> JSON:
    """``left * right`` of objects, at every depth. Any other values are multiplied."""
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return multiply(left, right)
    merged = left | right
    for key in left.keys() & right.keys():
        if isinstance(left[key], dict) and isinstance(right[key], dict):
            merged[key] = merge(left[key], right[key])
    return merged


def divide(left: JSON, right: JSON) -> JSON:
    """``left / right`` of numbers, or a string split at another."""
    if is_number(left) and is_number(right):
        if right == 0:
            raise QueryEvaluationError("cannot divide by zero")
        return _finite(float(normal(left)) / normal(right))
    if isinstance(left, str) and isinstance(right, str):
        return split(left, right)
    raise _cannot(left, right, "divided")


def modulo(left: JSON, right: JSON) -> JSON:
    """``left % right`` of the integer parts. The sign is the sign of ``left``."""
    if not (is_number(left) and is_number(right)):
        raise _cannot(left, right, "divided")
    divisor = abs(_integer(right))
    if divisor == 0:
        raise QueryEvaluationError("cannot divide by zero")
    dividend = _integer(left)
    return normal(abs(dividend) % divisor * (-1 if dividend < 0 else 1))


def negate(value: JSON) -> JSON:
    """``-value`` of a number."""
    if not is_number(value):
        raise QueryEvaluationError(f"{type_name(value)} cannot be negated")
    return normal(-value)


def total(values: Iterable[JSON]) -> JSON:
    """Return the sum of many values in time that grows with their size, or null if there are none."""
    terms = [value for value in values if value is not None]
    if len(terms) < 2:  # noqa: PLR2004 - nothing to add
        return terms[0] if terms else None
    first = terms[0]
    for term in terms:
        if kind(term) != kind(first):
            raise _cannot(first, term, "added")
    match first:
        case str():
            return "".join(terms)
        case list():
            return list(chain.from_iterable(terms))
        case dict():
            return {key: value for term in terms for key, value in term.items()}
    return reduce(add, terms)


def split(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators, or its characters if the separator is empty."""
    if not text:
        return []
    return text.split(separator) if separator else list(text)


def _finite(number: Number) -> Number:
    if math.isfinite(number):
        return normal(number)
    raise QueryEvaluationError("the result is too large for a number")


def _integer(number: Number) -> int:
    """Return the integer part, kept within 64 bits."""
    return max(-_INT64, min(_INT64 - 1, int(normal(number))))


def _cannot(left: JSON, right: JSON, verb: str) -> QueryEvaluationError:
    return QueryEvaluationError(
        f"{type_name(left)} and {type_name(right)} cannot be {verb}"
        + "; write a number without quotes"
        * any(isinstance(value, str) and value.isdecimal() for value in (left, right))
        + "; an absent field is null: write a default, as `(.hosts // 1)`" * (None in (left, right))
    )
