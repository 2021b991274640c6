"""Measure what the calls of a recorded day cost the server as `serve` starts it, and write the pages.

Servers run on one core and whoever calls them on another one. They take turns, round after round, and each figure is
the median of its rounds. Processor time is what the operating system accounts to the server and all that it started.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tests.proofs.benchmarks.field import Field, field
from tests.proofs.benchmarks.first_answers import counted_first
from tests.proofs.benchmarks.first_calls import longest_waits, too_long
from tests.proofs.benchmarks.fleet import paired, quick
from tests.proofs.benchmarks.gate import GROWTH_OF_INSTRUCTIONS, cheaper, dearer, read_baseline, write_baseline
from tests.proofs.benchmarks.golang import build
from tests.proofs.benchmarks.instructions import PYTHON, counted
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import HEADLINE, fill_pages
from tests.proofs.benchmarks.rounds import QUICK, REHEARSAL, THOROUGH
from tests.proofs.benchmarks.run import SECTIONS, Results, run
from tests.proofs.benchmarks.servers import ROOT, Bay, cores, pin_to_clients_core
from tests.proofs.benchmarks.setting import setting
from tests.proofs.rig.toolchain import BuildError

_CORES = 2
_BUSY = 0.5
_TRIES = 3
_MOST_THAN_BEFORE = 1.1
PAGES = ROOT / "docs" / "performance.md", Path(__file__).parent / "figures.md"
_README = ROOT / "README.md"
_BASELINE = Path(__file__).parent / "baseline.json"
_INSTRUCTIONS = _BASELINE.with_name("instructions.json")


def main() -> int:
    """Measure; write the pages and the baseline, or compare. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="compare with the floor and the baseline; write nothing")
    parser.add_argument("--before", metavar="COMMIT", help="compare with the server of a commit; write nothing")
    parser.add_argument("--only", metavar="SECTION", choices=sorted(SECTIONS), nargs="+", help="and write nothing")
    parser.add_argument("--rehearse", action="store_true", help="the shortest rounds, which write nothing")
    options = parser.parse_args()
    if len(cores()) < _CORES:
        sys.exit("servers need one core and who calls them another one, on Linux: this cannot be measured here")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    if options.quick and (code := compare_without_go()) is not None:
        return code
    needs_few = options.quick or options.before
    try:
        programs = build(*(["load"] if needs_few else []))
    except BuildError as error:
        sys.exit(str(error))
    if programs is None:
        sys.stderr.write("The measurement is skipped: it needs Go to build a client that behaves as Karmada's.\n")
        return 0
    if (busy := os.getloadavg()[0]) > _BUSY:
        sys.stderr.write(f"The load average is {busy:.1f}: who else is busy here is measured, too.\n")
    pin_to_clients_core()
    try:
        with tempfile.TemporaryDirectory() as folder:
            servers = field(programs, Path(folder), before=options.before or "", with_example=not needs_few)
            if options.before:
                return compare_with_commit(servers)
            if options.quick:
                return compare_with_floor(servers)
            with servers as started:
                effort = REHEARSAL if options.rehearse else THOROUGH
                results = run(started, effort, options.only or SECTIONS)
                floors = quick(started, QUICK).floors if not options.only else {}
    except MeasurementError as error:
        sys.exit(str(error))
    if not (options.only or options.rehearse or results.failures):
        _write(results, setting(effort, programs, busy), floors)
    sys.stderr.writelines(f"{line}\n" for line in results.failures)
    return 1 if results.failures else 0


def _write(results: Results, setting: str, floors: Mapping[str, float]) -> None:
    """Write the pages, the item of the README, and the baselines."""
    blocks = {"setting": setting, **results.blocks}
    for page, text in fill_pages({page: page.read_text() for page in PAGES}, blocks).items():
        page.write_text(text)
    _README.write_text(HEADLINE.sub(lambda _: results.headline, _README.read_text()))
    write_baseline(_BASELINE, floors)
    write_baseline(_INSTRUCTIONS, read_baseline(_INSTRUCTIONS) | counted() | counted_first())


def _counted() -> dict[str, float]:
    found = counted()
    return found and found | counted_first()


def compare_instructions(measured: Callable[[], dict[str, float]] = _counted) -> int | None:
    """Return 1 if an operation takes more instructions than the baseline of this Python allows, None if none count."""
    baseline = {name: floors for name, floors in read_baseline(_INSTRUCTIONS).items() if name.startswith(PYTHON)}
    found = measured() if baseline else {}
    for name, times in found.items():
        sys.stderr.write(f"{name}: {times:.3f} times the floor\n")
    lines = dearer(baseline, found, GROWTH_OF_INSTRUCTIONS)
    sys.stderr.writelines(f"{line}\n" for line in lines if found)
    return bool(lines) if found else None


def compare_without_go() -> int | None:
    """Compare waits and instructions. Return None if waits are short and no instructions are counted."""
    code = compare_instructions()
    pin_to_clients_core()
    return compare_waits() or code


def compare_waits(measured: Callable[[Bay], Mapping[str, Sequence[float]]] = longest_waits) -> int:
    """Return 1 if up to three measurements agree that calls wait too long beside the first call of another kind."""
    lines: list[str] = []
    for _ in range(_TRIES):
        with tempfile.TemporaryDirectory() as folder:
            waits = measured(Bay(Path(folder)))
        sys.stderr.write(f"others wait up to {1e3 * max(map(min, waits.values())):.1f} ms for a first call\n")
        if not (lines := too_long(waits)):
            break
    sys.stderr.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


def compare_with_floor(
    servers: AbstractContextManager[Field], measured: Callable[[Field], dict[str, float]] | None = None
) -> int:
    """Measure up to three times; return 1 if all agree that a call takes more floors than the baseline allows."""
    baseline, found = read_baseline(_BASELINE), dict[str, float]()
    lines: list[str] = []
    with servers as started:
        for _ in range(_TRIES):
            floors = measured(started) if measured else quick(started, QUICK).floors
            found = cheaper(found, floors)
            if not (lines := dearer(baseline, found)):
                break
    for name, times in found.items():
        sys.stderr.write(f"{name}: {times:.2f} times the floor\n")
    sys.stderr.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


def compare_with_commit(servers: AbstractContextManager[Field]) -> int:
    """Measure the days; return 1 if a call has become dearer by more than a tenth."""
    with servers as started:
        part = paired(started, THOROUGH)
    sys.stdout.writelines(part.texts.values())
    lines = [f"{name}: {times:.2f} times" for name, times in part.floors.items() if times > _MOST_THAN_BEFORE]
    sys.stderr.writelines(f"{line} as dear as before\n" for line in lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
