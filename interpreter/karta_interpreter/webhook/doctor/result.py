"""The result of a check, with advice."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


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
