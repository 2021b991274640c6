"""The result of a check, with advice."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

_NAMED = 4


class Level(StrEnum):
    """Severity. A problem keeps Karmada from its answers. A warning may do so, or will soon."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of a diagnosis. ``advice`` is empty if nothing has to be done."""

    level: Level
    check: str
    found: str
    advice: str = ""


ok = partial(CheckResult, Level.OK)
warning = partial(CheckResult, Level.WARNING)
problem = partial(CheckResult, Level.PROBLEM)


def listed(names: Iterable[object]) -> str:
    """Return names for a sentence: the first four, and the number of the others.

    >>> listed(["a", "b"]), listed("abcdefg")
    ('a, b', 'a, b, c, d and 3 more')
    >>> listed(["v1, Kind=Pod", "batch/v1, Kind=Job"])
    'v1, Kind=Pod; batch/v1, Kind=Job'
    """
    texts = list(map(str, names))
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    separator = "; " if any("," in text for text in texts) else ", "
    return separator.join(texts[:_NAMED]) + more
