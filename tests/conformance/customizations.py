"""Exported customizations answer as their Karta: in our Lua engine, and in Karmada's own VM.

The questions are the cases of the catalogue's suites.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from karta_interpreter.errors import ExportError, InterpretationError
from karta_interpreter.export.customization import script_of
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.script import Script
from karta_interpreter.operations import Call, Operation, interpret
from karta_interpreter.suites.comparison import differences
from tests.catalogue.entries import Entry, entries
from tests.conformance import ours
from tests.conformance.peer import Peer
from tests.conformance.question import Outcome, Question

_LEAST_EXPORTED = 0.95
_WITHOUT_REFERENCE = frozenset({"aggregatedStatus", "status"})


class Pair(NamedTuple):
    """An operation of a definition, its exported script, and its calls in the suite."""

    definition: Definition
    operation: Operation
    script: Script
    calls: Sequence[Call]

    def __str__(self) -> str:
        return f"{self.definition.gvk} {self.operation}"

    def question(self, call: Call) -> Question:
        """The question that Karmada puts to the script; no items are nil."""
        items = tuple(item.to_json() for item in call.items) or None
        return Question((self.script,), call.object, call.observed, call.replicas, items)

    def expected(self, call: Call) -> Outcome:
        """The answer of the Karta."""
        try:
            return Outcome(interpret(self.definition, call))
        except InterpretationError as error:
            return Outcome(None, str(error))


@dataclass
class Tally:
    """What was exported and asked; ``differences`` has a text for each answer that is not the Karta's."""

    pairs: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    cases: int = 0
    answers: int = 0
    errors: int = 0
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.pairs} of {self.pairs + len(self.rejected)} pairs of a kind and an operation are exported; "
            f"{self.cases} cases, {self.answers} answers, {self.errors} errors, {len(self.differences)} differences"
        )

    def failures(self) -> Iterator[str]:
        """Yield the differences, and whether too few pairs were exported."""
        yield from self.differences
        if self.answers == self.errors:
            yield "nothing was compared"
        if self.pairs < _LEAST_EXPORTED * (self.pairs + len(self.rejected)):
            yield f"fewer than 95 % are exported: {self.rejected}"


def exported(found: Iterable[Entry], tally: Tally) -> Iterator[Pair]:
    """Yield every pair with a script; the reason of any other one is in the tally."""
    for entry in found:
        definition = entry.definition
        assert definition
        for operation in filter(definition.answers, Operation):
            try:
                text = script_of(definition, operation, entry.text)
            except ExportError as error:
                tally.rejected[f"{definition.gvk} {operation}"] = str(error)
                continue
            tally.pairs += 1
            calls = [case.call for case in entry.cases if case.call.operation is operation]
            yield Pair(definition, operation, Script(operation, text, definition.name), calls)


def difference(pair: Pair, call: Call, answered: Outcome) -> str:
    """Say where the answer of a script is not the Karta's; nothing where it is.

    An error is compared as an error: the words of a script's errors are its own. Of an aggregation Karmada reads the
    status alone. Into the status of an aggregation or a reflection Karmada puts back no empty object or list, because
    these have no reference (`lua_convert.go`), and nulls are no fields to it: both are left out of both sides. In all
    other results an empty value and a null count; the rules of `suites` for requirements, components and dependencies
    apply.
    """
    expected = pair.expected(call)
    if expected.results is None or answered.results is None:
        return "" if expected.results is answered.results and not answered.defect else f"{expected} -> {answered}"
    wanted, found = _compared(expected.results), _compared(answered.results)
    places = [place for name in wanted for place in differences(name, wanted[name], found.get(name))]
    return "\n  ".join(places)


def compare(peer: Peer) -> Tally:
    """Ask our own Lua engine and Karmada's VM all cases of the catalogue."""
    tally = Tally()
    for pair in exported(entries(), tally):
        compare_ours(pair, tally)
        _judge(pair, "Karmada's VM", peer.ask(map(pair.question, pair.calls)), tally)
    return tally


def compare_ours(pair: Pair, tally: Tally) -> None:
    """Ask our own Lua engine all cases of a pair, and count them."""
    tally.cases += len(pair.calls)
    _judge(pair, "our Lua engine", map(ours.ask, map(pair.question, pair.calls)), tally)


def _judge(pair: Pair, engine: str, answers: Iterable[Outcome], tally: Tally) -> None:
    for call, answered in zip(pair.calls, answers, strict=True):
        tally.answers += 1
        tally.errors += answered.results is None
        if found := difference(pair, call, answered):
            tally.differences.append(f"{pair} in {engine}: {found}")


def _compared(results: Mapping[str, JSON]) -> Mapping[str, JSON]:
    if "aggregatedStatus" in results:
        results = {"aggregatedStatus": {"status": (results["aggregatedStatus"] or {}).get("status")}}
    return {name: _without_empty(value) if name in _WITHOUT_REFERENCE else value for name, value in results.items()}


def _without_empty(value: JSON) -> JSON:
    if isinstance(value, dict):
        kept = {key: _without_empty(part) for key, part in value.items()}
        return {key: part for key, part in kept.items() if part is not None and part not in ({}, [])}
    if isinstance(value, list):
        parts = map(_without_empty, value)
        return [part for part in parts if part is not None and part not in ({}, [])]
    return value
