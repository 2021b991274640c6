"""An answer that differs from another one to the same question."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from karta_interpreter.base.findings import format_path
from karta_interpreter.base.k8s import GVK, JSON, NOTHING, NewObject, Object
from karta_interpreter.engine.comparison.cause import cause_of
from karta_interpreter.engine.comparison.interpreter import CallOutcome, Interpreter, ask
from karta_interpreter.engine.comparison.known import reason_of
from karta_interpreter.engine.comparison.questions import SourcedCall
from karta_interpreter.engine.comparison.unit import unit_change
from karta_interpreter.engine.operations import Call, OnPrint, Options
from karta_interpreter.engine.suites import ERROR, SILENT, Answer, Difference, compare_answers


class Change(NamedTuple):
    """A question with two different answers, or without differences one that could not be asked.

    ``name`` is that of the object or of the case, ``source`` and ``line`` are its place in a file. Of an object that a
    Karmada holds, ``today`` says who gives the answer today, and ``cluster`` the member that it is about.
    """

    gvk: GVK
    name: str
    operation: str = ""
    differences: tuple[Difference, ...] = ()
    source: str = ""
    line: int = 0
    today: str = ""
    cluster: str = ""
    reasons: Mapping[str, str] = MappingProxyType({})
    """Why the answers differ. ``known``: that of `known_reason`, ``cause``: by the new definition."""

    def to_json(self) -> Object:
        """Return the change for machines."""
        about = {
            "source": self.source,
            "line": self.line,
            "operation": self.operation,
            "today": self.today,
            "cluster": self.cluster,
            **self.reasons,
        }
        return {
            **self.gvk.type_meta,
            "name": self.name,
            **{field: value for field, value in about.items() if value},
            "differences": differences_json(self.differences),
        }


def differences_json(changed: Iterable[Difference]) -> list[JSON]:
    """Return the places as JSON."""
    places = list[JSON]()
    for path, before, after in changed:
        place: NewObject = {"path": format_path(path)}
        if before is not NOTHING:
            place["from"] = before
        if after is not NOTHING:
            place["to"] = after
        places.append(place)
    return places


def change_of(
    question: SourcedCall,
    before: Interpreter | None,
    after: Interpreter | None,
    options: Options,
    *,
    explained: bool = False,
    on_print: OnPrint = None,
) -> Change:
    """Return the change from one interpreter's answer to another's, without differences if they answer alike."""
    call, references = question.call, question.references
    answers = (answer_of(interpreter, call, references, options, on_print) for interpreter in (before, after))
    changed, reasons = tuple(differences(*answers)), dict[str, str]()
    if changed:
        if known := reason_of(before, after, call.operation, changed):
            reasons["known"] = known
        if note := before and unit_change(before, after, call, options, changed):
            reasons["note"] = note
        if explained and (cause := cause_of(before, after, call, references, options, changed)):
            reasons["cause"] = cause
    return Change(
        question.gvk, question.title, str(call.operation), changed, question.source, question.line, reasons=reasons
    )


def answer_of(
    interpreter: Interpreter | None,
    call: Call,
    references: Iterable[Object],
    options: Options,
    on_print: OnPrint = None,
) -> CallOutcome | None:
    """Return the answer of a side, or None if nothing answers the operation there."""
    if interpreter is None or not interpreter.is_asked(call.operation):
        return None
    return ask(interpreter, call, references, options, on_print)


def differences(before: CallOutcome | None, after: CallOutcome | None) -> Iterator[Difference]:
    """Yield each place that differs between two answers. Two errors are equal."""
    return compare_answers(verdict_of(before), verdict_of(after))


def verdict_of(outcome: CallOutcome | None) -> Answer:
    """Return an outcome in the form that is compared."""
    if outcome is None:
        return SILENT
    return f"{ERROR}{outcome.error}" if outcome.results is None else outcome.results
