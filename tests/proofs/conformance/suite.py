"""The cases that Karmada bundles, answered and compared; a table of them per kind and operation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from karta_interpreter.base.karmada import SLOTS
from tests.proofs.conformance.bundle import Bundled, Case
from tests.proofs.conformance.comparison import disagreement
from tests.proofs.conformance.question import Outcome

_SHOWN = 40
_HEADS = [operation.removeprefix("Interpret") for operation in SLOTS]


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


def table(bundle: Sequence[Bundled], judged: Iterable[Judged]) -> str:
    """Count the cases per kind and operation: passed, failed, and of the passed those with an open result."""
    counts: Counter[tuple[str, str, str]] = Counter()
    kind_of = {id(case): str(bundled.gvk) for bundled in bundle for case in bundled.cases}
    for found in judged:
        place = (kind_of[id(found.case)], found.case.question.operation)
        counts[*place, "failed" if found.problem else "passed"] += 1
        counts[*place, "open"] += found.open and not found.problem
    rows = [
        [
            kind,
            *(_cell([counts[kind, operation, what] for what in ("passed", "failed", "open")]) for operation in SLOTS),
        ]
        for kind in (str(bundled.gvk) for bundled in bundle)
    ]
    widths = [max(map(len, column)) for column in zip(["kind", *_HEADS], *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (["kind", *_HEADS], *rows)
    ]
    return "\n".join([*lines, "(failed cases as -n; cases with a result that nobody expects in brackets)"])


def _cell(counts: Sequence[int]) -> str:
    passed, failed, unexpected = counts
    parts = [
        str(passed) if passed or failed else "",
        f"-{failed}" if failed else "",
        f"({unexpected})" if unexpected else "",
    ]
    return " ".join(part for part in parts if part)
