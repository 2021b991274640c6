"""The definition's own answers: a record for each operation."""

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from karta_interpreter.base.k8s import Projection
from karta_interpreter.base.karmada import Operation, Results, by_operation
from karta_interpreter.definitions.karta import Definition, Reference, Unset
from karta_interpreter.engine.operations.aggregate import aggregation, aggregation_reads
from karta_interpreter.engine.operations.call import Call, Options
from karta_interpreter.engine.operations.divided import with_shares
from karta_interpreter.engine.operations.interpret_dependency import dependency_reads, interpret_dependency
from karta_interpreter.engine.operations.interpret_health import health_reads, interpret_health
from karta_interpreter.engine.operations.interpret_replica import interpret_component, interpret_replica, replica_reads
from karta_interpreter.engine.operations.interpret_status import interpret_status, status_reads
from karta_interpreter.engine.operations.retain import retain, retain_reads
from karta_interpreter.engine.operations.revise_components import revise_components
from karta_interpreter.engine.operations.revise_replica import revise_replica, revision_reads
from karta_interpreter.languages.jq import Query, take_outputs

IDENTITY: Final = ("apiVersion", "kind", "metadata.name", "metadata.namespace")
"""The fields that say which object one is."""
# More than any definition has: nothing is read whole only because there are many parts.
_ALL_PARTS: Final = 2**20


class Own(NamedTuple):
    """A definition's own way to answer an operation: the function that answers, and the one that marks its reads."""

    answer: Callable[[Definition, Call, Options], Results]
    reads: Callable[[Definition, Projection], None]


_OWN: Final = by_operation(
    interpret_replica=Own(interpret_replica, replica_reads),
    interpret_component=Own(interpret_component, replica_reads),
    revise_replica=Own(
        lambda own, call, _: {"revised": with_shares(own, call.object, revise_replica(own, call.object, call.wanted))},
        revision_reads,
    ),
    revise_components=Own(
        lambda own, call, _: {
            "revised": with_shares(own, call.object, revise_components(own, call.object, call.assigned))
        },
        revision_reads,
    ),
    retain=Own(lambda own, call, _: {"retained": retain(own, call.object, call.member)}, retain_reads),
    aggregate_status=Own(
        lambda own, call, _: aggregation(own, call.object, call.items),
        aggregation_reads,
    ),
    interpret_status=Own(lambda own, call, _: {"status": interpret_status(own, call.object)}, status_reads),
    interpret_health=Own(lambda own, call, _: {"healthy": interpret_health(own, call.object)}, health_reads),
    interpret_dependency=Own(
        lambda own, call, _: {
            "dependencies": [dependency.to_json() for dependency in interpret_dependency(own, call.object)]
        },
        dependency_reads,
    ),
)


def own_answer(definition: Definition, call: Call, options: Options) -> Results:
    """Answer a call from the Karta without its scripts. Raises InterpretationError."""
    own = options.counting(definition) if options.count_pods else definition
    return _OWN[call.operation].answer(own, call, options)


def projection_of(definition: Definition, operation: Operation) -> Projection | None:
    """Return the fields that the definition's own answer reads of an object (in Retain, of both objects).

    It is None if all fields may be read, or if the answer depends on more than the object and expressions in this
    process. Fields that an answer writes count as read. For a large definition not even this is computed.
    """
    depends_on_more = definition.needs_child or definition.references or definition.scripts.of(operation)
    if depends_on_more or not definition.answers(operation):
        return None
    projection = reads_of(definition, operation)
    projection.take("apiVersion", "kind")
    return None if projection.is_whole else projection


def reads_of(definition: Definition, operation: Operation) -> Projection:
    """Return the fields of an object that the expressions of a definition read for an operation."""
    projection = Projection()
    _mark_reads(definition, operation, projection)
    return projection


def reads_of_karta(definition: Definition) -> Projection:
    """Return the fields of an object that the Karta of a definition reads for any operation. A script may read more.

    Of list elements that Retain copies by a condition, only the key and what the condition reads count as read. Its
    ``variables`` have the fields of the objects that the definition refers to.
    """
    projection = Projection(most=_ALL_PARTS)
    projection.take(*IDENTITY)
    for reference in definition.references:
        _mark_reference(reference, projection)
    rules = definition.annotations.retained
    copied = {id(rule.place) for rule in rules if isinstance(rule, Unset) and rule.by and rule.condition}
    for operation in Operation:
        if definition.has_karta and definition.answers(operation):
            _mark_reads(definition, operation, projection, copied)
    return projection


def _mark_reads(
    definition: Definition, operation: Operation, projection: Projection, copied: Collection[int] = ()
) -> None:
    for query in definition.annotations.queries(operation):
        if id(query) not in copied:
            query.take(projection)
    _OWN[operation].reads(definition, projection)


def _mark_reference(reference: Reference, projection: Projection) -> None:
    """Mark what the look-up of a reference reads of the workload, and of the objects that may be its value."""
    take_outputs(projection, reference.lookup, reference.namespace)
    value = projection.variables[reference.name] = Projection(most=_ALL_PARTS)
    for target in (value, value.each()):
        target.take(*IDENTITY)
        take_outputs(target, reference.names)
        for rule in reference.labels:
            target.at("metadata", "labels", rule.key).is_whole = True
            take_outputs(projection, *(text for text in rule.values if isinstance(text, Query)))
