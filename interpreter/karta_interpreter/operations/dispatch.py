"""The definition's own answers: from the name of an operation to the function that answers it."""

from collections.abc import Callable
from typing import TypeAlias

from karta_interpreter.k8s.fields import namespace as namespace_of
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations.aggregate import aggregate_status
from karta_interpreter.operations.call import Call, Operation, Options, Results
from karta_interpreter.operations.interpret_component import interpret_component
from karta_interpreter.operations.interpret_dependency import interpret_dependency
from karta_interpreter.operations.interpret_health import interpret_health
from karta_interpreter.operations.interpret_replica import interpret_replica
from karta_interpreter.operations.interpret_status import interpret_status
from karta_interpreter.operations.retain import retain
from karta_interpreter.operations.revise_replica import revise_replica

Answer: TypeAlias = Callable[[Definition, Call, Options], Results]


def own_answer(definition: Definition, call: Call, options: Options) -> Results:
    """Answer a call from the Karta alone, without its scripts; raises InterpretationError."""
    return _ANSWERS[call.operation](definition, call, options)


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


_ANSWERS: dict[Operation, Answer] = {
    Operation.INTERPRET_REPLICA: _replica,
    Operation.INTERPRET_COMPONENT: _component,
    Operation.REVISE_REPLICA: _revise,
    Operation.RETAIN: _retain,
    Operation.AGGREGATE_STATUS: _aggregate,
    Operation.INTERPRET_STATUS: _status,
    Operation.INTERPRET_HEALTH: _health,
    Operation.INTERPRET_DEPENDENCY: _dependency,
}
