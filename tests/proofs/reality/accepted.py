"""Differences that are accepted, each with its reason: ``accepted.yaml``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karta_interpreter.base.k8s.manifest import read_documents
from tests.proofs.reality.findings import Outcome

FILE = Path(__file__).with_name("accepted.yaml")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A difference of one case that is known, and why; ``what`` may leave out the label in parentheses."""

    case: str
    what: str
    reason: str


def read_accepted(text: str) -> list[Accepted]:
    """Return the entries; ``case`` and ``what`` may each be a list.

    Raises ManifestError for a key that is there twice: two entries that have lost the line between them.
    """
    entries: Any = [entry for document in read_documents(text, FILE.name) for entry in document.value]
    return [
        Accepted(case, what, " ".join(entry["reason"].split()))
        for entry in entries
        for case in _many(entry["case"])
        for what in _many(entry["what"])
    ]


def judge(outcomes: Iterable[Outcome], accepted: Sequence[Accepted]) -> Iterator[str]:
    """Yield a line for each difference that is not accepted, and for each accepted one that is gone."""
    known = {(entry.case, entry.what) for entry in accepted}
    seen, ran = set(), set()
    for outcome in outcomes:
        ran.add(outcome.case)
        for finding in outcome.problems():
            names = {(outcome.case, finding.what), (outcome.case, finding.what.partition(" (")[0])}
            seen |= names
            if not names & known:
                yield f"{outcome.case}: {finding.what}: {finding.problem}"
    for case, what in sorted(known - seen):
        if case in ran:
            yield f"{case}: {what}: gone: remove it from {FILE.name}"


def _many(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
