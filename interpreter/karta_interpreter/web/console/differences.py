"""Different answers of two definitions about the examples of their kind and the texts of the page."""

from collections.abc import Iterator, Sequence
from typing import Final

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.findings import DefinitionError, format_path
from karta_interpreter.base.k8s import GVK, JSON, NOTHING, Object
from karta_interpreter.definitions.karta import Definition, Known, resolved
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.engine.operations import Call, Options
from karta_interpreter.engine.suites.comparison import SILENT, Answer, Difference, compare_answers
from karta_interpreter.web.console.answers import (
    ORDER,
    Question,
    inputs_of,
    kartas_of,
    outcome,
    replicas_or_more,
)
from karta_interpreter.web.console.catalogue import cases, suites_next_to
from karta_interpreter.web.console.texts import read_cases

_SUITE: Final = "Suite"
_MOST: Final = 500
"""The most differences that a page shows."""


def differences(question: Question) -> dict[str, JSON]:
    """Return the calls with different answers and their places. ``unanswered`` explains why nothing can be compared."""
    try:
        before, after = _definition(question.before, "the definition before"), _definition(question.karta, "the Karta")
    except DefinitionError as error:
        return {"unanswered": str(error)}
    if before.gvk != after.gvk:
        return {"unanswered": f"the definition before is for {before.gvk}, the Karta for {after.gvk}"}
    try:
        calls, options = list(_calls(question, after)), question.options
    except (InterpretationError, SuiteError) as error:
        return {"unanswered": str(error)}
    different: list[JSON] = []
    for name, call, references in calls:
        places = list(
            compare_answers(*(_answer(definition, call, options, references) for definition in (before, after)))
        )
        if places:
            different.append({"name": name, "operation": str(call.operation), "places": list(map(_place, places))})
    return {**before.gvk.type_meta, "calls": len(calls), "differences": different[:_MOST], "number": len(different)}


def _definition(text: str, named: str) -> Definition:
    loaded = [loaded for loaded, _ in kartas_of(text)]
    definition = next((candidate.definition for candidate in loaded if candidate.definition), None)
    if definition is None:
        wrong = next((finding for candidate in loaded for finding in candidate.findings), None)
        raise DefinitionError(f"{named}, line {wrong.line}: {wrong}" if wrong else f"{named} is empty")
    return definition


def _calls(question: Question, definition: Definition) -> Iterator[tuple[str, Call, Sequence[Object]]]:
    """Yield the calls of the suite or else of the catalogue, and those about the object, each with its name."""
    karta = catalogue_kinds().get(definition.gvk)
    catalogue_cases = cases(definition.gvk, suites_next_to(karta)) if karta else ()
    own = [case for case in read_cases(question.suite) if GVK.of(case.call.object) == definition.gvk]
    for case in own or catalogue_cases:
        yield case.name, case.call, case.references
    inputs = inputs_of(question)
    if inputs.object is None or GVK.of(inputs.object.value) != definition.gvk:
        return
    options, objects = question.options, Known.of(inputs.references)
    replicas = replicas_or_more(question.replicas, definition, inputs.object.value, options, objects)
    for operation in ORDER:
        if not inputs.missing(operation):
            yield "the object of the workbench", inputs.call(operation, inputs.object, replicas), inputs.references


def _answer(definition: Definition, call: Call, options: Options, references: Sequence[Object]) -> Answer:
    if not definition.answers(call.operation):
        return SILENT
    objects = Known.of(references)
    return outcome(resolved(definition, call.object, objects), call, options, objects)


def _place(found: Difference) -> Object:
    sides = {"before": found.expected, "after": found.actual}
    return {"path": format_path(found.path), **{side: value for side, value in sides.items() if value is not NOTHING}}
