"""The definition's own answers: for each operation the function that answers and the one that marks what is read."""

from collections.abc import Callable
from typing import Final, TypeAlias

from karta_interpreter.k8s.fields import namespace as namespace_of
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations.aggregate import aggregate_status, aggregation_reads
from karta_interpreter.operations.call import Call, Operation, Options, Results
from karta_interpreter.operations.interpret_component import interpret_component
from karta_interpreter.operations.interpret_dependency import dependency_reads, interpret_dependency
from karta_interpreter.operations.interpret_health import health_reads, interpret_health
from karta_interpreter.operations.interpret_replica import interpret_replica, replica_reads
from karta_interpreter.operations.interpret_status import interpret_status, status_reads
from karta_interpreter.operations.retain import retain, retain_reads
from karta_interpreter.operations.revise_replica import revise_replica, revision_reads

Answer: TypeAlias = Callable[[Definition, Call, Options], Results]
Reads: TypeAlias = Callable[[Definition, Projection], None]


def own_answer(definition: Definition, call: Call, options: Options) -> Results:
    """Answer a call from the Karta alone, without its scripts; raises InterpretationError."""
    answer, _ = _OPERATIONS[call.operation]
    return answer(definition, call, options)


def projection_of(definition: Definition, operation: Operation) -> Projection | None:
    """Return what the definition's own answer reads of an object; of Retain's two objects the same is read.

    It is None if all may be read, or if the answer takes more than the object and expressions that run in this
    process. Fields that an answer writes count as read.
    """
    if definition.uses_bounded or definition.references:
        return None
    if definition.scripts.of(operation) or not definition.answers(operation):
        return None
    projection = Projection()
    projection.take("apiVersion", "kind")
    _, reads = _OPERATIONS[operation]
    reads(definition, projection)
    return None if projection.is_whole else projection


def _replica(definition: Definition, call: Call, options: Options) -> Results:
    count, requirements = interpret_replica(definition, call.object, options.pod_requests)
    namespace = namespace_of(call.object) if options.resource_quota_estimate else ""
    requires = requirements.to_json(namespace=namespace, priority_class=options.resource_quota_estimate)
    return {"replica": count, "requires": requires}


def _component(definition: Definition, call: Call, options: Options) -> Results:
    return {"components": interpret_component(definition, call.object, options)}


def _revise(definition: Definition, call: Call, _: Options) -> Results:
    return {"revised": revise_replica(definition, call.object, call.wanted)}


def _retain(definition: Definition, call: Call, _: Options) -> Results:
    return {"retained": retain(definition, call.object, call.member)}


def _aggregate(definition: Definition, call: Call, _: Options) -> Results:
    return {"aggregatedStatus": aggregate_status(definition, call.object, call.items)}


def _status(definition: Definition, call: Call, _: Options) -> Results:
    return {"status": interpret_status(definition, call.object)}


def _health(definition: Definition, call: Call, _: Options) -> Results:
    return {"healthy": interpret_health(definition, call.object)}


def _dependency(definition: Definition, call: Call, _: Options) -> Results:
    return {"dependencies": [found.to_json() for found in interpret_dependency(definition, call.object)]}


_OPERATIONS: Final[dict[Operation, tuple[Answer, Reads]]] = {
    Operation.INTERPRET_REPLICA: (_replica, replica_reads),
    Operation.INTERPRET_COMPONENT: (_component, replica_reads),
    Operation.REVISE_REPLICA: (_revise, revision_reads),
    Operation.RETAIN: (_retain, retain_reads),
    Operation.AGGREGATE_STATUS: (_aggregate, aggregation_reads),
    Operation.INTERPRET_STATUS: (_status, status_reads),
    Operation.INTERPRET_HEALTH: (_health, health_reads),
    Operation.INTERPRET_DEPENDENCY: (_dependency, dependency_reads),
}
