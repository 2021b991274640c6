"""Failures of the differential test as text that can be acted on."""

import json
from collections.abc import Iterator

from tests.proofs.conformance.comparison import diff
from tests.proofs.conformance.differential import Failure, Tally

_SHOWN = 40
_PARTS = ("object", "observed", "replicas", "items")


def show_failures(tally: Tally) -> Iterator[str]:
    """Give one failure per script and manner of failing by its smallest question; count the others."""
    kinds: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in tally.failures:
        kinds.setdefault(_manner(failure), []).append(failure)
    for number, failures in enumerate(kinds.values()):
        if number >= _SHOWN:
            yield f"and {len(kinds) - _SHOWN} more like these"
            return
        yield _text(min(failures, key=_size), len(failures))


def _manner(failure: Failure) -> tuple[str, str, str]:
    return (
        failure.question.scripts[0].text,
        "error" if failure.answered.results is None else "answer",
        "error" if failure.outcomes[0].results is None else "answer",
    )


def _text(failure: Failure, count: int) -> str:
    question, answered, expected = failure.question, failure.answered, failure.outcomes[0]
    script = question.scripts[0]
    lines = [
        f"{question.operation} of {script.name}, {count} times: {script.source}",
        *(
            f"  {part}: {json.dumps(getattr(question, part), ensure_ascii=False)}"
            for part in _PARTS
            if getattr(question, part)
        ),
        f"  here: {answered}",
        f"  Karmada: {expected}",
    ]
    if answered.results is not None and expected.results is not None:
        lines += diff("results", expected.results, answered.results)
    return "\n".join(lines)


def _size(failure: Failure) -> int:
    return sum(len(json.dumps(getattr(failure.question, part))) for part in _PARTS)
