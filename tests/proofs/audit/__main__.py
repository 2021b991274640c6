"""Attack the server as `serve` starts it, print what that did to others, and fail on a bound.

Each family of attacks has a server of its own. Beside it runs an idle control of the same build. A prober sends the
same innocent calls and health checks to both in the same seconds. Waits are compared with those of the control, so that
a busy machine does not fail them; an attack that misses a bound is tried once more.
"""

import argparse
import logging
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.proofs.audit import (
    admission,
    bodies,
    children,
    clock,
    connections,
    definitions,
    families,
    objects,
    overload,
    references,
    reloading,
    scripts,
    soak,
    workload_types,
)
from tests.proofs.audit.attack import Attack, Effort
from tests.proofs.audit.bounds import TURN, bounds_of
from tests.proofs.audit.found import objections
from tests.proofs.audit.stage import Stage, Trial
from tests.proofs.audit.table import HEADS, row
from tests.proofs.benchmarks.report import table
from tests.proofs.benchmarks.servers import Server

_SOAK: Final = "soak"
ATTACKS: Final[dict[str, Attack]] = {
    "bodies-webhook": bodies.WEBHOOK,
    "bodies-reviews": bodies.REVIEWS,
    "bodies-types": bodies.TYPES,
    "definitions-loaded": definitions.LOADED,
    "definitions-asked": definitions.ASKED,
    "definitions-beside": definitions.BESIDE,
    "definitions-six": definitions.SIX,
    "definitions-twelve": definitions.TWELVE,
    "families-loaded": families.LOADED,
    "families-registered": families.REGISTERED,
    "scripts": scripts.ASKED,
    "scripts-results": scripts.RESULTS,
    "objects": objects.SMALL,
    "objects-large": objects.LARGE,
    "children": children.ALL,
    "kartas-come": references.KARTAS,
    "references-large": references.CONFIGS,
    "references-many": references.LISTS,
    "references-deleted": references.DELETED,
    "admission": admission.BODIES,
    "admission-left": admission.LEFT,
    "types-pages": workload_types.PAGES,
    "types-many": workload_types.MANY,
    "connections-idle": connections.IDLE,
    "connections-slow": connections.SLOW,
    "unfinished-webhook": connections.WEBHOOK,
    "unfinished-reviews": connections.REVIEWS,
    "unfinished-types": connections.TYPES,
    "overload": overload.CALLS,
    "scrapes": overload.SCRAPES,
    "clock": clock.JUMPS,
    "reloads": reloading.RELOADS,
    "reloads-asked": reloading.ASKED,
    **reloading.MANY,
    _SOAK: soak.SOAK,
}
_AGAIN_UNTIL = 720.0
"""Seconds after which no attack is tried once more."""
_SECONDS, _RELOADING, _LOOKED_EVERY = 6.0, 60.0, 0.5


class Audit:
    """Runs attacks, and keeps the rows of the table."""

    def __init__(self, stage: Stage, control: tuple[Server, int]) -> None:
        self._stage = stage
        self._control = control
        self._until = time.monotonic() + _AGAIN_UNTIL
        self._settling: list[Trial] = []
        self.rows: list[list[str]] = []
        self.failed: list[str] = []

    def run(self, names: Sequence[str]) -> None:
        """Try each attack; what misses a bound once more, as long as there is time."""
        again = self._try_all([(name, name) for name in names])
        in_time = [name for name in again if time.monotonic() < self._until]
        failed = self._try_all([(f"{name} again", name) for name in in_time])
        self.failed = [name for name in again if name in failed or name not in in_time]

    def _try_all(self, titles: Iterable[tuple[str, str]]) -> list[str]:
        """Try attacks; return the names of those that miss a bound. Servers settle while others are attacked."""
        failed = []
        for title, name in titles:
            if lack := ATTACKS[name].lacks():
                sys.stderr.write(f"{title} is skipped: {lack}\n")
                continue
            try:
                begun = time.monotonic()
                self._settling.append(self._stage.measure(title, name, ATTACKS[name], self._control))
                sys.stderr.write(f"{title}: {time.monotonic() - begun:.0f} s\n")
            except Exception as error:  # noqa: BLE001 - a server that was killed makes any figure impossible
                self._note_unmeasured(title, error)
                failed.append(name)
            failed += self._judge()
        while self._settling:
            failed += self._judge()
            time.sleep(_LOOKED_EVERY)
        return failed

    def _judge(self) -> list[str]:
        """Judge the attacks whose servers have settled; return the names of those that miss a bound."""
        failed, settling = [], self._settling
        self._settling = []
        for trial in settling:
            try:
                if not trial.settle():
                    self._settling.append(trial)
                elif self._misses(trial):
                    failed.append(trial.name)
            except Exception as error:  # noqa: BLE001 - as above
                self._note_unmeasured(trial.title, error)
                failed.append(trial.name)
        return failed

    def _note_unmeasured(self, title: str, error: Exception) -> None:
        sys.stderr.write(f"{title}: {_text(error)}\n")
        self.rows.append([title, *["-"] * 6, "not measured"])

    def _misses(self, trial: Trial) -> bool:
        bounds = (TURN,) if self._stage.metered else bounds_of(trial.name)
        missed = objections(trial.found, bounds)
        self.rows.append(row(trial.title, trial.found, trial.waits, trial.peak, len(missed)))
        figures = ", ".join(f"{figure} {value:.3g}" for figure, value in trial.found.figures.items() if value)
        sys.stderr.write(f"{trial.title}: {figures}\n")
        for text in missed:
            sys.stderr.write(f"  {text}\n")
        return bool(missed)

    def close(self) -> None:
        """Stop the servers that settle."""
        for trial in self._settling:
            trial.ending.close()


def main() -> int:
    """Return the exit code: 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.audit", description=__doc__)
    parser.add_argument("--only", metavar="NAME", choices=sorted(ATTACKS), nargs="+", help="these attacks")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="how long an attack lasts that has no end")
    parser.add_argument("--reloading", type=float, default=_RELOADING, help="seconds of reloading under traffic")
    parser.add_argument("--soak", metavar="MINUTES", type=float, help="instead of attacks, 70 %% of a core for so long")
    parser.add_argument("--turns", action="store_true", help="judge the processor time of turns of the loop instead")
    parser.add_argument("--seed", type=int, default=1, help="of the order of bodies")
    options = parser.parse_args()
    if not hasattr(os, "sched_getaffinity"):
        sys.exit("the audit reads /proc: it runs on Linux only")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # which warns of each write to a client that was cut off
    _allow_files()
    effort = Effort(options.seconds, options.reloading, 60 * (options.soak or 0), options.seed)
    names = [_SOAK] if options.soak else options.only or [name for name in ATTACKS if name != _SOAK]
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), effort, metered=options.turns)
        with stage.server("control") as control, closing(Audit(stage, control)) as audit:
            audit.run(names)
    sys.stdout.write(table(HEADS, audit.rows))
    sys.stderr.write(f"missed: {', '.join(audit.failed)}\n" if audit.failed else "every bound is kept\n")
    return 1 if audit.failed else 0


def _allow_files() -> None:
    """Allow as many open files as there may be; servers inherit that."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _text(error: Exception) -> str:
    cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    return f"{type(cause).__name__}: {cause}"


if __name__ == "__main__":
    sys.exit(main())
