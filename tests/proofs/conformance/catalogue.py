"""Kinds that both the catalogue and Karmada have an answer for: where the two differ, and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from docs.tools.write_known import REASONS
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from tests.catalogue.entries import entries
from tests.proofs.conformance.bundle import Bundled, answered, name_of
from tests.proofs.conformance.comparison import disagreement
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Outcome, Question

_SHOWN_LINES = 12


@dataclass
class Pair:
    """One operation of one kind; ``different`` has a diff per question on which the Karta and the script differ."""

    kind: str
    operation: str
    asked: int
    different: list[str] = field(default_factory=list)


def compare_catalogue(peer: Peer, bundle: Iterable[Bundled]) -> list[Pair]:
    """Ask the Kartas what the bundled scripts are asked, on the objects of both projects' suites."""
    return [
        _compare(peer, bundled, operation, entry.definition)
        for bundled in bundle
        if (entry := find_in_catalogue(answered(bundled.gvk)))
        for operation in sorted(bundled.scripts.operations)
    ]


def _compare(peer: Peer, bundled: Bundled, operation: str, definition: Definition) -> Pair:
    questions = [*_bundled_questions(bundled, operation), *_golden_questions(bundled, operation)]
    pair = Pair(name_of(bundled.gvk), operation, len(questions))
    for question, outcome in zip(questions, peer.answers(questions), strict=True):
        pair.different += filter(None, [_difference(outcome, _answer(definition, question))])
    return pair


def complaints(pairs: Sequence[Pair], reasons: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Name the pairs that differ without a reason, and the reasons that nothing needs any more."""
    differing = {(pair.kind, pair.operation) for pair in pairs if pair.different}
    for pair in pairs:
        if pair.different and (pair.kind, pair.operation) not in reasons:
            yield f"{pair.kind} {pair.operation} differs, and the facts of the kind give no reason"
    for kind, operation in sorted(reasons.keys() - differing):
        places = f"the facts of the kind or {REASONS.name}"
        yield f"{kind} {operation} does not differ any more: remove its reason from {places}"


def describe(pairs: Iterable[Pair], reasons: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Show each pair: how often it differs, our reason, and one example."""
    for pair in pairs:
        yield f"{pair.kind} {pair.operation}: {len(pair.different)} of {pair.asked} answers differ"
        if pair.different:
            yield f"  reason: {reasons.get((pair.kind, pair.operation), 'NONE')}"
            yield from (f"    {line}" for line in islice(pair.different[0].splitlines(), _SHOWN_LINES))


def _bundled_questions(bundled: Bundled, operation: str) -> Iterator[Question]:
    for case in bundled.cases:
        if case.question.operation == operation:
            yield case.question


def _golden_questions(bundled: Bundled, operation: str) -> Iterator[Question]:
    (entry,) = (entry for entry in entries() if entry.loaded.gvk == answered(bundled.gvk))
    for case in entry.cases:
        if case.call.operation == operation and case.error is None:
            yield _question(bundled, case.call)


def _question(bundled: Bundled, call: Call) -> Question:
    # As Karmada stores them: an empty list is none.
    items = tuple(item.to_json() for item in call.items) or None
    return Question(bundled.scripts.of(call.operation), call.object, call.observed, call.replicas, items)


def _answer(definition: Definition, question: Question) -> Outcome:
    items = tuple(StatusItem.of(item, f"items[{at}]") for at, item in enumerate(question.items or ()))
    call = Call(Operation(question.operation), question.object, question.observed, question.replicas, items)
    try:
        return Outcome(interpret(definition, call))
    except InterpretationError as error:
        return Outcome(None, str(error))


def _difference(script: Outcome, karta: Outcome) -> str:
    if script.results is None and karta.results is None:
        return ""
    if script.results is None:
        return f"the script fails: {script.error}\nthe Karta answers {karta}"
    if karta.results is None:
        return f"the Karta refuses: {karta.error}\nthe script answers {script}"
    return disagreement(_compared(script.results), _compared(karta.results))


def _compared(results: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Leave of an aggregation what Karmada reads of it (``pkg/controllers/status/common.go``): the status."""
    whole = results.get("aggregatedStatus")
    return results if whole is None else {"aggregatedStatus": {"status": whole.get("status")}}
