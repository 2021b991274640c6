"""The parts of an object that a server reads for an operation are all that the answer depends on."""

from collections.abc import Sequence

import orjson
import pytest

from interpreter.errors import InterpretationError
from interpreter.k8s.values import JSON, Object
from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation, interpret
from interpreter.operations.reading import extent_of
from interpreter.protocol.partial import UNREAD, partial_reader
from tests.catalogue.knowledge import knowing

_READ_IN_PART = [
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_STATUS,
]


@pytest.mark.parametrize("operation", _READ_IN_PART)
def test_a_part_is_answered_as_the_whole(
    definition: Definition, objects: Sequence[Object], operation: Operation
) -> None:
    extent = extent_of(definition, operation) if definition.answers(operation) else None
    if extent is None:
        return
    read = partial_reader(extent)
    for obj in objects:
        try:
            part = read(orjson.dumps(obj))
        except UNREAD:
            continue
        assert isinstance(part, dict)
        assert _answer(definition, operation, part) == _answer(definition, operation, obj)


def _answer(definition: Definition, operation: Operation, obj: Object) -> JSON:
    try:
        return dict(interpret(knowing(definition, obj), Call(operation, obj)))
    except InterpretationError as error:
        return str(error)
