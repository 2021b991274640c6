"""``python -m tests.proofs.suite``: run cases of Karmada's own end-to-end suite against this server.

Without arguments all families of ``families.yaml`` run. Arguments are names of families.
"""

import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from tests.proofs.rig.binaries import SUITE, build_some, karmada_source
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.toolchain import BuildError
from tests.proofs.suite.report import DIFFERENCES, FAMILIES, Family, Result, cases, failures, read
from tests.proofs.suite.stage import Stage, staged

_PROCESSES = 6
"""Cases that run at a time, but for those that run alone. They spend nearly all of their time waiting."""
_LIMIT = "25m"
_POLLING = ("--poll-interval=1s", "--poll-timeout=5m")
_NEW_CLUSTER = "needCreateCluster"
"""The label of cases that make a cluster with kind."""


def main(names: Sequence[str]) -> int:
    families = tuple(family for family in FAMILIES if not names or family.name in names)
    if unknown := set(names) - {family.name for family in families}:
        _say(f"unknown families: {', '.join(sorted(unknown))}; families.yaml has their names")
        return 2
    # Everything is on loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(mkdtemp(prefix="karmada-suite-"))
    _say(f"all logs are in {folder} until everything is as expected")
    try:
        programs = build_some((SUITE, "ginkgo"), _say)
        with staged(folder, karmada_source(), _say) as stage:
            results = _run(stage, programs, families)
            wrong = [*failures(results, families), *_lost_calls(stage)]
    except BuildError as error:
        _say(str(error))
        return 1
    for line in wrong:
        _say(f"\nDIFFERS {line}")
    if wrong:
        return 1
    shutil.rmtree(folder)
    return 0


def _run(stage: Stage, programs: Path, families: Sequence[Family]) -> list[Result]:
    """Run the cases of the families and print how many have passed."""
    begun, folder = time.monotonic(), stage.plane.folder
    suite = stage.plane.processes.start(
        "suite",
        programs / "ginkgo",
        *(f"--procs={_PROCESSES}", "--no-color", f"--timeout={_LIMIT}", "--json-report=report.json"),
        f"--output-dir={folder}",
        f"--label-filter=!{_NEW_CLUSTER}",
        *(f"--focus={re.escape(family.focus)}" for family in families),
        programs / SUITE,
        "--",
        *_POLLING,
        environment={"KUBECONFIG": str(stage.kubeconfig)},
        directory=folder,
    )
    try:
        suite.child.wait()
    finally:
        if suite.alive:
            suite.stop(signal.SIGINT)
    _say(f"the suite has ended after {time.monotonic() - begun:.0f} s")
    results = read(folder / "report.json")
    for family in families:
        _say(_summary(family, cases(family, results)))
    return results


def _summary(family: Family, results: Sequence[Result]) -> str:
    passed = sum(not result.message for result in results)
    seconds = sum(result.seconds for result in results)
    named = sum(any(entry.case in result.text for entry in DIFFERENCES) for result in results)
    differing = f", {named} named in proofs.md" if named else ""
    return f"{family.name:<24}{passed:>3} of {family.cases:>2} passed{seconds:>8.0f} s{differing}"


def _lost_calls(stage: Stage) -> Iterator[str]:
    """Stop the server and print what it answered; yield calls of Karmada without an answer."""
    seen = stage.plane.requests_seen(stage.server.host)
    stage.server.terminate()
    _, metrics = stage.server.ended()
    ledger = Ledger()
    ledger.read(metrics)
    _say(f"\n{ledger.table()}\n")
    if set(seen) != {"200"}:
        yield f"karmada-controller-manager got from this server: {dict(seen)}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
