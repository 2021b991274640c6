"""Traces an answer back to expressions and places, and lists the reads of an operation for any object of a kind."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, NOTHING, changes, field_path
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.definitions.karta import PREFIX, Definition, ReferenceReader, resolved
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotation
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.engine.explain.aggregation import aggregation_facts
from karta_interpreter.engine.explain.dependencies import dependency_facts
from karta_interpreter.engine.explain.explanation import Explanation, Fact, InterpreterLayer
from karta_interpreter.engine.explain.reading import annotation_field
from karta_interpreter.engine.explain.replicas import (
    component_facts,
    replica_facts,
    revision_facts,
)
from karta_interpreter.engine.explain.retention import retention_facts
from karta_interpreter.engine.explain.status import health_facts, mapping_facts, status_facts
from karta_interpreter.engine.explain.warnings import warnings_of
from karta_interpreter.engine.operations import (
    CARRIED,
    DEFAULT_OPTIONS,
    NATIVE,
    SLOTS,
    Call,
    OnPrint,
    Operation,
    Options,
    Results,
    by_operation,
    healthy_statuses,
    interpret,
)


def explain(
    definition: Definition,
    call: Call,
    options: Options = DEFAULT_OPTIONS,
    *,
    origin: str = "",
    reader: ReferenceReader | None = None,
    on_print: OnPrint = None,
) -> Explanation:
    """Answer a call as `interpret` does, and explain the answer. Never raises.

    ``origin`` names the source of the definition. ``reader`` knows the objects that the definition refers to.
    ``on_print`` gets what scripts print. The reads of a script are not traced.
    """
    results, error, facts = None, "", list[Fact]()
    try:
        # Resolved once, so that the facts below use the same values as the answer.
        definition = options.counting(resolved(definition, call.object, reader, options.devices))
        results = interpret(definition, call, options, on_print=on_print, reader=reader)
    except InterpretationError as failure:
        error = str(failure)
    try:
        for fact in _facts(definition, call, options, results or {}):
            facts.append(fact)  # one by one, to keep the facts before an error
    except InterpretationError as failure:
        facts.append(Fact("stopped", f"the chain ends here: {failure}"))
    # If a referenced object cannot be read or a script ran out of time, the error stays whatever the annotations are.
    if not (error and (definition.references or definition.scripts.of(call.operation))):
        facts += _decisive(definition, call, options, results or {"error": error}, facts)
    layers = _layers(definition, call.operation, origin)
    return Explanation(call, definition.name, definition.gvk, layers, tuple(facts), results, error)


def _facts(definition: Definition, call: Call, options: Options, results: Results) -> Iterator[Fact]:
    scripts = definition.scripts.of(call.operation)
    for script in scripts:
        field = annotation_field("lua") if script in definition.annotations.lua else ""
        yield Fact("script", f"script {script.name} answers; what it reads is not traced", field=field)
    if not scripts and definition.answers(call.operation):
        yield from warnings_of(definition, call)
        yield from _EXPLAINED[call.operation].facts(definition, call, options, results)


def _decisive(
    definition: Definition, call: Call, options: Options, answer: Mapping[str, JSON], facts: Sequence[Fact]
) -> Iterator[Fact]:
    """Yield the annotations that change the answer, except for the annotations that other facts name."""
    for annotation in _read_annotations(call.operation):
        field = annotation_field(annotation.name)
        is_named = any(field == fact.field or field in fact.note for fact in facts)
        if is_named or not annotation.is_set(definition.annotations):
            continue
        others = replace(definition, annotations=annotation.without(definition.annotations))
        other: Mapping[str, JSON]
        try:
            other = interpret(others, call, options)
        except InterpretationError as failure:
            other = {"error": str(failure)}
        for path, _, value in list(changes(answer, other))[-1:]:
            note = f"{annotation.name}: without it {field_path(path)} would be {_shown(value)}"
            yield Fact("annotation", note, field=field)


def _shown(value: JSON) -> str:
    if value is NOTHING:
        return "nothing"
    return "another" if isinstance(value, dict | list) else json.dumps(value)


_PODS: Final = ("specDefinition", "instanceIdPath")


class _Explained(NamedTuple):
    """The parts of explanations for one operation.

    ``facts`` yields the facts about an answer. Its results are empty if the answer is an error. ``fields`` are the
    definition's fields with the expressions that the operation reads. ``without`` says what Karmada does without an
    answer.
    """

    facts: Callable[[Definition, Call, Options, Results], Iterator[Fact]]
    fields: tuple[str, ...]
    without: str


_EXPLAINED: Final = by_operation(
    interpret_replica=_Explained(
        replica_facts, (*_PODS, "scaleDefinition"), "the object is not a workload and has no replicas to divide"
    ),
    interpret_component=_Explained(component_facts, (*_PODS, "scaleDefinition"), "the object has no components"),
    revise_replica=_Explained(
        revision_facts, ("scaleDefinition", "instanceIdPath"), "every cluster gets the object unchanged"
    ),
    revise_components=_Explained(
        revision_facts,
        ("scaleDefinition", "instanceIdPath"),
        "a cluster gets the object only if it has the components that the scheduler assigned",
    ),
    retain=_Explained(
        retention_facts, ("scaleDefinition", "suspendDefinition"), "the template replaces the member's object"
    ),
    aggregate_status=_Explained(aggregation_facts, (), "the template's status is never written"),
    interpret_status=_Explained(status_facts, (), "the whole status is collected"),
    interpret_health=_Explained(
        health_facts, ("phaseDefinition", "conditionsDefinition"), "every object counts as healthy"
    ),
    interpret_dependency=_Explained(dependency_facts, _PODS, "the object has no dependencies"),
)
# The annotations that `InterpreterLayer` and a separate fact explain.
_DECIDES_WHO_ANSWERS: Final = ("operations", "lua")


def _read_annotations(operation: Operation) -> list[Annotation]:
    return [
        annotation
        for annotation in ANNOTATIONS
        if operation in annotation.read_by and annotation.name not in _DECIDES_WHO_ANSWERS
    ]


def outline(definition: Definition, operation: Operation, *, origin: str = "") -> Explanation:
    """Explain the reads of an operation for any object of the kind. The call of the explanation has an empty object."""
    layers = _layers(definition, operation, origin)
    facts = tuple(_reads(definition, operation)) if definition.answers(operation) else ()
    return Explanation(Call(operation, {}), definition.name, definition.gvk, layers, facts)


def _reads(definition: Definition, operation: Operation) -> Iterator[Fact]:
    karta, _ = read_karta(definition.manifest)
    scripts = definition.scripts.of(operation)
    reads_karta = not scripts or any(SLOTS[operation].own_function in script.text for script in scripts)
    if karta is None:
        return
    annotations = []
    if not set(scripts).isdisjoint(definition.annotations.lua):
        annotations.append("lua")
    if reads_karta:
        annotations += [annotation.name for annotation in _read_annotations(operation)]
        for path, component in karta.spec.structure_definition.components:
            for at, text in expressions_of(component, path):
                if not set(_EXPLAINED[operation].fields).isdisjoint(map(str, at)):
                    name = component.name
                    yield Fact("reads", name, component=name, field=field_path(at), expression=str(text))
    for name in annotations:
        # Other operations read only whether `observedGeneration` is about the object, and if later releases have it.
        matters = {
            "aggregate": not definition.annotations.observes_generation,
            "later-status": definition.annotations.observes_generation_later,
        }.get(name, True)
        written = karta.annotations.get(f"{PREFIX}{name}")
        if written and (matters or operation is Operation.AGGREGATE_STATUS):
            yield Fact("reads", f"annotation {name}", field=annotation_field(name), expression=written)
    if reads_karta and operation is Operation.INTERPRET_HEALTH and definition.annotations.health is None:
        yield from (fact for _, _, fact in mapping_facts(definition))
        yield Fact("reads", f"healthy: {', '.join(sorted(healthy_statuses(definition)))}")


# The layer that answers a call, and what Karmada would do before and after it. For each operation Karmada asks
# customizations of the cluster, webhooks, the scripts that it carries and its own code, in this order. The first one
# that is enabled decides, even with an error (``pkg/resourceinterpreter/interpreter.go``).


def _layers(definition: Definition, operation: Operation, origin: str) -> tuple[InterpreterLayer, ...]:
    """Return the layers in Karmada's order. ``origin`` is the source of the definition, such as ``catalogue``."""
    scripts, gvk = definition.scripts.of(operation), definition.gvk
    customization = f"a ResourceInterpreterCustomization of the control plane with {operation}, if there is one"
    layers = [InterpreterLayer("customization", customization)]
    if scripts:
        names = ", ".join(script.name for script in scripts)
        layers.append(InterpreterLayer("script", f"script of {names}", answers=True))
    allowed, karta = definition.answers(operation), "none"
    if definition.is_counted_apart(operation):
        karta = f"does not answer {operation} beside a script for {OTHER_HALF[operation]} alone"
    elif definition.has_karta and not allowed:
        karta = "left out by the annotation karta-interpreter.io/operations"
    elif definition.has_karta:
        of_version = ", by its annotation other-versions" * (definition.object_name != definition.name)
        karta = f"Karta {definition.name} ({origin or definition.source or 'given'}){of_version}"
    layers.append(InterpreterLayer("karta", karta, answers=allowed and not scripts))
    after = f"no answer: {_EXPLAINED[operation].without}"
    if operation in CARRIED.get(gvk, ()):
        after = "the script that it carries for the kind"
    elif operation in NATIVE.get(gvk, ()):
        after = "its own code"
    return (*layers, InterpreterLayer("karmada", after))
