"""Unions of a template's values with those that only the member has."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from typing import TypeAlias

from karta_interpreter.errors import QuantityError
from karta_interpreter.k8s.quantity import Quantity
from karta_interpreter.k8s.values import JSON

Key: TypeAlias = Callable[[JSON], str]


def filled(ours: JSON, theirs: JSON) -> JSON:
    """Return the template's value; the member's stands where the template has none, also inside of objects.

    >>> filled({"disk": "nvme", "pool": None}, {"disk": "hdd", "pool": "a100"})
    {'disk': 'nvme', 'pool': 'a100'}
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**theirs, **{key: filled(value, theirs.get(key)) for key, value in ours.items()}}
    return theirs if ours is None else ours


def united(ours: JSON, theirs: JSON, key: Key, is_kept: Callable[[JSON], bool] = lambda _: True) -> JSON:
    """Return the elements of both lists, those with the same key filled: first the member's, then what is new.

    So a list to which the member has added stays in its order. Elements of the member that are not kept are only the
    template's.

    >>> united([{"key": "gpu"}, {"key": "new"}], [{"key": "spot"}, {"key": "gpu"}], identity)
    [{'key': 'spot'}, {'key': 'gpu'}, {'key': 'new'}]
    """
    if not isinstance(theirs, list) or not isinstance(ours, list | None):
        return filled(ours, theirs)
    ours = ours or []
    waiting = _places(ours, key)
    found: list[JSON] = []
    for element in theirs:
        same = waiting.get(key(element))
        our = ours[same.pop(0)] if same else None
        if is_kept(element):
            found.append(filled(our, element))
        elif our is not None:
            found.append(our)
    return [*found, *(ours[index] for index in sorted(chain.from_iterable(waiting.values())))]


def respelled(ours: JSON, theirs: JSON) -> JSON:
    """Return the template's value with the member's spelling of quantities that are equal.

    >>> respelled({"cpu": 1, "memory": "2Gi"}, {"cpu": "1", "memory": "1Gi"})
    {'cpu': '1', 'memory': '2Gi'}
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: respelled(value, theirs.get(key)) for key, value in ours.items()}
    if {type(ours), type(theirs)} <= {str, int, float}:
        with suppress(QuantityError):
            return theirs if Quantity.parse(ours) == Quantity.parse(theirs) else ours
    return ours


def identity(value: JSON) -> str:
    """Return a key that only equal values have."""
    return json.dumps(value, sort_keys=True)


def _places(elements: Iterable[JSON], key: Key) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for index, element in enumerate(elements):
        grouped.setdefault(key(element), []).append(index)
    return grouped
