"""``verify`` in the members at the end of a day: what differs but for the fights that were seeded."""

from collections.abc import Iterator, Mapping

from karta_interpreter import Karta
from karta_interpreter.cli.member import Wanted
from karta_interpreter.engine.verification import Question, Verdict
from tests.proofs.fleet.fights import SEEDED
from tests.proofs.reality.verified import verified_member
from tests.proofs.rig.cluster import Cluster


def differing(members: Mapping[str, Cluster]) -> Iterator[str]:
    """Yield each difference and each problem of a member."""
    fought = {seeded.name for seeded in SEEDED}
    definitions = [karta.definition for karta in Karta.catalogue().values()]
    for member, cluster in members.items():
        report = verified_member(cluster, definitions, Wanted())
        yield from (f"{member}: {problem}" for problem in report.problems)
        for gvk, name, judgement in report.results:
            is_expected = judgement.question is Question.CRD or name.rpartition("/")[2] in fought
            if judgement.verdict is Verdict.DIFFERS and not is_expected:
                yield f"{member}: {gvk.kind} {name}: {judgement.question}: {judgement.reason}; {judgement.detail}"
