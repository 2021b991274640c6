"""The parts of an object that a server reads for an operation are all that the answer depends on."""

from collections.abc import Callable, Sequence

import orjson

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.extent import Extent
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.operations.projection import extent_of
from karta_interpreter.suites import Case
from karta_interpreter.wire import Request, encode_results
from karta_interpreter.wire.projection_decoder import UNREAD, partial_reader
from tests.catalogue.entries import Entry, applies
from tests.catalogue.knowledge import knowing


def _reads_part(*operations: Operation) -> Callable[[Entry], bool]:
    return lambda entry: any(entry.definition and extent_of(entry.definition, each) for each in operations)


@applies(_reads_part(*Operation))
def test_a_part_is_answered_as_the_whole(definition: Definition, objects: Sequence[Object]) -> None:
    for operation in Operation:
        extent = extent_of(definition, operation)
        if extent is not None:
            assert _compared(definition, operation, extent, objects), f"no object was read in part for {operation}"


def _compared(definition: Definition, operation: Operation, extent: Extent, objects: Sequence[Object]) -> int:
    """Compare answers about each object and its part; return for how many there was a part."""
    read, compared = partial_reader({"object": extent}), 0
    for obj in objects:
        try:
            (part,) = read(b'{"object":%b}' % orjson.dumps(obj))
        except UNREAD:
            continue
        assert isinstance(part, dict)
        assert _answer(definition, _call(operation, part)) == _answer(definition, _call(operation, obj)), operation
        compared += 1
    return compared


@applies(_reads_part(Operation.RETAIN))
def test_parts_of_a_template_and_of_another_object_are_enough_to_retain(
    definition: Definition, cases: Sequence[Case]
) -> None:
    extent = extent_of(definition, Operation.RETAIN)
    assert extent is not None
    read = partial_reader({"object": extent, "observedObject": extent})
    for call in (case.call for case in cases if case.call.operation is Operation.RETAIN):
        parts = read(b'{"object":%b,"observedObject":%b}' % (orjson.dumps(call.object), orjson.dumps(call.observed)))
        desired, observed = parts
        assert isinstance(desired, dict)
        assert isinstance(observed, dict)
        part = _answer(definition, Call(Operation.RETAIN, desired, observed=observed))
        assert part == _answer(definition, call)


def _call(operation: Operation, obj: Object) -> Call:
    """Return a call about an object and, where it needs a second one or a status beside it, about the object's own."""
    items = StatusItem("one", obj.get("status")), StatusItem("two", {"replicas": 2})
    return Call(operation, obj, observed=obj, replicas=7, items=items)


def _answer(definition: Definition, call: Call) -> JSON:
    """Return an answer as Karmada gets it: what is changed as a patch."""
    request = Request("1", definition.gvk, call=call)
    try:
        return encode_results(request, interpret(knowing(definition, call.object), call))
    except InterpretationError as error:
        return str(error)
