"""No revision is refused by an API server: what ReviseReplica writes is within the bounds of the CRD.

The objects of the suites are given other totals. What the CRD itself does not allow is left out.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, entries
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance.crds.validator import validated

_TOTALS: Final = (0, 1, 2, 3, 7, 40)


@dataclass
class Tally:
    """The kinds whose revisions were validated, how many there were, and the refused ones."""

    kinds: set[str] = field(default_factory=set)
    validated: int = 0
    refused: dict[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.validated} revisions of {len(self.kinds)} kinds, {len(self.refused)} refused for a reason"

    def failures(self) -> Iterator[str]:
        """Yield each complaint with one of its revisions."""
        for (kind, complaint), example in self.refused.items():
            yield f"{kind}: {complaint}: {example}"
        if not self.kinds:
            yield "no revision was validated"


class _Revised(NamedTuple):
    gvk: GVK
    before: Object
    after: Object


def compare(program: Path, files: Sequence[Path]) -> Tally:
    """Validate revisions of all kinds with a CRD."""
    tally = Tally()
    revisions = [revision for entry in entries() for revision in _revisions(entry)]
    specs = [spec for revision in revisions for spec in (revision.before, revision.after)]
    kinds = [revision.gvk for revision in revisions for _ in range(2)]
    objects = ({**gvk.type_meta, "spec": spec} for gvk, spec in zip(kinds, specs, strict=True))
    answers = iter(validated(program, files, objects))
    for revision, before, after in zip(revisions, answers, answers, strict=True):
        if before and after:
            tally.validated += 1
            tally.kinds.add(revision.gvk.kind)
            for complaint in {*after["refused"]} - {*before["refused"]}:
                tally.refused.setdefault((str(revision.gvk), complaint), json.dumps(revision.after))
    return tally


def _revisions(entry: Entry) -> Iterator[_Revised]:
    definition = entry.definition
    assert definition
    for obj in entry.objects if definition.answers(Operation.REVISE_REPLICA) else ():
        for total in _TOTALS:
            call = Call(Operation.REVISE_REPLICA, obj, replicas=total)
            with suppress(InterpretationError):
                revised = interpret(knowing(definition, obj), call)["revised"]
                if revised is not obj:
                    yield _Revised(definition.gvk, obj.get("spec", {}), revised.get("spec", {}))
