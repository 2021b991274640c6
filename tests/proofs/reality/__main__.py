"""``python -m tests.proofs.reality``: run workloads through real controllers, and compare with our answers."""

import argparse
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Sequence

from tests.proofs.reality.accepted import FILE, Accepted, judge, read_accepted
from tests.proofs.reality.case import numbers, read_cases
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.controllers import CONTROLLERS, can_be_built, is_from_source, shares_module
from tests.proofs.reality.fights import run_fights
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.reality.recording import differences, write as write_states
from tests.proofs.reality.report import PAGE, write, write_operators
from tests.proofs.reality.run import RunError, rounds, run_round, with_needed
from tests.proofs.rig.binaries import KUBERNETES, chosen
from tests.proofs.rig.toolchain import BuildError
from tests.support.recorded import FOLDER

_MORE_RUNS = 2


def main() -> int:
    options = _options()
    if not shutil.which("go"):
        _say("make reality is skipped: it needs Go to build an API server and workload controllers")
        return 0
    # Everything is on loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.fights:
        return 0 if run_fights(_say) else 1
    asked, release = _asked(options), chosen().kubernetes
    begun = time.monotonic()
    try:
        outcomes = _outcomes(asked, options.case, release)
        if options.record:
            _record(outcomes)
        _compare_states(outcomes, asked, release)
    except (BuildError, RunError) as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("stopped")
        return 130
    accepted = read_accepted(FILE.read_text(encoding="utf-8"))
    failures = list(judge(outcomes, accepted))
    for failure in failures:
        _say(f"FAILED {failure}")
    _say(
        f"\n{len(outcomes)} cases, {_compared(outcomes)} comparisons, {len(failures)} failures, "
        f"Kubernetes {release}, {time.monotonic() - begun:.0f} s"
    )
    if not failures and not options.case and release == KUBERNETES:
        _write_page(asked, outcomes, accepted)
    return 1 if failures else 0


def _write_page(asked: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]) -> None:
    """Write the rows of what has run, and leave those of others as they are."""
    write(PAGE, [controller for controller in asked if not is_from_source(controller)], outcomes, accepted)
    write_operators(PAGE, [controller for controller in asked if is_from_source(controller)], outcomes, accepted)


def _round(controllers: Sequence[Controller], pattern: str, release: str) -> list[Outcome]:
    known = [case for controller in controllers for case in read_cases(controller) if re.search(pattern, case.name)]
    cases = [case for case in known if case.since <= numbers(release)]
    # Long ones first, so that none is left alone at the end.
    cases.sort(key=lambda case: -len(case.steps) * case.settle)
    started = with_needed([case.controller for case in cases], CONTROLLERS)
    return run_round(started, cases, _say) if cases else []


def _outcomes(asked: Sequence[Controller], pattern: str, release: str) -> list[Outcome]:
    return [outcome for controllers in rounds(asked) for outcome in _round(controllers, pattern, release)]


def _compare_states(outcomes: Sequence[Outcome], asked: Sequence[Controller], release: str) -> None:
    """Add what is not as recorded in any of three runs: where two programs race, a single run may differ."""
    differing = _differing(outcomes)
    for _ in range(_MORE_RUNS):
        if not differing:
            return
        _say(f"once more, since the states are not as recorded: {', '.join(differing)}")
        again = _outcomes(asked, f"^({'|'.join(map(re.escape, differing))})$", release)
        resolved = {outcome.case for outcome in again if outcome.states} - _differing(again).keys()
        differing = {case: findings for case, findings in differing.items() if case not in resolved}
    for outcome in outcomes:
        outcome.findings += differing.get(outcome.case, ())


def _differing(outcomes: Sequence[Outcome]) -> dict[str, list[Finding]]:
    found = {each.case: [*differences(each.states, FOLDER / each.controller, each.racing)] for each in outcomes}
    return {case: findings for case, findings in found.items() if findings}


def _record(outcomes: Sequence[Outcome]) -> None:
    # The CRDs of controllers that are only needed are compared, too, and those have no states.
    for controller in sorted({outcome.controller for outcome in outcomes if outcome.states}):
        write_states(controller, [state for each in outcomes if each.controller == controller for state in each.states])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.reality", description="Our answers compared with real controllers."
    )
    parser.add_argument("--controllers", default="", help=f"some of {', '.join(one.name for one in CONTROLLERS)}")
    parser.add_argument("--case", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--shared", action="store_true", help="only what is built with the API server's module")
    parser.add_argument("--fights", action="store_true", help="have controllers overwrite what Karmada writes instead")
    parser.add_argument("--record", action="store_true", help="write the states that the controllers' cases had")
    options = parser.parse_args()
    names = set(filter(None, options.controllers.split(",")))
    unknown = names - {controller.name for controller in CONTROLLERS}
    if unknown:
        parser.error(f"unknown controllers: {', '.join(sorted(unknown))}")
    if options.record and options.case:
        parser.error("--record writes the states of all cases of a controller: leave out --case")
    if options.record and chosen().kubernetes != KUBERNETES:
        parser.error(f"states are recorded with Kubernetes {KUBERNETES}: leave out KUBERNETES")
    return options


def _asked(options: argparse.Namespace) -> list[Controller]:
    names = set(filter(None, options.controllers.split(",")))
    return [
        controller
        for controller in CONTROLLERS
        if (controller.name in names or (not names and can_be_built(controller)))
        and (not options.shared or shares_module(controller))
    ]


def _compared(outcomes: Sequence[Outcome]) -> int:
    return sum(len(outcome.findings) for outcome in outcomes)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
