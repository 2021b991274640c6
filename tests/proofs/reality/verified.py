"""``verify`` on the member of a case: a folder is saved, and verified as if nothing had changed for ten minutes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from karta_interpreter import Karta
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.verification import Question, Verdict
from karta_interpreter.engine.verification.report import Report
from tests.proofs.reality.experiment import Experiment
from tests.proofs.reality.findings import Finding
from tests.proofs.reality.recording import save_member
from tests.proofs.rig.cluster import Cluster

_LATER = 600


def verified(experiment: Experiment) -> Iterator[Finding]:
    """Yield a finding for each answer that differs from the member, and one without a problem if none does.

    The CRD is not among them: `compare_schemas` compares it once for each kind.
    """
    definition = Karta.for_object(experiment.case.object).definition
    selection = WorkloadSelection(
        experiment.case.namespace, experiment.case.object["kind"], experiment.case.object["metadata"]["name"]
    )
    report = verified_member(experiment.cluster, [definition], selection)
    judgements = [each.judgement for each in report.results if each.judgement.question is not Question.CRD]
    differing = [judgement for judgement in judgements if judgement.verdict is Verdict.DIFFERS]
    for judgement in differing:
        texts = filter(None, (judgement.reason, judgement.detail, judgement.field))
        yield Finding(f"verify {judgement.question}", "; ".join(texts))
    problem = "; ".join(report.problems) or ("" if report.results else "there is no object")
    if problem or not differing:
        yield Finding("verify", problem)


def verified_member(cluster: Cluster, definitions: Sequence[Definition], selection: WorkloadSelection) -> Report:
    """Return what ``verify`` will say in ten minutes if nothing changes."""
    folder = cluster.folder / "verify" / (selection.namespace or "all")
    save_member(cluster, definitions, selection, folder)
    _wait(folder / "member.json")
    return verify_folder(folder, definitions, selection)


def _wait(about: Path) -> None:
    """Set the time of a folder forward: cases last for seconds, and what is judged has to last for minutes."""
    saved = json.loads(about.read_bytes())
    about.write_text(json.dumps({**saved, "time": saved["time"] + _LATER}), encoding="utf-8")
