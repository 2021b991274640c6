"""Attack the server as `serve` starts it, print what that did to others, and fail on a bound.

Each family of attacks has a server of its own. Beside it runs an idle control of the same build. A prober sends the
same innocent calls and health checks to both in the same seconds. Bounds are ratios to the control, so that a busy
machine does not fail them; an attack that misses one is tried once more.
"""

import argparse
import logging
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.audit import admission, connections, definitions, mutated, objects, overload, reloading, scripts
from tests.audit.bounds import bounds_of
from tests.audit.found import objections
from tests.audit.stage import Attack, Effort, Stage
from tests.audit.table import row, table
from tests.benchmarks.program import MeasurementError
from tests.benchmarks.servers import Server

ATTACKS: Final[dict[str, Attack]] = {
    "wire-bodies": mutated.BODIES,
    "wire-streams": mutated.STREAMS,
    "definitions-loaded": definitions.LOADED,
    "definitions-asked": definitions.ASKED,
    "definitions-beside": definitions.BESIDE,
    "scripts": scripts.ASKED,
    "objects": objects.SMALL,
    "objects-large": objects.LARGE,
    "admission": admission.BODIES,
    "admission-left": admission.LEFT,
    "connections-idle": connections.IDLE,
    "connections-slow": connections.SLOW,
    "connections-unfinished": connections.UNFINISHED,
    "overload": overload.CALLS,
    "scrapes": overload.SCRAPES,
    "reloads": reloading.RELOADS,
}
_AGAIN_UNTIL = 480.0
"""Seconds after which no attack is tried once more, so that all of it takes ten minutes."""
_SECONDS, _SOAK = 12.0, 120.0


class Audit:
    """Runs attacks, and keeps the rows of the table."""

    def __init__(self, stage: Stage, control: tuple[Server, int]) -> None:
        self._stage = stage
        self._control = control
        self._until = time.monotonic() + _AGAIN_UNTIL
        self.rows: list[list[str]] = []
        self.failed: list[str] = []

    def run(self, names: Sequence[str]) -> None:
        """Try each attack; what misses a bound once more, as long as there is time."""
        again = [name for name in names if not self._try(name)]
        for name in again:
            if time.monotonic() > self._until or not self._try(f"{name} again"):
                self.failed.append(name)

    def _try(self, title: str) -> bool:
        name, begun = title.partition(" ")[0], time.monotonic()
        try:
            found, waits, peak = self._stage.measure(name, ATTACKS[name], self._control)
        except (MeasurementError, OSError, ExceptionGroup) as error:
            sys.stderr.write(f"{title}: {_text(error)}\n")
            self.rows.append([title, *["-"] * 6, "not measured"])
            return False
        missed = objections(found, bounds_of(name))
        self.rows.append(row(title, found, waits, peak, len(missed)))
        figures = ", ".join(f"{figure} {value:.3g}" for figure, value in found.figures.items() if value)
        sys.stderr.write(f"{title}: {time.monotonic() - begun:.0f} s; {figures}\n")
        for text in missed:
            sys.stderr.write(f"  {text}\n")
        return not missed


def main() -> int:
    """Return the exit code: 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--only", metavar="NAME", choices=sorted(ATTACKS), nargs="+", help="these attacks")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="how long an attack lasts that has no end")
    parser.add_argument("--soak", type=float, default=_SOAK, help="seconds of reloading under traffic")
    parser.add_argument("--seed", type=int, default=1, help="of mutations")
    parser.add_argument(
        "--health-option", default="--health-port", metavar="--NAME", help="option of serve for the port of health"
    )
    options = parser.parse_args()
    if not hasattr(os, "sched_getaffinity"):
        sys.exit("the audit reads /proc: it runs on Linux only")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # which warns of each write to a client that was cut off
    _allow_files()
    effort = Effort(options.seconds, options.soak, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), effort, options.health_option)
        with stage.server("control") as control:
            audit = Audit(stage, control)
            audit.run(options.only or list(ATTACKS))
    sys.stdout.write(table(audit.rows))
    sys.stderr.write(f"missed: {', '.join(audit.failed)}\n" if audit.failed else "every bound is kept\n")
    return 1 if audit.failed else 0


def _allow_files() -> None:
    """Allow as many open files as there may be; servers inherit that."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _text(error: Exception) -> str:
    cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    return str(cause) or type(cause).__name__


if __name__ == "__main__":
    sys.exit(main())
