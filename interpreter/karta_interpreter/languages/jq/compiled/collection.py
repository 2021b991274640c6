"""jq's functions of arrays and objects."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Final

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.base.k8s import JSON, NewObject, type_name
from karta_interpreter.languages.jq.compiled.operators import MOST_ELEMENTS, Many, check_size, elements
from karta_interpreter.languages.jq.compiled.values import equal, is_number, kind, normal, order_key, text_of, to_json

_MOST_COMPARISONS: Final = 10_000


def array_of(name: str, value: JSON) -> list[JSON]:
    """Return the value of an array. Raise QueryEvaluationError naming the function for any other value."""
    if not isinstance(value, list):
        raise QueryEvaluationError(f"{name} needs a list, not {type_name(value)}")
    check_size(value)
    return value


def length(value: JSON) -> JSON:
    """``length``: characters, elements, keys, the magnitude of a number, 0 for null."""
    if isinstance(value, str | list | dict):
        return len(value)
    if value is None:
        return 0
    if is_number(value):
        return normal(abs(value))
    raise QueryEvaluationError("a boolean has no length")


def keys(value: JSON) -> list[JSON]:
    """``keys``: sorted names of an object, indices of an array."""
    if not isinstance(value, dict | list):
        raise QueryEvaluationError(f"{type_name(value)} has no keys")
    check_size(value)
    return sorted(value) if isinstance(value, dict) else list(range(len(value)))


def has(value: JSON, key: JSON) -> bool:
    """``has(key)``. Null has no keys."""
    if value is None:
        return False
    if isinstance(key, str) and isinstance(value, dict):
        return key in value
    if is_number(key) and isinstance(value, list):
        return 0 <= key < len(value)
    raise QueryEvaluationError(f"{type_name(value)} cannot have {type_name(key)} as a key")


def to_entries(value: JSON) -> list[JSON]:
    """``to_entries``: key and value of every field, in the order of the keys."""
    return [{"key": key, "value": value[key]} for key in keys(value)]


def from_entries(value: JSON) -> NewObject:
    """``from_entries``, with jq's other spellings ``Key``, ``name``, ``Name`` and ``Value``."""
    obj: NewObject = {}
    for entry in elements(value):
        fields = {} if entry is None else entry
        if not isinstance(fields, dict):
            raise QueryEvaluationError(f"from_entries needs objects, not {type_name(entry)}")
        names = (fields.get(name) for name in ("key", "Key", "name", "Name"))
        key = next((name for name in names if name is not None and name is not False), None)
        if not isinstance(key, str):
            raise QueryEvaluationError(f"{type_name(key)} cannot be the key of an object")
        obj[key] = fields["value"] if "value" in fields else fields.get("Value")
    return obj


def reverse(value: JSON) -> list[JSON]:
    """``reverse`` of an array. The reverse of null is an empty array."""
    return [] if value is None else array_of("reverse", value)[::-1]


def contains(value: JSON, needle: JSON) -> bool:
    """``contains(wanted)``: part of a string, of an array, of the fields of an object."""
    # To jq, true and false are values of two types.
    if kind(value) != kind(needle) or (isinstance(value, bool) and value != needle):
        raise QueryEvaluationError(f"{type_name(value)} cannot contain {type_name(needle)}")
    return _contains_within(value, needle, iter(range(_MOST_COMPARISONS)))


def _contains_within(value: JSON, needle: JSON, budget: Iterator[int]) -> bool:
    if next(budget, None) is None:
        raise QueryLimitError(f"contains needs more than {_MOST_COMPARISONS} comparisons")
    match value, needle:
        case dict(), dict():
            return all(key in value and _contains_within(value[key], needle[key], budget) for key in needle)
        case list(), list():
            return all(any(_contains_within(own, other, budget) for own in value) for other in needle)
        case str(), str():
            return needle in value
        case _:
            return equal(value, needle)


def join(value: JSON, separator: JSON) -> str:
    """``join(separator)``. Numbers and booleans become text, null becomes empty."""
    pieces: list[str] = []
    for element in elements(value):
        if isinstance(element, bool | int | float):
            pieces.append(to_json(element))
        else:
            pieces.append("" if element is None else text_of("join", element))
    if len(pieces) < 2:  # noqa: PLR2004 - jq does not look at the separator then
        return "".join(pieces)
    return ("" if separator is None else text_of("join", separator)).join(pieces)


def sort(value: JSON) -> list[JSON]:
    """``sort`` of an array."""
    return sorted(array_of("sort", value), key=order_key)


def unique(value: JSON) -> list[JSON]:
    """``unique``: sorted, without repetition."""
    return [next(group) for _, group in groupby(sort(value), key=order_key)]


def least(value: JSON) -> JSON:
    """``min``: the first of the smallest, or null for an empty array. Types other than null are not mixed."""
    return min(value) if _are_integers(value) else min(_comparable("min", value), key=order_key, default=None)


def greatest(value: JSON) -> JSON:
    """``max``: the last of the largest, or null for an empty array. Types other than null are not mixed."""
    # Reversed: Python's `max` is the first of several that are equal.
    return max(value) if _are_integers(value) else max(_comparable("max", value)[::-1], key=order_key, default=None)


def _are_integers(value: JSON) -> bool:
    """Return whether a value is an array of directly comparable integers, such as counts of replicas."""
    return type(value) is list and len(value) <= MOST_ELEMENTS and set(map(type, value)) == {int}


def _comparable(name: str, value: JSON) -> list[JSON]:
    """Return the values of an array, all of one type.

    To jq ``["many", 3] | min`` is 3, which is not a meant number of pods.
    """
    values = array_of(name, value)
    types = dict.fromkeys(kind(value) for value in values if value is not None)
    if len(types) > 1:
        raise QueryEvaluationError(
            f"{name} compares values of one type, not {' with '.join(types)}"
            + "; write a number without quotes" * any(isinstance(value, str) and value.isdecimal() for value in values)
        )
    return values


def sort_by(value: JSON, key: Many) -> list[JSON]:
    """``sort_by(key)``. Elements with equal keys keep their order."""
    return [element for group in group_by(value, key) for element in group]


def group_by(value: JSON, key: Many) -> list[JSON]:
    """``group_by(key)``: arrays of the elements with equal keys, in the order of the keys."""
    pairs = sorted(_keyed("group_by", value, key), key=lambda pair: pair[0])
    return [[element for _, element in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]


def unique_by(value: JSON, key: Many) -> list[JSON]:
    """``unique_by(key)``: the first element of every group."""
    return [group[0] for group in group_by(value, key)]


def _keyed(name: str, value: JSON, key: Many) -> list[tuple[list[JSON], JSON]]:
    return [(list(map(order_key, key(element))), element) for element in array_of(name, value)]


def map_values(value: JSON, body: Many) -> JSON:
    """Replace each element by the first output for it, or drop the element if there is none."""
    firsts = (tuple(islice(body(element), 1)) for element in elements(value))
    if isinstance(value, list):
        return [new for outputs in firsts for new in outputs]
    return {key: new for key, outputs in zip(sorted(value), firsts, strict=True) for new in outputs}


def among(value: JSON, candidates: Iterable[JSON]) -> bool:
    """Return whether a value is one of several."""
    return any(equal(value, candidate) for candidate in candidates)
