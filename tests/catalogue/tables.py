"""The tables of the catalogue: words, differences that several kinds have, and moments."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from docs.tools.facts import Answers, Beside, Words, facts_of
from karta_interpreter.base.k8s.values import GVK, JSON, Object

_HERE = Path(__file__).parent
_BESIDE: Final[tuple[Beside, ...]] = ("full", "short", "none")
_MADE_UP: Final = "MadeUp"
Table: TypeAlias = dict[str, Any]


def accepted(name: str) -> Any:
    """Return a table of differences whose reason several kinds share. That of one kind is in its facts."""
    return yaml.safe_load((_HERE / "differences" / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def moments() -> dict[str, Any]:
    """Return the rows of `moments/`, by the family and the case of each."""
    return {
        f"{path.stem}: {row['case']}": row
        for path in sorted((_HERE / "moments").glob("*.yaml"))
        for row in yaml.safe_load(path.read_text(encoding="utf-8"))
    }


def moments_of(gvk: GVK) -> list[Object]:
    """Return the objects of a kind in `moments/`."""
    return [row["object"] for row in moments().values() if GVK.of(row["object"]) == gvk]


def answered(words: Words) -> set[str]:
    """Return all words of a table of words, and those that it leaves out with a reason."""
    found = {*words.phases, *words.left_out}
    for name in words.conditions or ():
        found.update(name.split(" ", 2))
    return found


def questions(gvk: GVK) -> Iterator[tuple[str, Object, str]]:
    """Yield an object with each word of a kind beside each state of the counters, its name and the answer."""
    words = facts_of(gvk).words
    if words is None:
        return
    for word, status, answers in _words(words):
        for beside, answer in zip(_BESIDE, answers, strict=True):
            obj = patched(patched(words.object, words.beside.get(beside) or {}), status)
            assert isinstance(obj, dict)
            yield f"{word} beside {beside}", with_version(obj, gvk), answer


def _words(words: Words) -> Iterator[tuple[str, Object, Answers]]:
    if words.phase:
        phases = {**words.phases, _MADE_UP: words.made_up["phase"]}
        for word, answers in phases.items():
            yield word, _at(words.phase, word), answers
    if words.conditions is not None:
        conditions = {**words.conditions, f"{_MADE_UP} True {_MADE_UP}": words.made_up["condition"]}
        for word, answers in conditions.items():
            fields = dict(zip(("type", "status", "reason"), word.split(" ", 2), strict=False))
            yield word, _at(words.conditions_at, [fields]), answers


def _at(path: str, value: Any) -> Object:
    for name in reversed(path.strip(".").split(".")):
        value = {name: value}
    result: Object = value
    return result


def with_version(obj: Object, gvk: GVK) -> Object:
    """Return an object of a table as one of a version, with what every object has."""
    metadata = {"name": "it", "namespace": "n", **obj.get("metadata", {})}
    return {**obj, "apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}


def patched(value: JSON, patch: JSON, *, over: bool = True) -> JSON:
    """Return a value with the fields of a patch, or only with those that it lacks.

    Objects are merged, and lists of objects element by element: an element with a type or a name goes to the one with
    the same, any other one to that at its place.

    >>> patched({"a": 1, "b": [{"name": "x", "c": 1}]}, {"a": 2, "b": [{"name": "x", "d": 3}]}, over=False)
    {'a': 1, 'b': [{'name': 'x', 'c': 1, 'd': 3}]}
    """
    if isinstance(patch, dict) and (value is None or isinstance(value, dict)):
        result = dict(value or {})
        for name, part in patch.items():
            result[name] = patched(result.get(name), part, over=over)
        return result
    if isinstance(patch, list) and isinstance(value, list) and all(isinstance(part, dict) for part in [*patch, *value]):
        elements = list(value)
        for index, part in enumerate(patch):
            place = _place(elements, part, index)
            if place is None:
                elements.append(deepcopy(part))
            else:
                elements[place] = patched(elements[place], part, over=over)
        return elements
    if value is None or over:
        return deepcopy(patch)
    return value


def _place(elements: list[Any], part: Any, index: int) -> int | None:
    for key in ("type", "name"):
        if key in part:
            places = (place for place, element in enumerate(elements) if element.get(key) == part[key])
            return next(places, None)
    return index if index < len(elements) else None


def leaves(value: JSON, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], JSON]]:
    """Yield the values in an object that have no parts, each with its path."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value
