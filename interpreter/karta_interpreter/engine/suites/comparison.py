"""Compares an expected result with an answer as Karmada's harness does (``thirdparty_test.go``, ``deepEqual``).

Requirements, components and dependencies are compared by meaning: quantities by value, components and dependencies in
any order, absent like empty. Objects are compared field by field, except for values that the expectation marks with
`EXCLUDE`. Anything else must be the same JSON. Of an aggregated object only the status counts here. The harness
compares all of it, but Karmada takes nothing else from an answer.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.k8s import JSON, NOTHING, Path, Quantity, changes, field_path, get, set_value

Answer: TypeAlias = Mapping[str, JSON] | str
"""Results by name, or `SILENT`, or `ERROR` with a message."""
SILENT: Final = "not answered"
ERROR: Final = "error: "

EXCLUDE = "{{EXCLUDE}}"
"""An expected value that matches any answer, even a missing one."""

Normalise: TypeAlias = Callable[[JSON], JSON]


def differences(name: str, expected: JSON, actual: JSON) -> tuple[str, ...]:
    """Return each place at which a result differs from the expected one.

    >>> differences("requires", {"resourceRequest": {"cpu": "0.5"}}, {"resourceRequest": {"cpu": "500m"}})
    ()
    >>> differences("replica", 3, 4)
    ('replica: expected 3, got 4',)
    """
    return tuple(
        f"{field_path(difference.path)}: expected {_shown(difference.expected)}, got {_shown(difference.actual)}"
        for difference in compare(name, expected, actual)
    )


class Difference(NamedTuple):
    """A place at which two results differ. A side without the field has `NOTHING` there."""

    path: Path
    expected: JSON
    actual: JSON


def compare(name: str, expected: JSON, actual: JSON) -> Iterator[Difference]:
    """Yield each place at which a result differs from the expected one, in the compared form.

    >>> list(compare("replica", 3, 4))
    [Difference(path=('replica',), expected=3, actual=4)]
    """
    expected, actual = _normalised(name, expected, actual)
    if name == "components" and expected and actual and isinstance(expected, list) and isinstance(actual, list):
        expected, actual = _paired(expected, actual)
    for path, *values in sorted(changes(expected, actual, (name,)), key=attrgetter("path")):
        if values[0] != EXCLUDE:
            yield Difference(path, *map(_written, values))


def _paired(expected: list[Any], actual: list[Any]) -> tuple[Any, Any]:
    """Return components by their places. Those of one name have one place, and others that are else equal.

    >>> _paired([{"name": "a", "replicas": 1}], [{"name": "b", "replicas": 2}, {"name": "c", "replicas": 1}])
    ({0: {'name': 'a', 'replicas': 1}}, {0: {'name': 'c', 'replicas': 1}, 1: {'name': 'b', 'replicas': 2}})
    """
    before, after = dict(enumerate(expected)), dict[int, Any]()
    others = list(actual)
    for is_pair in (_have_one_name, _are_equal_but_for_names):
        for place, component in before.items():
            partner = next((other for other in others if is_pair(component, other)), None)
            if place not in after and partner is not None:
                after[place] = partner
                others.remove(partner)
    return before, after | dict(enumerate(others, len(expected)))


def _have_one_name(one: JSON, other: JSON) -> bool:
    return bool(get(one, ("name",)) == get(other, ("name",)))


def _are_equal_but_for_names(one: JSON, other: JSON) -> bool:
    return isinstance(one, dict) and isinstance(other, dict) and {**one, "name": ""} == {**other, "name": ""}


def compare_answers(before: Answer, after: Answer) -> Iterator[Difference]:
    """Yield each place at which two answers differ. Two errors are equal.

    >>> list(compare_answers(SILENT, {"replica": 1})), list(compare_answers("error: a", "error: b"))
    ([Difference(path=(), expected='not answered', actual={'replica': 1})], [])
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}):
            yield from compare(name, before.get(name), after.get(name))
        return
    if before != after and not (_is_error(before) and _is_error(after)):
        yield Difference((), *(answer if isinstance(answer, str) else dict(answer) for answer in (before, after)))


def _is_error(answer: Answer) -> bool:
    return isinstance(answer, str) and answer.startswith(ERROR)


def compared(name: str, expected: JSON, actual: JSON) -> tuple[JSON, JSON]:
    """Return an expectation and its result in the compared form, to show them side by side.

    >>> compared("requires", {"resourceRequest": {"cpu": "0.5"}}, {"resourceRequest": {"cpu": "250m"}})
    ({'resourceRequest': {'cpu': '500m'}}, {'resourceRequest': {'cpu': '250m'}})
    """
    expected, actual = _normalised(name, expected, actual)
    return _written(expected), _written(in_words_of(expected, actual))


