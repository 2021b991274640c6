"""The cases that Karmada bundles, answered and compared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.proofs.conformance.bundle import Case
from tests.proofs.conformance.comparison import disagreement
from tests.proofs.conformance.question import Outcome

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and what is wrong with its outcome; ``open`` says that a result came which no expectation speaks of."""

    case: Case
    problem: str
    open: bool


def judge(cases: Iterable[Case], outcomes: Iterable[Outcome]) -> list[Judged]:
    """Compare the outcomes with what the cases expect."""
    return [_judge(case, outcome) for case, outcome in zip(cases, outcomes, strict=True)]


def _judge(case: Case, outcome: Outcome) -> Judged:
    if outcome.results is None:
        return Judged(case, outcome.error, open=False)
    unexpected = outcome.results.keys() - case.expected.keys()
    return Judged(case, disagreement(case.expected, outcome.results), open=bool(unexpected))


def failures(judged: Iterable[Judged]) -> Iterator[str]:
    """Show the cases that failed: where each stands, and what differs; the last ones of many are only counted."""
    failed = [found for found in judged if found.problem]
    for found in failed[:_SHOWN]:
        yield f"{found.case.source}:{found.case.line}: {found.case.name}\n{found.problem}"
    if len(failed) > _SHOWN:
        yield f"and {len(failed) - _SHOWN} more cases"


def summary(judged: Sequence[Judged]) -> str:
    """Count the cases, and of those that pass the ones with a result that nobody expects."""
    failed = sum(bool(found.problem) for found in judged)
    unexpected = sum(found.open and not found.problem for found in judged)
    return f"{len(judged) - failed} cases pass, {unexpected} of them with a result that nobody expects; {failed} fail"
