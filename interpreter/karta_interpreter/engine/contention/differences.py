"""The fields in which what Karmada is about to write differs from what a member has."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.values import JSON, NOTHING, Object

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNCOMPARED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_LABELLING: Final = ("labels", "annotations")
_MOST: Final = 32
_LONGEST: Final = 256


class FieldDifference(NamedTuple):
    """A field of which Karmada is about to write ``ours`` where the member has ``theirs``; `NOTHING` is no field.

    ``field`` is a jq path without the indices of lists, so several elements may differ in one.
    """

    field: str
    ours: JSON
    theirs: JSON


_Pair: TypeAlias = tuple[str, JSON, JSON]


def differences(ours: Object, theirs: Object) -> list[FieldDifference]:
    """Return the first 32 differences that an update by Karmada could remove.

    Elements of lists are the same when their names are. Null is no field. What the API server owns, or Karmada takes
    over from the member, is left out.

    >>> [each.field for each in differences({"spec": {"a": [{"b": 1}], "c": 2}}, {"spec": {"a": [{"b": 2}]}})]
    ['.spec.a[].b', '.spec.c']
    """
    return list(islice(_differences(ours, theirs), _MOST))


def _differences(ours: Object, theirs: Object) -> Iterator[FieldDifference]:
    parts = [(name,) for name in dict.fromkeys([*ours, *theirs]) if name not in _UNCOMPARED]
    places = [*parts, *(("metadata", name) for name in _LABELLING)]
    pending = [("".join(map(_step, at)), get(ours, at, NOTHING), get(theirs, at, NOTHING)) for at in reversed(places)]
    while pending:
        field, old, new = pending.pop()
        if old is new or (_is_missing(old) and _is_missing(new)) or len(field) > _LONGEST:
            continue
        inner = None
        if isinstance(old, dict) and isinstance(new, dict):
            keys = dict.fromkeys([*old, *new])
            inner = [(field + _step(key), old.get(key, NOTHING), new.get(key, NOTHING)) for key in keys]
        elif isinstance(old, list) and isinstance(new, list):
            inner = _elements(f"{field}[]", old, new)
        if inner is not None:
            pending += reversed(inner)
        elif NOTHING in (old, new) or diff(old, new):
            yield FieldDifference(field, old, new)


def _elements(field: str, ours: list[JSON], theirs: list[JSON]) -> list[_Pair] | None:
    """Return the elements that belong together; None where the lists are to be compared as wholes."""
    old, new = _named(ours), _named(theirs)
    if old is not None and new is not None:
        if [name for name in old if name in new] != [name for name in new if name in old]:
            return None
        return [(field, old.get(name, NOTHING), new.get(name, NOTHING)) for name in dict.fromkeys([*old, *new])]
    if len(ours) == len(theirs) and all(isinstance(each, dict) for each in (*ours, *theirs)):
        return [(field, *pair) for pair in zip(ours, theirs, strict=True)]
    return None


def _named(elements: list[JSON]) -> dict[str, JSON] | None:
    """Return elements by their names, None where not each has one of its own."""
    names = [each.get("name") if isinstance(each, dict) else None for each in elements]
    found = {name: each for name, each in zip(names, elements, strict=True) if isinstance(name, str)}
    return found if len(found) == len(elements) else None


def _is_missing(value: JSON) -> bool:
    return value is NOTHING or value is None


def _step(key: str) -> str:
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"
