"""Telling what came of a suite, as text for people."""

from collections.abc import Iterable, Iterator, Sequence

from interpreter.suites.runner import Outcome


def render(outcomes: Iterable[Outcome]) -> str:
    """Outcomes as text: every failed case with its place, reason and differences, then one line that counts.

    >>> render([])
    '0 passed'
    """
    outcomes = tuple(outcomes)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    return "\n".join([*(line for outcome in failed for line in _failure(outcome)), _summary(outcomes, failed)])


def _failure(outcome: Outcome) -> Iterator[str]:
    case = outcome.case
    yield f"FAILED {case.source}:{case.line} [{case.call.operation}] {case.name}"
    if case.description:
        yield f"  {case.description}"
    for failure in outcome.failures:
        yield f"  - {failure}"


def _summary(outcomes: Sequence[Outcome], failed: Sequence[Outcome]) -> str:
    passed = f"{len(outcomes) - len(failed)} passed"
    return f"{len(failed)} failed, {passed}" if failed else passed
