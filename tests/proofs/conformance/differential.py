"""Both engines on generated objects and on small scripts: whatever Karmada's gives, ours has to give."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from zlib import crc32

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance import ours
from tests.proofs.conformance.agreement import agree
from tests.proofs.conformance.bundle import Bundled, Case
from tests.proofs.conformance.known import known_difference
from tests.proofs.conformance.mutation import mutate
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Outcome, Question

RUNS = 60
"""How often Karmada is asked again where the answers differ."""

_REPLICAS = (0, 1, 3, 7, 2147483647)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """A question, our answer, and the different ones of Karmada."""

    question: Question
    answered: Outcome
    outcomes: Sequence[Outcome]


@dataclass
class Tally:
    """What came of the comparisons."""

    asked: int = 0
    errors: int = 0
    excused: dict[str, list[Question]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.asked} questions, {self.errors} answered with an error, {len(self.failures)} answers differ"]
        lines += [f"  {len(questions)} differ for a reason: {reason}" for reason, questions in self.excused.items()]
        return "\n".join(lines)


def generated_questions(bundle: Iterable[Bundled], mutants: int) -> Iterator[Question]:
    """Put changed copies of every case's object to all scripts of its kind."""
    for bundled in bundle:
        for case in bundled.cases:
            for number in range(mutants):
                seed = crc32(f"{bundled.gvk} {case.name} {number}".encode())
                yield from _questions(bundled, case, partial(mutate, seed=seed), seed)


def _questions(bundled: Bundled, case: Case, mutant: partial[JSON], seed: int) -> Iterator[Question]:
    known = case.question
    subject = mutant(known.object)
    other = mutant(known.observed if known.observed is not None else known.object, seed=seed + 1)
    status = known.object.get("status")
    items = known.items or tuple({"clusterName": name, "status": status} for name in ("member1", "member2") if status)
    changed = tuple(_item(item, seed + at) for at, item in enumerate(items))
    for operation in sorted(bundled.scripts.operations):
        replicas = _REPLICAS[seed % len(_REPLICAS)]
        yield Question(bundled.scripts.of(operation), subject, other, replicas, changed or None)


def _item(item: JSON, seed: int) -> JSON:
    """Change what the member reports; the rest of an item is Karmada's own, and typed."""
    changed = mutate({"status": item.get("status")}, seed)
    rest = {key: value for key, value in item.items() if key != "status"}
    return rest if changed.get("status") is None else {**rest, "status": changed["status"]}


def compare(peer: Peer, questions: Iterable[Question]) -> Tally:
    """Ask both engines everything and count; what differs is looked at closer."""
    tally, remaining = Tally(), iter(questions)
    while batch := list(islice(remaining, _BATCH)):
        differing = [
            (question, answered)
            for question, expected in zip(batch, peer.answers(batch), strict=True)
            if not agree(answered := _counted(question, tally), expected)
        ]
        for question, answered in differing:
            _explain(peer, question, answered, tally)
    return tally


def _counted(question: Question, tally: Tally) -> Outcome:
    answered = ours.ask(question)
    tally.asked += 1
    tally.errors += answered.results is None
    return answered


def _explain(peer: Peer, question: Question, answered: Outcome, tally: Tally) -> None:
    outcomes = peer.outcomes(question, RUNS)
    if reason := excuse(question, answered, outcomes):
        tally.excused.setdefault(reason, []).append(question)
    else:
        tally.failures.append(Failure(question, answered, outcomes))


def excuse(question: Question, answered: Outcome, outcomes: Sequence[Outcome]) -> str | None:
    """Give the reason why an answer may differ from one of Karmada's, None when it may not."""
    if any(agree(answered, outcome) for outcome in outcomes):
        return "Karmada answers one of several ways, as Go happens to walk a map"
    return known_difference(question, answered, outcomes)
