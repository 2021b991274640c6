"""Measure the server as `serve` starts it compared with Karmada's example webhook, and write docs/performance.md.

Servers run on one core and whoever asks them on another. All cases take turns, round after round, and each figure is
the median of its rounds. Processor time is what the operating system accounts to the server and all that it started.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.proofs.benchmarks.comparison import better, falls, read_baseline, unmeasured, write_baseline
from tests.proofs.benchmarks.field import field
from tests.proofs.benchmarks.golang import BuildError, Programs, build
from tests.proofs.benchmarks.plots import can_draw, draw
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import fill
from tests.proofs.benchmarks.rounds import QUICK, THOROUGH
from tests.proofs.benchmarks.run import SECTIONS, Run
from tests.proofs.benchmarks.servers import cores, pin_to_clients_core
from tests.proofs.benchmarks.setting import setting

_CORES = 2
_BUSY = 0.5
_PAGE = Path("docs/performance.md")
_PLOTS = Path("docs/performance")
_BASELINE = Path(__file__).parent / "baseline.json"


def main() -> int:
    """Measure; write the page and the baseline, or compare with the baseline. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small objects, few figures, and write nothing")
    parser.add_argument("--compare", action="store_true", help="measure ratios, and fail when one has fallen")
    parser.add_argument("--stages", action="store_true", help="what a call costs by stage, and write nothing")
    parser.add_argument("--only", metavar="SECTION", choices=sorted(SECTIONS), nargs="+", help="and write nothing")
    options = parser.parse_args()
    if len(cores()) < _CORES:
        sys.exit("servers need one core and who asks them another one, on Linux: this cannot be measured here")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        programs = None if options.stages else build()
    except BuildError as error:
        sys.exit(str(error))
    if not programs and not options.stages:
        sys.stderr.write("There is no Go, so this server is measured alone, and nothing is written.\n")
    if (load := os.getloadavg()[0]) > _BUSY:
        sys.stderr.write(f"The load average is {load:.1f}: who else is busy here is measured, too.\n")
    if options.compare:
        return compare(programs)
    effort = QUICK if options.quick or options.stages else THOROUGH
    run = Run(effort)
    _measure(run, programs, ["stages"] if options.stages else options.only or list(SECTIONS))
    if effort.whole and programs and not options.only:
        _write(run, programs)
    return run.exit_code


def _measure(run: Run, programs: Programs | None, names: list[str]) -> None:
    pin_to_clients_core()
    try:
        with tempfile.TemporaryDirectory() as folder, field(programs, Path(folder)) as runners:
            run.measure(runners, names)
    except MeasurementError as error:
        sys.exit(str(error))


def _write(run: Run, programs: Programs) -> None:
    drawn = can_draw()
    if drawn:
        draw(run.plots, _PLOTS)
    else:
        sys.stderr.write("There is no matplotlib: the page gets no plots.\n")
    blocks = {"setting": setting(run.effort, programs), **run.blocks(with_plots=drawn)}
    _PAGE.write_text(fill(_PAGE.read_text(), blocks))
    if not run.exit_code:
        write_baseline(_BASELINE, run.ratios)


def compare(programs: Programs | None) -> int:
    """Measure ratios; return 1 when one is below the baseline by more than the tolerance, twice, or is missing."""
    baseline = read_baseline(_BASELINE)
    if not baseline:
        sys.exit("there is no baseline to compare with: `make bench` writes it")
    run = Run(QUICK)
    _measure(run, programs, [name for name, section in SECTIONS.items() if section.gives_ratios])
    found = run.ratios
    if fallen := falls(baseline, found):
        names = [fall.name for fall in fallen]
        sys.stderr.write(f"Measured once more: {'; '.join(names)}\n")
        again = Run(QUICK)
        _measure(again, programs, run.sections_of(names))
        found = better(found, again.ratios)
    fallen = falls(baseline, found)
    missing = unmeasured(baseline, found) if programs else []
    for fall in fallen:
        sys.stderr.write(f"{fall}\n")
    for name in missing:
        sys.stderr.write(f"{name}: not measured\n")
    if not fallen and not missing:
        sys.stderr.write(f"{len(found)} ratios are no more than a fifth below the baseline, or above it.\n")
    return 1 if fallen or missing else 0


if __name__ == "__main__":
    sys.exit(main())
