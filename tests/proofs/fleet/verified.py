"""``verify`` in the members at the end of a day: what differs but for the fights that were seeded."""

import time
from collections.abc import Iterator, Mapping

from karta_interpreter import Karta
from karta_interpreter.cli.verify import summary
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.engine.verification import Question, Verdict
from tests.proofs.fleet.fights import SEEDED
from tests.proofs.fleet.world import Say
from tests.proofs.reality.verified import verified_member
from tests.proofs.rig.cluster import Cluster

_PATIENCE, _PAUSE = 120.0, 10.0
"""Seconds for objects that were still changing at the end of the day, and between two looks."""


def differing(members: Mapping[str, Cluster], say: Say) -> list[str]:
    """Return each difference and each problem of a member that stays after the day."""
    deadline = time.monotonic() + _PATIENCE
    while (lines := [*_differing(members, say)]) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return lines


def _differing(members: Mapping[str, Cluster], say: Say) -> Iterator[str]:
    fought = {seeded.name for seeded in SEEDED}
    definitions = [karta.definition for karta in Karta.catalogue().values()]
    for member, cluster in members.items():
        report = verified_member(cluster, definitions, WorkloadSelection())
        say(f"{member}: {summary(report)}")
        problems = report.problems if report.results else ("there is no object",)
        yield from (f"{member}: {problem}" for problem in problems)
        for gvk, name, judgement in report.results:
            is_expected = judgement.question is Question.CRD or name.rpartition("/")[2] in fought
            if judgement.verdict is Verdict.DIFFERS and not is_expected:
                yield f"{member}: {gvk.kind} {name}: {judgement.question}: {judgement.reason}; {judgement.detail}"
