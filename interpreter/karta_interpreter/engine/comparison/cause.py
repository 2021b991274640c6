"""The cause of a change: the expressions or annotations of the new definition that give the places that differ."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final

from karta_interpreter.base.k8s import Object, field_path, json_pointer, patch
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.comparison.unit import unit_change
from karta_interpreter.engine.explain import Fact, explain, outline
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites import Difference

# Rules of facts that decide about an answer as a whole.
_DECIDING: Final = ("annotation", "script", "matched", "stopped")
_MOST_CAUSES: Final = 2
_PREFIX: Final = "spec.structureDefinition."


def cause_of(
    before: Interpreter | None,
    after: Interpreter | None,
    call: Call,
    references: Iterable[Object],
    options: Options,
    changed: Sequence[Difference],
) -> str:
    """Return the new definition's expressions or annotations that give the differing places, as `explain` knows.

    Only those that differ in the old definition. If none gives the places, the cause is all fields that differ, without
    those that the operation does not read if there are others. Empty if there is no new answer.
    """
    if after is None or not after.is_asked(call.operation):
        return ""
    if text := unit_change(before, after, call, options, changed):
        return text
    explanation = explain(after.entry.definition, call, options, reader=Known.of(references))
    facts = _facts_at({json_pointer(difference.path) for difference in changed}, explanation.facts)
    fields = tuple[str, ...]()
    if before:
        changes = patch.changes(before.entry.definition.manifest, after.entry.definition.manifest)
        fields = tuple(field_path(change.path) for change in changes)
    if fields:
        facts = [fact for fact in facts if fact.field.startswith(fields) or fact.rule in _DECIDING]
    causes = list(map(_cause, facts))
    if not facts:
        definitions = [side.entry.definition for side in (before, after) if side]
        causes = [field.removeprefix(_PREFIX) for field in _read_by(definitions, call.operation, fields)]
    return "; ".join([*dict.fromkeys(causes)][:_MOST_CAUSES]) or explanation.definition


def _facts_at(pointers: Collection[str], facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that decide, and those about places that are at, above or below the pointers."""
    above = set(chain.from_iterable(map(_beginnings, pointers)))
    chosen, defaults = list[Fact](), list[Fact]()
    for fact in facts:
        if fact.rule in _DECIDING:
            chosen.append(fact)
        elif not (fact.field and fact.answer):
            continue
        elif fact.answer in above or any(beginning in pointers for beginning in _beginnings(fact.answer)):
            (chosen if fact.expression else defaults).append(fact)
    # A part without an expression is a default. It is named only if there is nothing else.
    return chosen or defaults


def _read_by(definitions: Iterable[Definition], operation: Operation, fields: Sequence[str]) -> Sequence[str]:
    """Return the fields that the operation reads in one of the definitions, or else all."""
    places = list[str]()
    for definition in definitions:
        places += [fact.field for fact in outline(definition, operation).facts if fact.field]
    read = [field for field in fields if any(field.startswith(place) or place.startswith(field) for place in places)]
    return read or fields


def _beginnings(pointer: str) -> list[str]:
    """Return a place and those around it.

    >>> _beginnings("/a/b")
    ['', '/a', '/a/b']
    """
    steps = pointer.split("/")
    return ["/".join(steps[: number + 1]) for number in range(len(steps))]


def _cause(fact: Fact) -> str:
    if fact.rule in ("annotation", "script", "stopped") or not fact.field:
        return f"{fact.rule}: {fact.note}"
    return ": ".join(filter(None, [fact.field.removeprefix(_PREFIX), " ".join(fact.expression.split())]))