def _normalised(name: str, expected: JSON, actual: JSON) -> tuple[JSON, JSON]:
    normalise = _NORMALISE.get(name)
    return (normalise(expected), normalise(actual)) if normalise else (expected, actual)


def in_words_of(expected: JSON, actual: JSON) -> JSON:
    """Return the answer, with the expectation's own value wherever the answer meets it or nothing is expected."""
    if expected == EXCLUDE:
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        excluded = {key: EXCLUDE for key, value in expected.items() if value == EXCLUDE}
        return excluded | {key: in_words_of(expected.get(key), value) for key, value in actual.items()}
    # In lists of different lengths it is unknown which elements correspond.
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [in_words_of(*pair) for pair in zip(expected, actual, strict=True)]
    return expected if _same(expected, actual) else actual


def result_in_words_of(name: str, expected: JSON, actual: JSON) -> JSON:
    """Return a result in the words of its expectation (as `in_words_of`) wherever both mean the same by `compare`.

    >>> result_in_words_of("requires", {"resourceRequest": {"cpu": "0.5"}}, {"resourceRequest": {"cpu": "500m"}})
    {'resourceRequest': {'cpu': '0.5'}}
    """
    if name in _IDENTITIES and isinstance(expected, list) and isinstance(actual, list):
        # The order is free, so elements are paired by identity, and keep the order of the expectation.
        by_identity = {_identity(name, element): element for element in expected}
        places = {identity: index for index, identity in enumerate(by_identity)}
        ordered = sorted(actual, key=lambda element: places.get(_identity(name, element), len(places)))
        return [_each_in_words_of(by_identity.get(_identity(name, element)), element) for element in ordered]
    if name in _NORMALISE:
        return _each_in_words_of(expected, actual)
    return in_words_of(expected, actual)


# The fields that distinguish the elements of a result.
_IDENTITIES: Final = {"components": ("name",), "dependencies": ("apiVersion", "kind", "namespace", "name")}


def _identity(name: str, element: JSON) -> tuple[str, ...]:
    return tuple(str(get(element, (field,))) for field in _IDENTITIES[name])


def _each_in_words_of(expected: JSON, actual: JSON) -> JSON:
    """Return requirements, or an element with requirements, in the expectation's words. Quantities count by value."""
    words = in_words_of(expected, actual)
    for path in (("resourceRequest",), ("replicaRequirements", "resourceRequest")):
        before, now = get(expected, path), get(words, path)
        if isinstance(before, dict) and isinstance(now, dict):
            amounts = {**now}
            for name in now.keys() & before.keys():
                if _same(_quantity(before[name]), _quantity(now[name])):
                    amounts[name] = before[name]
            words = set_value(words, path, amounts)
    return words


def _written(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_written(item) for item in value]
    return str(value) if isinstance(value, Quantity) else value


def _same(expected: JSON, actual: JSON) -> bool:
    # In Python True == 1, but not in JSON.
    return isinstance(expected, bool) == isinstance(actual, bool) and bool(expected == actual)


def _text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _shown(value: JSON) -> str:
    return "nothing" if value is NOTHING else _text(value)


def _requirements(value: JSON) -> JSON:
    request = value.get("resourceRequest") if isinstance(value, dict) else None
    if isinstance(request, dict):
        value = {**value, "resourceRequest": {name: _quantity(amount) for name, amount in request.items()}}
    return _without_empty(value)


def _quantity(value: JSON) -> JSON:
    with suppress(QuantityError):
        return Quantity.parse(value)
    return value


def _component(value: JSON) -> JSON:
    if not isinstance(value, dict):
        return value
    requirements = _requirements(value.get("replicaRequirements"))
    others = {key: item for key, item in value.items() if key != "replicaRequirements"}
    return {**others, "replicaRequirements": requirements} if requirements else others


def _without_empty(value: JSON) -> JSON:
    """Drop empty fields, which Go decodes into the same zero value as missing ones."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = ((key, _without_empty(item)) for key, item in value.items())
    return {key: item for key, item in kept if item not in (None, "", {}, [])} or None


def _status_alone(value: JSON) -> JSON:
    """Return the part of an aggregated object that Karmada reads: scripts may drop or add anything next to it."""
    if isinstance(value, dict) and "status" in value:
        return {"status": value["status"]}
    return {}


def _in_any_order(normalise: Normalise) -> Normalise:
    # Sorted by JSON text, because dicts have no order.
    return lambda value: sorted(map(normalise, value), key=_text) if isinstance(value, list) else value or []


_NORMALISE: dict[str, Normalise] = {
    "requires": _requirements,
    "aggregatedStatus": _status_alone,
    "components": _in_any_order(_component),
    "dependencies": _in_any_order(_without_empty),
}
