"""Measure the server as `serve` starts it compared with Karmada's example webhook, and write its pages.

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
from tests.proofs.benchmarks.report import fill_pages
from tests.proofs.benchmarks.rounds import QUICK, QUICKEST, REHEARSAL, THOROUGH
from tests.proofs.benchmarks.run import QUICK_SECTION, SECTIONS, Run
from tests.proofs.benchmarks.servers import cores, pin_to_clients_core
from tests.proofs.benchmarks.setting import setting

_CORES = 2
_BUSY = 0.5
_PAGES = Path("docs/performance.md"), Path("docs/developers/performance-figures.md")
_PLOTS = Path("docs/performance")
_BASELINE = Path(__file__).parent / "baseline.json"


def main() -> int:
    """Measure; write the pages and the baseline, or compare with the baseline. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small objects, few figures, and write nothing")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="measure ratios, and fail when one is worse; with --quick those to the floor alone, which needs no Go",
    )
    parser.add_argument("--stages", action="store_true", help="what a call costs by stage, and write nothing")
    parser.add_argument("--only", metavar="SECTION", choices=sorted(SECTIONS), nargs="+", help="and write nothing")
    parser.add_argument(
        "--rehearse", metavar="FOLDER", type=Path, help="the whole run in minutes, written into a folder"
    )
    options = parser.parse_args()
    if len(cores()) < _CORES:
        sys.exit("servers need one core and who asks them another one, on Linux: this cannot be measured here")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    needs_go = not options.stages and not (options.quick and options.compare)
    try:
        programs = build() if needs_go else None
    except BuildError as error:
        sys.exit(str(error))
    if not programs and needs_go:
        sys.stderr.write("There is no Go, so this server is measured alone, and nothing is written.\n")
    if (load := os.getloadavg()[0]) > _BUSY:
        sys.stderr.write(f"The load average is {load:.1f}: who else is busy here is measured, too.\n")
    if options.compare:
        return compare(programs, quick=options.quick)
    effort = QUICK if options.quick or options.stages else REHEARSAL if options.rehearse else THOROUGH
    if options.rehearse:
        options.rehearse.mkdir(parents=True, exist_ok=True)
    run = Run(effort)
    _measure(run, programs, ["floor", "stages"] if options.stages else options.only or list(SECTIONS))
    if effort.whole and programs and not options.only:
        _write(run, programs, options.rehearse)
    return run.exit_code


def _measure(run: Run, programs: Programs | None, names: list[str]) -> None:
    pin_to_clients_core()
    try:
        with tempfile.TemporaryDirectory() as folder, field(programs, Path(folder)) as runners:
            run.measure(runners, names)
    except MeasurementError as error:
        sys.exit(str(error))


def _write(run: Run, programs: Programs, folder: Path | None) -> None:
    """Write pages, plots and baseline to their places, or all into a folder."""
    drawn = can_draw()
    if drawn:
        draw(run.plots, folder / _PLOTS.name if folder else _PLOTS)
    else:
        sys.stderr.write("There is no matplotlib: the page gets no plots.\n")
    blocks = {"setting": setting(run.effort, programs), **run.blocks(with_plots=drawn)}
    for page, text in fill_pages({page: page.read_text() for page in _PAGES}, blocks).items():
        (folder / page.name if folder else page).write_text(text)
    if not run.exit_code:
        write_baseline(folder / _BASELINE.name if folder else _BASELINE, run.ratios)


def compare(programs: Programs | None, *, quick: bool = False) -> int:
    """Measure ratios; return 1 where all runs agree that one is worse than the tolerance allows, or is missing.

    There is no other run where nothing is worse; of two, or three where it is ``quick``.
    """
    baseline, found = read_baseline(_BASELINE, quick=quick), dict[str, float]()
    if not baseline:
        sys.exit("there is no baseline to compare with: `make bench` writes it")
    with_ratios = [name for name, section in SECTIONS.items() if section.gives_ratios and name != QUICK_SECTION]
    names = [QUICK_SECTION] if quick else with_ratios
    effort, runs = (QUICKEST, 3) if quick else (QUICK, 2)
    for number in range(runs):
        run = Run(effort)
        _measure(run, programs, names)
        found = better(found, run.ratios)
        fallen = falls(baseline, found)
        missing = unmeasured(baseline, found) if programs or quick else []
        if not fallen and not (quick and missing):
            break
        if number < runs - 1:
            worse = [fall.name for fall in fallen]
            sys.stderr.write(f"Measured once more: {'; '.join((*worse, *missing))}\n")
            names = names if quick else run.sections_of(worse)
    for fall in fallen:
        sys.stderr.write(f"{fall}\n")
    for name in missing:
        sys.stderr.write(f"{name}: not measured\n")
    if not fallen and not missing:
        sys.stderr.write(f"{len(found)} ratios are as good as in the baseline, within the tolerance.\n")
    return 1 if fallen or missing else 0


if __name__ == "__main__":
    sys.exit(main())
