"""Every object of a suite that is to be answered is one that an API server with the kind's CRD stores.

A case is about a part of an object. Fields of its spec that the CRD requires and that it leaves out are no fault. An
unknown field, a wrong value, and a required field further down are, unless a row has the reason.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from docs.tools.upstreams import upstreams, written_from
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.crds.references import crds_of
from tests.proofs.conformance.crds.validator import validated
from tests.proofs.conformance.reasons import Reasons
from tests.proofs.drift.sources import order

_LEFT_OUT: Final = re.compile(r"spec(\.\w+)?: Required value")


@dataclass
class Tally:
    """What was validated, and the complaints that need a reason."""

    validated: int = 0
    kinds: set[str] = field(default_factory=set)
    complaints: Reasons = field(default_factory=lambda: Reasons(Path(__file__).with_suffix(".yaml")))

    def __str__(self) -> str:
        return f"{self.validated} objects of the suites of {len(self.kinds)} kinds; complaints: {self.complaints}"

    def failures(self) -> Iterator[str]:
        """Yield each complaint without a reason, and rows that explain nothing."""
        yield from self.complaints.failures(self.kinds)
        if not self.kinds:
            yield "no object was validated"


class _Given(NamedTuple):
    gvk: GVK
    case: Case
    spec: Object


def compare(program: Path, files: Sequence[Path], more: Sequence[Path] = ()) -> Tally:
    """Validate the objects of the suites of all kinds whose CRD is of no release before that of the definition."""
    tally, told = Tally(), crds_of(more).keys()
    given = [each for entry in entries() for each in _given(entry, told)]
    objects = ({**each.gvk.type_meta, "spec": each.spec} for each in given)
    for each, answer in zip(given, validated(program, (*files, *more), objects), strict=True):
        if answer:
            tally.validated += 1
            tally.kinds.add(each.gvk.kind)
            _judge(each, [*answer["refused"], *(f"unknown {path}" for path in answer["unknown"] or ())], tally)
    return tally


def _given(entry: Entry, told: Collection[tuple[str, str]]) -> Iterator[_Given]:
    assert entry.definition
    has_crd = entry.definition.gvk[::2] in told or _is_new(entry.definition)
    for case in entry.cases if has_crd else ():
        for obj in (case.call.object, case.call.observed):
            if case.error is None and obj and "spec" in obj:
                yield _Given(entry.definition.gvk, case, obj["spec"])


def _is_new(definition: Definition) -> bool:
    """Return whether the CRD of the proofs is of the release that a definition was written from, or of a newer one."""
    project, release = next(written_from(definition))
    upstream = upstreams()[project]
    own, of_proofs = order(upstream.releases[release]), order(upstream.conformance or "")
    return own is not None and of_proofs is not None and of_proofs >= own


def _judge(given: _Given, complaints: Sequence[str], tally: Tally) -> None:
    for complaint in complaints:
        if not _LEFT_OUT.fullmatch(complaint):
            place = f"{given.gvk}, {Path(given.case.source).name}:{given.case.line} {given.case.name}"
            tally.complaints.count(f"{given.gvk.kind} {complaint}", place)
