"""``verify`` on the member of a case: a folder is saved, and verified as if nothing had changed for ten minutes."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

from karta_interpreter import Karta
from karta_interpreter.cli.member import Wanted
from karta_interpreter.cli.verify import verify_folder, verify_member
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.verification import Question, Verdict
from tests.proofs.reality.experiment import Experiment
from tests.proofs.reality.findings import Finding

_LATER = 600
# The client writes certificates to files of the process, and cases run in threads.
_CONNECTING = threading.Lock()


def verified(experiment: Experiment) -> Iterator[Finding]:
    """Yield a finding for each answer that differs from the member, and one without a problem if none does.

    The CRD is not among them: `compare_schemas` compares it once for each kind.
    """
    folder = experiment.cluster.folder / "verify" / experiment.case.namespace
    definition = Karta.for_object(experiment.case.object).definition
    wanted = Wanted(
        experiment.case.namespace, experiment.case.object["kind"], experiment.case.object["metadata"]["name"]
    )

    async def save() -> None:
        async with ApiServer.of(experiment.cluster.kubeconfig) as api:
            await verify_member(api, [definition], wanted, folder)

    with _CONNECTING:
        asyncio.run(save())
    _wait(folder / "member.json")
    report = verify_folder(folder, [definition], wanted)
    judgements = [each.judgement for each in report.results if each.judgement.question is not Question.CRD]
    differing = [judgement for judgement in judgements if judgement.verdict is Verdict.DIFFERS]
    for judgement in differing:
        texts = filter(None, (judgement.reason, judgement.detail, judgement.field))
        yield Finding(f"verify {judgement.question}", "; ".join(texts))
    problem = "; ".join(report.problems) or ("" if report.results else "there is no object")
    if problem or not differing:
        yield Finding("verify", problem)


def _wait(about: Path) -> None:
    """Set the time of a folder forward: cases last for seconds, and what is judged has to last for minutes."""
    saved = json.loads(about.read_bytes())
    about.write_text(json.dumps({**saved, "time": saved["time"] + _LATER}), encoding="utf-8")
