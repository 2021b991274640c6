"""Ratios of today compared with those of the baseline."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TOLERANCE = 0.2
"""How far a ratio may fall, as a share of what it was."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A ratio that is worse than it was by more than the tolerance; more is better."""

    name: str
    was: float
    now: float

    def __str__(self) -> str:
        lost = 100 * (1 - self.now / self.was)
        return f"{self.name}: {self.was:.2f} has become {self.now:.2f}, {lost:.0f} % less"


def falls(baseline: Mapping[str, float], found: Mapping[str, float]) -> list[Fall]:
    """Return what has fallen of the ratios that both sides have, in the order of the baseline."""
    return [
        Fall(name, was, found[name])
        for name, was in baseline.items()
        if name in found and found[name] < (1 - TOLERANCE) * was
    ]


def better(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return all ratios of both, the larger of two: a fall is believed when it is seen twice."""
    return {name: max(side[name] for side in (one, other) if name in side) for name in (*one, *other)}


def unmeasured(baseline: Mapping[str, float], found: Iterable[str]) -> list[str]:
    """Return the ratios of the baseline that were not measured now."""
    measured = set(found)
    return [name for name in baseline if name not in measured]


def read_baseline(file: Path) -> dict[str, float]:
    """Return the ratios of a file; an empty one when there is no file."""
    if not file.exists():
        return {}
    baseline: dict[str, float] = json.loads(file.read_text())
    return baseline


def write_baseline(file: Path, ratios: Mapping[str, float]) -> None:
    """Write ratios to a file."""
    rounded = {name: round(ratio, 2) for name, ratio in ratios.items()}
    file.write_text(json.dumps(rounded, indent=2, ensure_ascii=False) + "\n")
