"""The answers are the same with the compiled form of the catalogue and without it."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.schema_types import Schema
from karta_interpreter.definitions.sources import compiled_catalogue
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, interpret
from karta_interpreter.engine.operations.dispatch import projection_of
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.languages.jq.query import ExpressionProgram, field_names
from karta_interpreter.languages.jq.syntax import Node
from tests.catalogue.entries import applies


def _compiled(definition: Definition) -> Definition:
    """Return the definition as the compiled form has it."""
    packed = compiled_catalogue._packed((ServedDefinition(definition, "catalogue"),), definition.source)  # noqa: SLF001
    (entry,) = compiled_catalogue._Unpickler(io.BytesIO(packed), definition.source).load()  # noqa: SLF001 - as above
    made: Definition = entry.definition
    return made


@applies(lambda entry: entry.definition is not None)
def test_definition_is_the_same(definition: Definition) -> None:
    assert _everything(_compiled(definition)) == _everything(definition)


@applies(lambda entry: entry.definition is not None)
def test_projections_are_the_same(definition: Definition) -> None:
    made = _compiled(definition)
    for operation in Operation:
        assert _parts(projection_of(made, operation)) == _parts(projection_of(definition, operation))


@applies(lambda entry: entry.definition is not None)
def test_answers_are_the_same(definition: Definition, swept: Sequence[Case]) -> None:
    made = _compiled(definition)
    for case in swept:
        assert _answer(made, case.call) == _answer(definition, case.call)


def _answer(definition: Definition, call: Call) -> Any:
    try:
        return interpret(definition, call, DEFAULT_OPTIONS)
    except InterpretationError as error:
        return str(error), error.code


def _everything(value: Any) -> Any:
    """Return all that a value is made of, also what does not count when it is compared."""
    if isinstance(value, Node):
        return type(value), structs.astuple(value.span), [_everything(part) for part in value._parts()]  # noqa: SLF001
    if isinstance(value, ExpressionProgram):
        return _everything(value._node), value._most  # noqa: SLF001 - they make it
    if isinstance(value, Schema):
        return type(value), {name: _everything(part) for name, part in value}, value.model_fields_set
    if isinstance(value, Mapping):
        return {key: _everything(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value), [_everything(part) for part in value]
    if names := field_names(value):
        return type(value), {name: _everything(getattr(value, name)) for name in names}
    if type(value).__name__ in ("Queued", "Bindings"):
        # What they have found on use, in another test, does not make them.
        return [_everything(part) for name, part in vars(value).items() if name in ("_components", "_parts")]
    return type(value), value


def _parts(projection: Projection | None) -> Any:
    return projection and (projection.is_whole, projection.paths(99))
