"""The two sides of ``diff`` and ``replay``, the differences between their answers to a question, and the reasons."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click

from karta_interpreter.base.findings import did_you_mean, format_path
from karta_interpreter.base.k8s import GVK, JSON, NOTHING, Object, field_path, json_pointer, patch
from karta_interpreter.cli.calls import CallOutcome, ask
from karta_interpreter.cli.definitions import (
    CASE,
    DefinitionFiles,
    Interpreter,
    NoDefinition,
    interpreter_of,
    print_findings,
    read_existing,
)
from karta_interpreter.cli.files import STDIN, exists, is_path
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, say
from karta_interpreter.definitions.karta import Definition, Known, catalogue_kinds
from karta_interpreter.definitions.sources import ORIGIN, SourceDefinitions, combine, find_in_catalogue
from karta_interpreter.engine.explain import Fact, explain, outline
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites import ERROR, SILENT, Answer, Difference, compare_answers

CATALOGUE: Final = "catalogue"
_EXCERPT: Final = 160
# Rules of facts that decide about an answer as a whole.
_DECIDING: Final = ("annotation", "script", "matched", "stopped")
_MOST_CAUSES: Final = 2
_PREFIX: Final = "spec.structureDefinition."


class Side:
    """What answers for each kind: files and folders in their order, then the catalogue, as `serve` has them.

    A text of a side is a path of Kartas or customizations, ``catalogue``, or a kind of the catalogue. Raises
    UsageProblem for any other.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._paths = [text for text in texts if text == STDIN or exists(text)]
        self._names = [text for text in texts if text not in self._paths]
        self._interpreters: dict[GVK, Interpreter | None] = {}
        for name in self._names:
            kinds = catalogue_kinds()
            if not any(_is_about(name, gvk) for gvk in kinds) and not is_path(name):
                hint = did_you_mean(name, sorted({CATALOGUE, *(gvk.kind for gvk in kinds)}))
                raise UsageProblem(f"error: {name} is neither a file nor a kind of the catalogue; {hint}")

    def find(self, gvk: GVK) -> Interpreter | None:
        """Return the interpreter of a kind, or None if nothing answers for it. Findings about it go to stderr once."""
        if gvk not in self._interpreters:
            self._interpreters[gvk] = None
            files = list(self._files)
            is_named = any(_is_about(name, gvk) for name in self._names)
            if is_named and (entry := find_in_catalogue(gvk)):
                files.append(DefinitionFiles(SourceDefinitions((entry,))))
            with suppress(NoDefinition):
                self._interpreters[gvk] = interpreter_of(gvk, files)
        return self._interpreters[gvk]

    @cached_property
    def _files(self) -> list[DefinitionFiles]:
        files = read_existing(self._paths)
        for path, read in zip(self._paths, files, strict=True):
            if not (read.layer.entries or read.customizations):
                if {finding.message for broken in read.layer.quarantined for finding in broken.findings} == {CASE}:
                    raise Problem(
                        f"error: {path}: these are suites; give a Karta or its scripts here, and suites as FILE"
                    )
                print_findings(combine([read.layer]))
                raise Problem(f"error: {path}: there is no definition in it that can be used")
        return files


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, *gvk.names)


def answer_of(
    interpreter: Interpreter | None, call: Call, references: Iterable[Object], options: Options, source: str = ""
) -> CallOutcome | None:
    """Return the answer of a side, or None if nothing answers the operation there."""
    if interpreter is None or not interpreter.is_asked(call.operation):
        return None
    return ask(interpreter, call, references, options, source)


def differences(before: CallOutcome | None, after: CallOutcome | None) -> Iterator[Difference]:
    """Yield each place that differs between two answers. Two errors are equal."""
    return compare_answers(verdict_of(before), verdict_of(after))


def verdict_of(outcome: CallOutcome | None) -> Answer:
    """Return an outcome in the form that is compared."""
    if outcome is None:
        return SILENT
    return f"{ERROR}{outcome.error}" if outcome.results is None else outcome.results


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


