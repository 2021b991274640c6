"""Conditions that tell some objects, or instances, from others by the values of their fields."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.openapi.schema import SchemaPath

_MOST_FIELDS: Final = 2000
_SPEC: Final = SchemaPath(("spec",))
ALWAYS: Final = "true"
ID: Final = "$id"

Fields = Sequence[Mapping[str, JSON]]
"""The values below the specification of the object of each place, and its instance, by their expressions."""


def fields_of(obj: Object) -> dict[str, JSON]:
    """Return the values below the specification that are not in lists, by their expressions."""
    return dict(values_below(_SPEC, obj.get("spec")))


def values_below(path: SchemaPath, value: JSON) -> Iterator[tuple[str, JSON]]:
    """Yield the first values that are not in lists, with their expressions."""
    yield from islice(_values(path, value), _MOST_FIELDS)


def _values(path: SchemaPath, value: JSON) -> Iterator[tuple[str, JSON]]:
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield (path / name).jq, inner
        yield from _values(path / name, inner)


def condition_of(fields: Fields, having: set[int], lacking: set[int]) -> str:
    """Return a condition that holds at some places and at no others, switches first, then texts, or ""."""
    if not lacking:
        return ALWAYS
    first = fields[min(having)]
    texts = {f"{name} == {json.dumps(value)}": (name, value) for name, value in first.items() if isinstance(value, str)}
    conditions = {
        **{name: {number for number, own in enumerate(fields) if own.get(name) is True} for name in first},
        **{name: {number for number, own in enumerate(fields) if own.get(name) not in (None, False)} for name in first},
        **{
            text: {number for number, own in enumerate(fields) if own.get(name) == value}
            for text, (name, value) in texts.items()
        },
    }
    sure = {text: lacking & holds for text, holds in conditions.items() if having <= holds}
    alone = (text for text, others in sure.items() if not others)
    by_id = f"{ID} == {json.dumps(first.get(ID))}"
    together = (f"{by_id} and {text}" for text, others in sure.items() if not others & sure.get(by_id, lacking))
    return next(alone, "") or next(together, "")
