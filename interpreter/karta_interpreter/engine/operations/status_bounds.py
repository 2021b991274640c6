"""The bounds of a status that a member reports: beyond them, nobody could store the answer that has it."""

from typing import Final

from karta_interpreter.base.k8s import JSON, Path, field_path, parts_of

MOST_LEVELS: Final = 100
"""Levels of objects and lists in a field of a status. Operators write ten, and an answer of 254 cannot be encoded."""
LEAST_NUMBER: Final = -(2**63)
LARGEST_NUMBER: Final = 2**63 - 1
"""API servers read larger integers as floating-point numbers, which no CRD accepts as integers."""
_LONGEST_PATH: Final = 8
"""Steps of a path that are shown of a value too far inside."""


def beyond_bounds(status: JSON) -> str:
    """Return what of a status is beyond the bounds, "" if nothing is.

    >>> beyond_bounds({"replicas": 2**63})
    'status.replicas is a number of more than 64 bits'
    """
    pending: list[tuple[Path, JSON]] = [(("status",), status)]
    while pending:
        path, value = pending.pop()
        if len(path) > MOST_LEVELS + 1:
            return f"{field_path(path[:_LONGEST_PATH])} is nested more than {MOST_LEVELS} levels deep"
        for step, below in parts_of(value):
            if type(below) in (int, float) and not LEAST_NUMBER <= below <= LARGEST_NUMBER:
                return f"{field_path((*path, step))} is a number of more than 64 bits"
            if isinstance(below, dict | list):
                pending.append(((*path, step), below))
    return ""
