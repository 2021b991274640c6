"""Exported customizations answer as their Karta: in our Lua engine, and in Karmada's own VM.

The questions are the cases of the catalogue's suites, and changed copies of these. ``customizations.yaml`` has the
reason of each difference on a changed copy; on a case there is none.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.comparison import differences
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from karta_interpreter.webhook.wire import Request, encode_results
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance import ours
from tests.proofs.conformance.changed_calls import changed_calls, without_empty, without_nulls
from tests.proofs.conformance.export_reasons import Reason, reasons
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Outcome, Question

_LEAST_EXPORTED = 0.85
"""The share of pairs with a script. Kinds that look other objects up have none for what reads them, and those whose
status may need an empty value have none for its aggregation."""
_COPIES = 3
"""So many changed copies of each case need every reason."""

_UNREAD = re.compile("cannot be read: |^the status of cluster .* must be an object")
"""The errors about reports that cannot be read: a script does not look for these."""

Ask: TypeAlias = Callable[[Iterable[Question]], Iterable[Outcome]]
"""An engine, which answers questions in their order."""

_WITHOUT_REFERENCE = frozenset({"aggregatedStatus", "status"})
# Karmada's machine does not know ReviseComponents, and no suite has a case of it.
_EXPORTED = tuple(each for each in Operation if each is not Operation.REVISE_COMPONENTS)


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
        return Question((self.script,), call.object, call.observed, call.replicas, items, call.components)

    def expected(self, call: Call) -> Outcome:
        """The answer of the Karta, as the server sends it: it ends no pods of a workload that is not divided yet."""
        try:
            results = interpret(self.definition, call)
            encode_results(Request("", call=call), results)
            return Outcome(results)
        except InterpretationError as error:
            return Outcome(None, str(error))


@dataclass
class Tally:
    """What was exported and asked; ``differences`` has a text for each answer that is not the Karta's."""

    pairs: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    cases: int = 0
    changed: int = 0
    answers: int = 0
    errors: int = 0
    excused: Counter[Reason] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        exported = f"{self.pairs} of {self.pairs + len(self.rejected)} pairs of a kind and an operation are exported"
        asked = f"{self.cases} cases, {self.changed} changed copies of them"
        counted = f"{self.answers} answers, {self.errors} errors, {len(self.differences)} differences"
        lines = [f"{exported}; {asked}; {counted}"]
        lines += [f"  {count} differ for a reason: {reason.text}" for reason, count in self.excused.most_common()]
        return "\n".join(lines)

    def failures(self) -> Iterator[str]:
        """Yield the differences, the reasons that excuse none of them, and whether too few pairs were exported."""
        yield from self.differences
        if self.answers == self.errors:
            yield "nothing was compared"
        if self.pairs < _LEAST_EXPORTED * (self.pairs + len(self.rejected)):
            yield f"fewer than {_LEAST_EXPORTED:.0%} are exported: {self.rejected}"
        for reason in reasons() if self.changed >= _COPIES * self.cases else ():
            if reason not in self.excused:
                yield f"no answer differs any more because of this; remove it from customizations.yaml: {reason.text}"


def exported(found: Iterable[Entry], tally: Tally, operations: Sequence[Operation] = _EXPORTED) -> Iterator[Pair]:
    """Yield every pair with a script; the reason of any other one is in the tally."""
    for entry in found:
        definition = entry.definition
        assert definition
        for operation in filter(definition.answers, operations):
            try:
                text = script_of(definition, operation)
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
    apply. Where the Karta's answer leaves out a report that cannot be read, nothing is compared.
    """
    expected = pair.expected(call)
    if _UNREAD.search(expected.error) or (expected.results and expected.results.get("unread")):
        return ""
    if expected.results is None or answered.results is None:
        return "" if expected.results is answered.results and not answered.defect else f"{expected} -> {answered}"
    wanted, found = _compared(expected.results), _compared(answered.results)
    places = [place for name in wanted for place in differences(name, wanted[name], found.get(name))]
    return "\n  ".join(places)


def compare(peer: Peer, copies: int, more: Iterable[Pair] = ()) -> Tally:
    """Ask our own Lua engine and Karmada's VM all cases of the catalogue, and that many changed copies of each."""
    tally = Tally()
    for pair in chain(exported(entries(), tally), more):
        engines = {"our Lua engine": _ask_ours, "Karmada's VM": peer.answers}
        if pair.operation is Operation.REVISE_COMPONENTS:  # Karmada's machine does not know it
            del engines["Karmada's VM"]
        _compare(pair, engines, copies, tally)
    return tally


def compare_ours(pair: Pair, tally: Tally, copies: int = 0) -> None:
    """Ask our own Lua engine the cases of a pair and changed copies of them, and count."""
    _compare(pair, {"our Lua engine": _ask_ours}, copies, tally)


def _compare(pair: Pair, engines: Mapping[str, Ask], copies: int, tally: Tally) -> None:
    changed = list(changed_calls(pair.calls, str(pair), copies))
    tally.cases += len(pair.calls)
    tally.changed += len(changed)
    for engine, ask in engines.items():
        _judge(pair, pair.calls, engine, ask, tally)
        _judge(pair, changed, engine, ask, tally, reasons())


def _ask_ours(questions: Iterable[Question]) -> Iterator[Outcome]:
    return map(ours.ask, questions)


def _judge(
    pair: Pair, calls: Sequence[Call], engine: str, ask: Ask, tally: Tally, known: Sequence[Reason] = ()
) -> None:
    def differs(call: Call) -> str:
        (answered,) = ask([pair.question(call)])
        return difference(pair, call, answered)

    # All answers are taken first: a reason may ask the engine again.
    for call, answered in zip(calls, list(ask(map(pair.question, calls))), strict=True):
        tally.answers += 1
        tally.errors += answered.results is None
        found = difference(pair, call, answered)
        reason = next((each for each in known if found and each.excuses(pair.operation, call, found, differs)), None)
        if reason:
            tally.excused[reason] += 1
        elif found:
            tally.differences.append(f"{pair} in {engine}: {found}\n  {_shown(call)}")


def _shown(call: Call) -> str:
    parts = {"object": call.object, "observed": call.observed, "items": [item.to_json() for item in call.items]}
    return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False)


def _compared(results: Mapping[str, JSON]) -> Mapping[str, JSON]:
    if "aggregatedStatus" in results:
        results = {"aggregatedStatus": {"status": (results["aggregatedStatus"] or {}).get("status")}}
    return {
        name: without_empty(without_nulls(value)) if name in _WITHOUT_REFERENCE else value
        for name, value in results.items()
    }
