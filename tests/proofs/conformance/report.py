"""Failures of the differential test as text that can be acted on."""

import json
from collections.abc import Iterator

from tests.proofs.conformance import ours
from tests.proofs.conformance.agreement import agree
from tests.proofs.conformance.comparison import diff
from tests.proofs.conformance.differential import RUNS, Failure, Tally, excuse
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Question
from tests.proofs.conformance.shrinking import shrink

_SHOWN = 40


def show_failures(peer: Peer, tally: Tally) -> Iterator[str]:
    """Give one failure per script and manner of failing as the smallest question that shows it; count the others."""
    kinds: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in tally.failures:
        kinds.setdefault(_manner(failure), []).append(failure)
    for number, failures in enumerate(kinds.values()):
        if number >= _SHOWN:
            yield f"and {len(kinds) - _SHOWN} more like these"
            return
        yield _text(peer, failures[0], len(failures))


def _manner(failure: Failure) -> tuple[str, str, str]:
    return (
        failure.question.scripts[0].text,
        "error" if failure.answered.results is None else "answer",
        "error" if failure.outcomes[0].results is None else "answer",
    )


def _text(peer: Peer, failure: Failure, count: int) -> str:
    question = shrink(failure.question, lambda smaller: _differs(peer, smaller))
    script, answered, expected = question.scripts[0], ours.ask(question), peer.outcomes(question, 1)[0]
    lines = [
        f"{question.operation} of {script.name}, {count} times: {script.source}",
        *(
            f"  {part}: {json.dumps(getattr(question, part), ensure_ascii=False)}"
            for part in ("object", "observed", "replicas", "items")
            if getattr(question, part)
        ),
        f"  here: {answered}",
        f"  Karmada: {expected}",
    ]
    if answered.results is not None and expected.results is not None:
        lines += diff("results", expected.results, answered.results)
    return "\n".join(lines)


def _differs(peer: Peer, question: Question) -> bool:
    if not all("clusterName" in item for item in question.items or ()):
        return False  # Go always writes it
    answered, (expected,) = ours.ask(question), peer.outcomes(question, 1)
    return not agree(answered, expected) and not excuse(question, answered, peer.outcomes(question, RUNS))
