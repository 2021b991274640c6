"""One run over the sections, and what it has found."""

import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

from tests.proofs.benchmarks.client import client, scripts
from tests.proofs.benchmarks.core import core
from tests.proofs.benchmarks.day import day
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.floor_ratio import floor_ratio, quick_floor_ratio
from tests.proofs.benchmarks.growth import definitions, managed_fields
from tests.proofs.benchmarks.lifecycle import memory, reload, start
from tests.proofs.benchmarks.operations import operations, special
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, Plot, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.stages import parts, stages
from tests.proofs.benchmarks.waiting import new_connections, waiting


@dataclass(frozen=True, slots=True)
class Section:
    """What is measured together, and the places of the page that it fills; some give ratios."""

    measure: Callable[[Field, Effort], Part]
    places: tuple[str, ...]
    gives_ratios: bool = True


QUICK_SECTION: Final = "quick-floor"
"""What the quick comparison measures, and no other one."""

SECTIONS: Final[dict[str, Section]] = {
    "operations": Section(operations, ("summary", "operations", "kinds", "capacity")),
    "day": Section(day, ("day",)),
    "floor": Section(floor_ratio, ("floor",)),
    QUICK_SECTION: Section(quick_floor_ratio, ()),
    "stages": Section(stages, ("stages",), gives_ratios=False),
    "parts": Section(parts, ("parts",), gives_ratios=False),
    "special": Section(special, ("special",), gives_ratios=False),
    "waiting": Section(waiting, ("waiting",)),
    "connections": Section(new_connections, ("connections",)),
    "core": Section(core, ("core",)),
    "scripts": Section(scripts, ("scripts",)),
    "client": Section(client, ("client",)),
    "definitions": Section(definitions, ("definitions",)),
    "managed-fields": Section(managed_fields, ("managed-fields",), gives_ratios=False),
    "start": Section(start, ("start",), gives_ratios=False),
    "reload": Section(reload, ("reload",), gives_ratios=False),
    "memory": Section(memory, ("memory",), gives_ratios=False),
}


class _OutOfTime(BaseException):
    """The run has taken longer than it may; like KeyboardInterrupt, it is nobody's to catch on the way."""


class Run:
    """Measures sections, and goes on where one of them cannot be measured."""

    def __init__(self, effort: Effort) -> None:
        self.effort: Final = effort
        self._parts: dict[str, Part] = {}
        self._failures: dict[str, str] = {}

    @property
    def exit_code(self) -> int:
        """1 when something could not be measured."""
        return 1 if self._failures else 0

    @property
    def ratios(self) -> dict[str, float]:
        """All ratios by name; more is better."""
        return {name: ratio for part in self._parts.values() for name, ratio in part.ratios.items()}

    @property
    def plots(self) -> list[Plot]:
        """All plots."""
        return [plot for part in self._parts.values() for plot in part.plots]

    def blocks(self, *, with_plots: bool) -> dict[str, str]:
        """Return the texts for the page, what could not be measured among them."""
        found = {
            place: f"This could not be measured: {why}.\n"
            for name, why in self._failures.items()
            for place in SECTIONS[name].places
        }
        for part in self._parts.values():
            found |= part.blocks if with_plots else part.texts
        if self.ratios:
            found["ratios"] = ratio_table(self.ratios)
        lines = [f"- {line}\n" for part in self._parts.values() for line in part.conclusions]
        return found | ({"conclusions": "".join(lines)} if lines else {})

    def sections_of(self, ratios: Iterable[str]) -> list[str]:
        """Return the sections that have given some ratios."""
        wanted = set(ratios)
        return [name for name, part in self._parts.items() if wanted & part.ratios.keys()]

    def measure(self, field: Field, names: Sequence[str]) -> None:
        """Measure these sections, print what they find, and stop when the time is over."""
        try:
            with _limit(self.effort.limit):
                for name in names:
                    self._measure(field, name)
        except _OutOfTime:
            for name in names:
                if name not in self._parts and name not in self._failures:
                    self._fail(name, f"the {self.effort.limit} s of this run were over")
        if self.ratios:
            sys.stdout.write(f"\n## ratios\n\n{ratio_table(self.ratios)}")

    def _measure(self, field: Field, name: str) -> None:
        begun = time.monotonic()
        try:
            part = self._parts[name] = SECTIONS[name].measure(field, self.effort)
        except MeasurementError as error:
            self._fail(name, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a run of minutes is not lost because one section has a defect
            traceback.print_exc()
            self._fail(name, f"{type(error).__name__}")
            return
        for place, text in part.texts.items():
            sys.stdout.write(f"\n## {place}\n\n{text}")
        sys.stdout.flush()
        sys.stderr.write(f"{name}: {time.monotonic() - begun:.0f} s\n")

    def _fail(self, name: str, why: str) -> None:
        self._failures[name] = why
        sys.stderr.write(f"{name} could not be measured: {why}\n")


def ratio_table(ratios: dict[str, float]) -> str:
    """Return the table of ratios."""
    return table(("ratio, more is better", ""), [(name, f"{ratio:.2f}") for name, ratio in ratios.items()])


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """Raise _OutOfTime inside of the block when it takes longer."""

    def stop(_: int, __: FrameType | None) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
