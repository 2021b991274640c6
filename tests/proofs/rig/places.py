"""Places in an object, as the keys and indices that lead there."""

from typing import Any

Place = tuple[str | int, ...]


def at(thing: Any, place: Place) -> Any:
    """Return what stands at a place, or None.

    >>> at({"spec": {"jobs": [{"replicas": 3}]}}, ("spec", "jobs", 0, "replicas"))
    3
    """
    for step in place:
        thing = (thing or {}).get(step) if isinstance(step, str) else thing[step]
    return thing


def put(thing: Any, place: Place, value: Any) -> Any:
    """Return a copy in which ``value`` stands at a place.

    >>> put({"spec": {"jobs": [{"replicas": 3}]}}, ("spec", "jobs", 0, "replicas"), 4)
    {'spec': {'jobs': [{'replicas': 4}]}}
    """
    if not place:
        return value
    step, rest = place[0], place[1:]
    if isinstance(step, str):
        return {**(thing or {}), step: put((thing or {}).get(step), rest, value)}
    return [put(item, rest, value) if index == step else item for index, item in enumerate(thing)]
