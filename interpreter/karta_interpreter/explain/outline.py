"""What a definition reads for an operation, without an object: the same facts without values and places."""

from collections.abc import Iterator
from typing import Final

from karta_interpreter.explain.explanation import Explanation, Fact
from karta_interpreter.explain.layers import layers_of
from karta_interpreter.explain.reading import about, annotation_field
from karta_interpreter.k8s.values import field_path
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.schema import read_karta
from karta_interpreter.karta.schema_types import expressions
from karta_interpreter.operations import Call, Operation
from karta_interpreter.operations.interpret_health import healthy_statuses

_PODS: Final = ("specDefinition", "instanceIdPath")
_READ: Final[dict[Operation, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    Operation.INTERPRET_REPLICA: ((*_PODS, "scaleDefinition"), ("added-containers",)),
    Operation.INTERPRET_COMPONENT: ((*_PODS, "scaleDefinition"), ("added-containers",)),
    Operation.REVISE_REPLICA: (("scaleDefinition", "instanceIdPath"), ("elastic",)),
    Operation.RETAIN: (("scaleDefinition", "suspendDefinition"), ("retain", "queue-labels")),
    Operation.AGGREGATE_STATUS: ((), ("aggregate", "outcomes")),
    Operation.INTERPRET_STATUS: ((), ()),
    Operation.INTERPRET_HEALTH: (("phaseDefinition", "conditionsDefinition"), ("health", "healthy-statuses")),
    Operation.INTERPRET_DEPENDENCY: (_PODS, ("added-containers", "dependencies")),
}
"""The fields with expressions, and the annotations, that an operation reads."""


def outline(definition: Definition, operation: Operation, *, origin: str = "") -> Explanation:
    """Explain what an operation reads of any object of the kind; the call of the explanation has an empty object."""
    layers = layers_of(definition, operation, origin)
    reads_karta = definition.answers(operation) and not definition.scripts.of(operation)
    facts = tuple(_facts(definition, operation)) if reads_karta else ()
    return Explanation(Call(operation, {}), definition.name, definition.gvk, layers, facts)


def _facts(definition: Definition, operation: Operation) -> Iterator[Fact]:
    karta, _ = read_karta(definition.manifest)
    names, annotations = _READ[operation]
    if karta is None:
        return
    for path, component in karta.spec.structure_definition.components:
        for at, text in expressions(component, path):
            if not set(names).isdisjoint(map(str, at)):
                yield Fact(
                    "reads", component.name, component=component.name, field=field_path(at), expression=str(text)
                )
    for name in annotations:
        if written := karta.annotations.get(f"{PREFIX}{name}"):
            yield Fact("reads", f"annotation {name}", field=annotation_field(name), expression=written)
    if operation is Operation.INTERPRET_HEALTH and definition.annotations.health is None:
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
