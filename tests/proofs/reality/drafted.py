"""Drafts without the catalogue: of the CRD of a kind, and of what ``verify --save`` has saved of its cases."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.saved import read_about, read_workloads
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.verification import Evidence, Question, Verdict, verify
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.findings import Finding, Outcome
from tests.support.drafted import judged, requests_of

_PODS = {Question.COUNTS, Question.REQUIREMENTS}


def compare_drafts(folders: Iterable[Path], controllers: Sequence[Controller]) -> Iterator[Outcome]:
    """Yield an outcome for each kind with pods: in how many objects its draft has the pods that are there.

    Components of a draft that are wrong and have no CHECK are a problem.
    """
    shown: dict[GVK, list[Evidence]] = defaultdict(list)
    crds = {}
    for folder in sorted(folders):
        saved = read_about(folder)
        for evidence in read_workloads(folder, saved):
            gvk = GVK.of(evidence.object)
            shown[gvk].append(evidence)
            crds[gvk] = saved.crd(gvk)
    for controller in controllers:
        for kind in controller.kinds:
            group, _, version = kind.api_version.rpartition("/")
            gvk = GVK(group, version, kind.name)
            complete = [each for each in shown[gvk] if each.active and _is_complete(each)]
            if complete:
                crd = crds[gvk]
                custom = CustomKind.of(crd, version) if crd else CustomKind("", gvk, {})
                drafted = draft_from(custom, complete)
                right, silent = judged(drafted, [(each, Counter(map(requests_of, each.active))) for each in complete])
                problem = f"no CHECK for {silent}" if silent else ""
                finding = Finding(f"draft: {right} of {len(complete)}", problem)
                yield Outcome(
                    f"draft of {kind.api_version} {kind.name}", controller.name, kind.name, kind.api_version, [finding]
                )


def _is_complete(evidence: Evidence) -> bool:
    """Return whether the pods of an object are all there, which the catalogue says. A draft sees no more of it."""
    entry = find_in_catalogue(GVK.of(evidence.object))
    judgements = verify(entry.definition, evidence) if entry else ()
    return all(each.verdict is Verdict.OK for each in judgements if each.question in _PODS)
