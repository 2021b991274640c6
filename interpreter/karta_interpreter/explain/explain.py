"""From an answer back to expressions and places, and what an operation reads of any object of a kind."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from karta_interpreter.errors import InterpretationError, QueryError
from karta_interpreter.explain.aggregation import aggregation_facts
from karta_interpreter.explain.dependencies import dependency_facts
from karta_interpreter.explain.explanation import Explanation, Fact, Layer
from karta_interpreter.explain.missing import warnings_about
from karta_interpreter.explain.pods import component_facts, replica_facts, revision_facts
from karta_interpreter.explain.reading import about, annotation_field
from karta_interpreter.explain.retention import retention_facts
from karta_interpreter.explain.status import health_facts, status_facts
from karta_interpreter.k8s.patch import changes
from karta_interpreter.k8s.values import NOTHING, field_path
from karta_interpreter.karta.annotations import PREFIX, Annotations
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.reference_resolver import Reader, resolved
from karta_interpreter.karta.schema import read_karta
from karta_interpreter.karta.schema_types import expressions
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.operations import DEFAULT_OPTIONS, Call, Operation, Options, Results, interpret
from karta_interpreter.operations.interpret_health import healthy_statuses
from karta_interpreter.operations.interpretation import OnPrint
from karta_interpreter.operations.native_interpreters import CARRIED, NATIVE

_Facts: TypeAlias = Callable[[Definition, Call, Options, Results], Iterator[Fact]]
"""The facts about an answer, whose results are empty where it is an error."""

_FACTS: Final[dict[Operation, _Facts]] = {
    Operation.INTERPRET_REPLICA: replica_facts,
    Operation.INTERPRET_COMPONENT: component_facts,
    Operation.REVISE_REPLICA: revision_facts,
    Operation.RETAIN: retention_facts,
    Operation.AGGREGATE_STATUS: aggregation_facts,
    Operation.INTERPRET_STATUS: status_facts,
    Operation.INTERPRET_HEALTH: health_facts,
    Operation.INTERPRET_DEPENDENCY: dependency_facts,
}


def explain(
    definition: Definition,
    call: Call,
    options: Options = DEFAULT_OPTIONS,
    *,
    origin: str = "",
    reader: Reader | None = None,
    on_print: OnPrint = None,
) -> Explanation:
    """Answer a call as `interpret` does, and explain the answer; nothing is raised.

    ``origin`` names where the definition comes from, ``reader`` knows the objects that it refers to, ``on_print`` gets
    what scripts print. What a script reads is not traced.
    """
    results, error, facts = None, "", list[Fact]()
    try:
        # Resolved once: the facts below are about the same values as the answer.
        definition = resolved(definition, call.object, reader)
        results = interpret(definition, call, options, on_print=on_print)
    except InterpretationError as failure:
        error = str(failure)
    try:
        for fact in _facts(definition, call, options, results or {}):
            facts.append(fact)  # one by one: those before an error are kept
    except (InterpretationError, QueryError) as failure:
        facts.append(Fact("stopped", f"the chain ends here: {failure}"))
    # An error stays where an object that is referred to cannot be read, and may be a script that ran out of time.
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
        yield from warnings_about(definition, call.object, call.operation)
        yield from _FACTS[call.operation](definition, call, options, results)


def _decisive(
    definition: Definition, call: Call, options: Options, answer: Results, facts: Sequence[Fact]
) -> Iterator[Fact]:
    """Yield the annotations without which the answer would be another one, but for those that other facts name."""
    for name in _READ[call.operation][1]:
        field, attribute = annotation_field(name), name.replace("-", "_")
        unset = replace(definition.annotations, **{attribute: getattr(Annotations(), attribute)})
        if unset == definition.annotations or any(field == fact.field or field in fact.note for fact in facts):
            continue
        try:
            other = interpret(replace(definition, annotations=unset), call, options)
        except InterpretationError as failure:
            other = {"error": str(failure)}
        for path, _, value in list(changes(answer, other))[-1:]:
            compound = "nothing" if value is NOTHING else "another" if isinstance(value, dict | list) else ""
            yield Fact(
                "annotation",
                f"{name}: without it {field_path(path)} would be {compound or json.dumps(value)}",
                field=field,
            )


_PODS: Final = ("specDefinition", "instanceIdPath")
_READ: Final[dict[Operation, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    Operation.INTERPRET_REPLICA: ((*_PODS, "scaleDefinition"), ("added-containers",)),
    Operation.INTERPRET_COMPONENT: ((*_PODS, "scaleDefinition"), ("added-containers",)),
    Operation.REVISE_REPLICA: (("scaleDefinition", "instanceIdPath"), ("elastic",)),
    Operation.RETAIN: (("scaleDefinition", "suspendDefinition"), ("retain", "queue-labels")),
    Operation.AGGREGATE_STATUS: ((), ("aggregate", "required-status", "outcomes")),
    Operation.INTERPRET_STATUS: ((), ("aggregate",)),
    Operation.INTERPRET_HEALTH: (
        ("phaseDefinition", "conditionsDefinition"),
        ("health", "healthy-statuses", "aggregate"),
    ),
    Operation.INTERPRET_DEPENDENCY: (_PODS, ("added-containers", "dependencies")),
}
"""The fields with expressions, and the annotations, that an operation reads."""


def outline(definition: Definition, operation: Operation, *, origin: str = "") -> Explanation:
    """Explain what an operation reads of any object of the kind; the call of the explanation has an empty object."""
    layers = _layers(definition, operation, origin)
    facts = tuple(_reads(definition, operation)) if definition.answers(operation) else ()
    return Explanation(Call(operation, {}), definition.name, definition.gvk, layers, facts)


def _reads(definition: Definition, operation: Operation) -> Iterator[Fact]:
    karta, _ = read_karta(definition.manifest)
    names, annotations = _READ[operation]
    scripts = definition.scripts.of(operation)
    reads_karta = not scripts or any(SLOTS[operation].own_function in script.text for script in scripts)
    if karta is None:
        return
    for path, component in karta.spec.structure_definition.components if reads_karta else ():
        for at, text in expressions(component, path):
            if not set(names).isdisjoint(map(str, at)):
                yield Fact(
                    "reads", component.name, component=component.name, field=field_path(at), expression=str(text)
                )
    is_own = not set(scripts).isdisjoint(definition.annotations.lua)
    for name in (*(["lua"] if is_own else ()), *(annotations if reads_karta else ())):
        # Of the aggregation, other operations ask only whether `observedGeneration` is about the object.
        matters = name != "aggregate" or not definition.annotations.observes_generation
        if (written := karta.annotations.get(f"{PREFIX}{name}")) and (
            matters or operation is Operation.AGGREGATE_STATUS
        ):
            yield Fact("reads", f"annotation {name}", field=annotation_field(name), expression=written)
    if reads_karta and operation is Operation.INTERPRET_HEALTH and definition.annotations.health is None:
        yield from _mappings(definition)


def _mappings(definition: Definition) -> Iterator[Fact]:
    for status, matchers in definition.status.mappings if definition.status else ():
        for index, matcher in enumerate(matchers):
            parts = [f'phase "{matcher.phase}"'] if matcher.phase else []
            parts += [f"condition {each.type}={each.status or 'any'}" for each in matcher.conditions]
            parts += [f'byExpression "{matcher.expected}"'] if matcher.expression else []
            field = f"statusDefinition.statusMappings.{status.lower()}[{index}]"
            note = f"{status}: {' and '.join(parts) or 'always'}"
            yield about(definition, definition.root, field, matcher.expression, rule="reads", note=note)
    yield Fact("reads", f"healthy: {', '.join(sorted(healthy_statuses(definition)))}")


# Which layer answers a call, and what Karmada would do before and after it: for each operation Karmada asks
# customizations of the cluster, webhooks, the scripts that it carries and its own code, in this order; the first one
# that is enabled decides, also by an error (``pkg/resourceinterpreter/interpreter.go``).
_WITHOUT: Final = {
    Operation.RETAIN: "the template replaces the member's object",
    Operation.INTERPRET_REPLICA: "the object is no workload and has no replicas to divide",
    Operation.INTERPRET_COMPONENT: "the object has no components",
    Operation.REVISE_REPLICA: "every cluster gets the object unchanged",
    Operation.INTERPRET_STATUS: "the whole status is collected",
    Operation.AGGREGATE_STATUS: "the template's status is never written",
    Operation.INTERPRET_HEALTH: "every object counts as healthy",
    Operation.INTERPRET_DEPENDENCY: "the object has no dependencies",
}


def _layers(definition: Definition, operation: Operation, origin: str) -> tuple[Layer, ...]:
    """Return the layers in Karmada's order; ``origin`` is where the definition comes from, such as ``catalogue``."""
    scripts, gvk = definition.scripts.of(operation), definition.gvk
    names = ", ".join(script.name for script in scripts)
    origin = origin or definition.source or "given"
    allowed = definition.answers(operation)
    carried, native = operation in CARRIED.get(gvk, ()), operation in NATIVE.get(gvk, ())
    after = "its own code" if native else f"no answer: {_WITHOUT[operation]}"
    left_out = "left out by the annotation karta-interpreter.io/operations" if definition.has_karta else "none"
    return (
        Layer(
            "customization",
            f"a ResourceInterpreterCustomization of the control plane with {operation}, if there is one",
        ),
        *([Layer("script", f"script of {names}", answers=True)] if scripts else []),
        Layer(
            "karta",
            f"Karta {definition.name} ({origin})" if definition.has_karta and allowed else left_out,
            answers=allowed and not scripts,
        ),
        Layer("karmada", "the script that it carries for the kind" if carried else after),
    )
