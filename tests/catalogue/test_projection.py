"""The projection that the server reads for an operation has all that the answer depends on."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.k8s.projection import UNREAD
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.operations.dispatch import projection_of
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, applies
from tests.support.both_ways import compare_answers, projection_decoder


def _projected(definition: Definition) -> Iterator[Operation]:
    return (operation for operation in Operation if projection_of(definition, operation))


def has_projection(entry: Entry) -> bool:
    return entry.definition is not None and any(_projected(entry.definition))


@applies(has_projection)
def test_projection_gives_answers_of_whole_objects(definition: Definition, swept: Sequence[Case]) -> None:
    for operation in _projected(definition):
        calls = [case.call for case in swept if case.call.operation is operation]
        # `test_component_contract.py` asks for every split of components, and suites have no cases of them.
        assert calls or operation is Operation.REVISE_COMPONENTS, f"no case for {operation}, which has a projection"
        assert _compared(definition, calls) == len(calls)


@applies(has_projection)
def test_so_is_every_object_for_every_operation(definition: Definition, objects: Sequence[Object]) -> None:
    for operation in _projected(definition):
        compared = _compared(definition, [_call(operation, obj) for obj in objects])
        assert compared > len(objects) / 2, f"only {compared} of {len(objects)} compared for {operation}"


def _compared(definition: Definition, calls: Sequence[Call]) -> int:
    """Compare all that the decoder reads in part, and return their number: it refuses large objects, and odd ones."""
    read, compared = None, 0
    for call in calls:
        read = read or projection_decoder(definition, call.operation)
        assert read
        try:
            compare_answers(definition, call, read)
            compared += 1
        except UNREAD:
            read = None  # a decoder that refused one object refuses others as large for a while
    return compared


def _call(operation: Operation, obj: Object) -> Call:
    """Return a call about an object and, where it needs a second one or a status next to it, about the object's own."""
    items = StatusItem("one", obj.get("status")), StatusItem("two", {"replicas": 2})
    return Call(operation, obj, observed=obj, replicas=7, items=items)