def print_changes(
    text: str, warnings: Iterable[str], questions: str, different: int, *, compared: bool, known: int = 0
) -> None:
    """Print the changes, and to stderr the warnings and the numbers.

    Ends the command if there are changes, or if no question was ``compared``.
    """
    say(text, nl=False)
    for warning in warnings:
        say(one_line(f"warning: {warning}"), err=True)
    outcome = f"{different} answers differ"
    if not compared:
        outcome = "nothing was compared"
    elif different == 1:
        outcome = "1 answer differs"
    if known:
        outcome += f", {known} with a known reason"
    say(f"{questions}: {outcome}", err=True)
    if different or not compared:
        raise SystemExit(Problem.exit_code)


def difference_lines(changed: Sequence[Difference], *, full: bool) -> Iterator[str]:
    """Yield the lines that show the places, or one line for an operation that only one side answers."""
    # Below a path, the mark of an operation that one side does not answer is a text of the answers.
    if any(not difference.path and SILENT in difference[1:] for difference in changed):
        if changed[0].expected == SILENT:
            yield click.style("  answered now", fg="green")
        else:
            yield click.style("  no longer answered", fg="red")
        return
    for difference in changed:
        if difference.path:
            yield f"  {field_path(difference.path)}"
        for sign, colour, value in (("-", "red", difference.expected), ("+", "green", difference.actual)):
            if value is not NOTHING:
                # An error has no path.
                is_error = isinstance(value, str) and not difference.path
                shown = value if is_error else _shown(value, full=full)
                yield click.style(f"  {sign} {one_line(shown)}", fg=colour)


def _shown(value: JSON, *, full: bool) -> str:
    # A text in an answer has quotes, so that "3" is not the number, and "" is seen.
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if full or len(text) <= _EXCERPT:
        return text
    return f"{text[:_EXCERPT]}… ({len(text)} characters: --full)"


def differences_json(changed: Sequence[Difference]) -> list[JSON]:
    """Return the places as JSON."""
    places = list[JSON]()
    for path, before, after in changed:
        place: dict[str, JSON] = {"path": format_path(path)}
        if before is not NOTHING:
            place["from"] = before
        if after is not NOTHING:
            place["to"] = after
        places.append(place)
    return places


_FIELD = re.compile(r"`([\w.]+)`")
_COUNTS: Final = {"replica", "requires"}
KNOWN_FILE = Path(__file__).with_name("known.json")
"""Written from the facts of the kinds and docs/bundled-scripts.yaml by `make generate`."""


def reason_of(
    before: Interpreter | None, after: Interpreter | None, operation: str, changed: Iterable[Difference]
) -> str:
    """Return the reason if one side is the catalogue's Karta and the other one a script, or else ""."""
    if before is None or after is None:
        return ""
    sides = {_is_by_script(before, operation): before, _is_by_script(after, operation): after}
    if len(sides) < len((before, after)) or sides[False].entry.origin != ORIGIN:
        return ""
    return known_reason(sides[False].entry.definition.gvk, operation, changed)


def known_reason(gvk: GVK, operation: str, changed: Iterable[Difference]) -> str:
    """Return why the catalogue's Karta answers otherwise than Karmada's own script for a kind, "" if it is not known.

    In a template, revised or retained, only fields that the reason names in backticks may differ. If it names a count
    or requirements, only that.
    """
    reason = _known_reasons().get(f"{gvk.api_version} {gvk.kind}", {}).get(operation, "")
    fields = {name.rpartition(".")[2] for name in _FIELD.findall(reason)}
    results = {"revised", "retained"}
    if not fields.isdisjoint(_COUNTS):
        results |= _COUNTS
    for path, *_ in changed:
        if path and path[0] in results and fields.isdisjoint(path):
            return ""
    return reason


def _is_by_script(interpreter: Interpreter, operation: str) -> bool:
    definition = interpreter.entry.definition
    return not set(definition.scripts.of(operation)) <= set(definition.annotations.lua)


@cache
def _known_reasons() -> Mapping[str, Mapping[str, str]]:
    reasons: dict[str, Any] = json.loads(KNOWN_FILE.read_text(encoding="utf-8"))
    return reasons
