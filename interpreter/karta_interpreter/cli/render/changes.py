"""What differs between two versions of an object."""

import json
from collections.abc import Iterator
from typing import Final

from karta_interpreter.findings import format_path
from karta_interpreter.k8s.values import JSON, Object, Path

_ABSENT: Final = object()
_MAX_WIDTH = 60


def changes(before: JSON, after: JSON) -> list[str]:
    """One line for each place that differs, in the order of keys; none when nothing does.

    >>> changes({"spec": {"replicas": 3}}, {"spec": {"replicas": 5, "paused": True}})
    ['spec.paused: true (new)', 'spec.replicas: 3 -> 5']
    """
    return list(_changes((), before, after))


def short(value: JSON) -> str:
    """A value in one line, cut where it gets long; conditions as their types and statuses.

    >>> short({"a": [1, "b"]})
    '{"a": [1, "b"]}'
    >>> short([{"type": "Ready", "status": "True"}, {"type": "Paused", "status": "False"}])
    'Ready=True, Paused=False'
    """
    if _are_conditions(value):
        return ", ".join(f"{condition['type']}={condition['status']}" for condition in value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 3]}..."


def _are_conditions(value: JSON) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and each.keys() >= {"type", "status"} for each in value)
    )


def _changes(path: Path, before: JSON, after: JSON) -> Iterator[str]:
    if before is after:
        return
    old, new = _fields(before), _fields(after)
    if old is not None and new is not None and (old or new):
        for key in sorted(old.keys() | new.keys()):
            yield from _changes((*path, key), old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _changes((*path, index), left, right)
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield f"{format_path(path)}: {_change(before, after)}"


def _fields(value: JSON) -> Object | None:
    """The fields of an object, none of one that is not there, None for what is no object."""
    if value is _ABSENT:
        return {}
    return value if isinstance(value, dict) else None


def _change(before: JSON, after: JSON) -> str:
    if before is _ABSENT:
        return f"{short(after)} (new)"
    if after is _ABSENT:
        return f"{short(before)} (removed)"
    return f"{short(before)} -> {short(after)}"
