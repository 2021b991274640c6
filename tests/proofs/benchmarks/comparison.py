"""Ratios of today compared with those of the baseline."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FLOOR: Final = "floor, "
"""Begins the name of a ratio of the floor to this server."""
QUICK_FLOOR: Final = "quick floor, "
"""Begins the name of the same where the load is in Python."""
_GROWTH: Final = {FLOOR: 0.1, QUICK_FLOOR: 0.25}
"""By how much this server may become dearer, as a share of what it was in floors."""
_TOLERANCE: Final = 0.2
"""How far any other ratio may fall, as a share of what it was."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A ratio that is worse than it was by more than the tolerance; more is better."""

    name: str
    was: float
    now: float

    def __str__(self) -> str:
        if self.name.startswith(tuple(_GROWTH)):
            more = 100 * (self.was / self.now - 1)
            return f"{self.name}: {1 / self.was:.2f} times the floor has become {1 / self.now:.2f}, {more:.0f} % more"
        lost = 100 * (1 - self.now / self.was)
        return f"{self.name}: {self.was:.2f} has become {self.now:.2f}, {lost:.0f} % less"


def falls(baseline: Mapping[str, float], found: Mapping[str, float]) -> list[Fall]:
    """Return what has fallen of the ratios that both sides have, in the order of the baseline."""
    return [
        Fall(name, was, found[name])
        for name, was in baseline.items()
        if name in found and found[name] < _least_allowed(name) * was
    ]


def better(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return all ratios of both, the larger of two: a fall is believed when all measurements agree on it."""
    return {name: max(side[name] for side in (one, other) if name in side) for name in (*one, *other)}


def unmeasured(baseline: Mapping[str, float], found: Iterable[str]) -> list[str]:
    """Return the ratios of the baseline that were not measured now."""
    measured = set(found)
    return [name for name in baseline if name not in measured]


def read_baseline(file: Path, *, quick: bool) -> dict[str, float]:
    """Return the ratios of a file, those of the quick comparison or all others; none when there is no file."""
    if not file.exists():
        return {}
    baseline: dict[str, float] = json.loads(file.read_text())
    return {name: ratio for name, ratio in baseline.items() if name.startswith(QUICK_FLOOR) is quick}


def write_baseline(file: Path, ratios: Mapping[str, float]) -> None:
    """Write ratios to a file, with four digits that count."""
    rounded = {name: float(f"{ratio:.4g}") for name, ratio in ratios.items()}
    file.write_text(json.dumps(rounded, indent=2, ensure_ascii=False) + "\n")


def _least_allowed(name: str) -> float:
    return next((1 / (1 + more) for prefix, more in _GROWTH.items() if name.startswith(prefix)), 1 - _TOLERANCE)
