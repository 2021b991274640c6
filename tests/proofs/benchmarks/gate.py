"""What a call costs in floors, compared with what it cost when the baseline was written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

GROWTH: Final = 0.3
"""By how much a call may become dearer, as a share of the floors that it cost, which a busy machine makes vary."""

GROWTH_OF_INSTRUCTIONS: Final = 0.1
"""The same where instructions are counted. Builds of CPython differ by up to 12 % here, runs of one by none."""


def dearer(baseline: Mapping[str, float], found: Mapping[str, float], growth: float = GROWTH) -> list[str]:
    """Return a line for each call of the baseline that is too dear now, or was not measured."""
    return [
        f"{name}: {was:.2f} times the floor has become {found[name]:.2f}, {100 * (found[name] / was - 1):.0f} % more"
        if name in found
        else f"{name}: not measured"
        for name, was in baseline.items()
        if name not in found or found[name] > (1 + growth) * was
    ]


def cheaper(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return the smaller figure of two measurements: a call is dearer when all of them agree on it."""
    return {name: min(side[name] for side in (one, other) if name in side) for name in (*one, *other)}


def read_baseline(file: Path) -> dict[str, float]:
    """Return the figures of a file."""
    baseline: dict[str, float] = json.loads(file.read_text())
    return baseline


def write_baseline(file: Path, floors: Mapping[str, float]) -> None:
    """Write figures to a file, with three digits that count."""
    file.write_text(json.dumps({name: float(f"{times:.3g}") for name, times in floors.items()}, indent=2) + "\n")
