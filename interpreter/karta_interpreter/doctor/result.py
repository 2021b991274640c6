"""What a check found, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_NAMED = 4


class Level(StrEnum):
    """How bad it is: a problem keeps Karmada from being answered, a warning may, or soon will."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a diagnosis; ``advice`` is empty where nothing has to be done."""

    level: Level
    check: str
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Result:
    """Something that is as it should be."""
    return Result(Level.OK, check, found)


def warning(check: str, found: str, advice: str) -> Result:
    """Something that deserves a second look."""
    return Result(Level.WARNING, check, found, advice)


def problem(check: str, found: str, advice: str) -> Result:
    """Something that keeps Karmada from being answered."""
    return Result(Level.PROBLEM, check, found, advice)


def listed(names: Iterable[object]) -> str:
    """Names in a sentence, not more than a reader wants.

    >>> listed(["a", "b"]), listed("abcdefg")
    ('a, b', 'a, b, c, d and 3 more')
    >>> listed(["v1, Kind=Pod", "batch/v1, Kind=Job"])
    'v1, Kind=Pod; batch/v1, Kind=Job'
    """
    texts = list(map(str, names))
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    separator = "; " if any("," in text for text in texts) else ", "
    return separator.join(texts[:_NAMED]) + more
