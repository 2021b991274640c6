"""When an answer is what upstream expects: ``deepEqual`` of ``thirdparty_test.go``, on JSON.

Requirements, components and dependencies are compared as the Go types that they decode into: an empty field is none,
quantities compare by value, components and dependencies in any order. Of objects, what the expectation marks with
`EXCLUDE` is left out of both. Everything else has to be the same JSON.
"""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping

from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.base.k8s.values import JSON

EXCLUDE = "{{EXCLUDE}}"

_OBJECTS = frozenset({"retained", "revised", "aggregatedStatus"})
# Fields of these Go types that are no plain values: an empty pointer target is something, a map keeps empty values.
_POINTERS = frozenset({"nodeClaim", "hardNodeAffinity", "replicaRequirements", "tolerationSeconds", "labelSelector"})
_MAPS = frozenset({"nodeSelector", "matchLabels"})


def disagreement(expected: Mapping[str, JSON], results: Mapping[str, JSON]) -> str:
    """Say where results differ from the expected ones, as a diff; nothing when they do not.

    Only the expected names are compared, and each of them must be there.
    """
    return "\n".join(line for name in sorted(expected) for line in _lines(name, expected[name], results))


def _lines(name: str, expected: JSON, results: Mapping[str, JSON]) -> Iterator[str]:
    if name not in results:
        yield f"{name} is missing from the results"
        return
    wanted, found = _comparable(name, expected, results[name])
    if not same(wanted, found):
        yield from diff(name, wanted, found)


def same(one: JSON, other: JSON) -> bool:
    """Whether two values are the same JSON; Python alone would take true for 1.

    >>> same({"a": [1]}, {"a": [1.0]}), same([True], [1])
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def diff(name: str, wanted: JSON, found: JSON) -> Iterator[str]:
    """Give a unified diff of two values as text."""
    texts = (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str) for value in (wanted, found))
    one, other = (text.splitlines() for text in texts)
    return difflib.unified_diff(one, other, f"{name} expected", f"{name} answered", lineterm="")


def _comparable(name: str, expected: JSON, found: JSON) -> tuple[JSON, JSON]:
    if name in _OBJECTS:
        paths = frozenset(_excluded(expected, ()))
        return _without(expected, paths, ()), _without(found, paths, ())
    decode = _DECODE.get(name)
    return (decode(expected), decode(found)) if decode else (expected, found)


def _excluded(value: JSON, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if value == EXCLUDE:
        yield path
    for key, item in _entries(value):
        yield from _excluded(item, (*path, key))


def _without(value: JSON, paths: frozenset[tuple[str, ...]], path: tuple[str, ...]) -> JSON:
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if (*path, key) not in paths}
        return {key: _without(item, paths, (*path, key)) for key, item in kept.items()}
    if isinstance(value, list):
        return [_without(item, paths, (*path, str(index))) for index, item in enumerate(value)]
    return value


def _entries(value: JSON) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, dict):
        yield from value.items()
    if isinstance(value, list):
        yield from ((str(index), item) for index, item in enumerate(value))


def _typed(value: JSON) -> JSON:
    """Drop the fields that hold Go's zero value, as absent ones do."""
    if isinstance(value, dict):
        fields = {key: _field(key, item) for key, item in value.items()}
        return {key: item for key, item in fields.items() if item is not None}
    return [_typed(item) for item in value] if isinstance(value, list) else value


def _field(key: str, value: JSON) -> JSON:
    if key in _POINTERS:
        return _typed(value)
    if key == "resourceRequest" and value:
        return {name: Quantity.parse(amount) for name, amount in value.items()}
    kept = value if key in _MAPS else _typed(value)
    return kept or None


def _sorted(values: JSON) -> JSON:
    return sorted((_typed(value) for value in values or ()), key=lambda value: json.dumps(value, default=str))


_DECODE: Mapping[str, Callable[[JSON], JSON]] = {
    "requires": _typed,
    "components": _sorted,
    "dependencies": _sorted,
}
