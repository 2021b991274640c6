"""Asking both ways: about the whole objects, and about the parts of them that the fast decoder reads."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import orjson
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.projection import Projection, Read, reader
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, Options, Results, interpret
from karta_interpreter.engine.operations.dispatch import projection_of
from karta_interpreter.webhook.wire import Request, encode_results

T = TypeVar("T")


def ask(definition: Definition, call: Call, options: Options = DEFAULT_OPTIONS) -> Results:
    """Interpret a call; fail unless the projection of its objects gets the same answer, as Karmada would get it.

    It fails, too, where there is nothing to compare: a definition without a projection is asked by `interpret`. An
    operation that the definition does not answer has none, and gives its error.
    """
    if definition.answers(call.operation):
        assert compare_projection(definition, call, options), f"no projection for {call.operation}"
    return interpret(definition, call, options)


def compare_projection(definition: Definition, call: Call, options: Options = DEFAULT_OPTIONS) -> bool:
    """Fail where an answer about the projection differs; return False where the operation has no projection."""
    read = projection_decoder(definition, call.operation)
    if read is None:
        return False
    compare_answers(definition, call, read, options)
    return True


def compare_answers(definition: Definition, call: Call, read: Read, options: Options = DEFAULT_OPTIONS) -> None:
    """Fail where an answer about what a decoder reads differs; raises one of `UNREAD` where it refuses the objects."""
    whole = _Answer.of(definition, call, options)
    assert _Answer.of(definition, _decoded(call, read), options) == whole, f"{call.operation} reads more"


def projection_decoder(definition: Definition, operation: Operation) -> Read | None:
    """Return the decoder of the objects of a call, or None if the operation has no projection."""
    projection = projection_of(definition, operation)
    if projection is None:
        return None
    names = ("object", "observed") if operation is Operation.RETAIN else ("object",)
    return reader(dict.fromkeys(names, projection))


def _decoded(call: Call, read: Read) -> Call:
    """Return a call about what the decoder reads of its objects."""
    is_about_two = call.operation is Operation.RETAIN
    fields = {"object": call.object, "observed": call.observed} if is_about_two else {"object": call.object}
    (obj, *observed), _ = read(orjson.dumps(fields))
    return structs.replace(call, object=obj, observed=observed[0] if is_about_two else None)


def read_template(read: Callable[[Object], T], template: Object, paths: tuple[str, ...]) -> T:
    """Read a pod template; fail unless these paths of its spec are all that matters."""
    projection = Projection()
    projection.at("spec").take(*paths)
    (part,), _ = reader({"template": projection})(orjson.dumps({"template": template}))
    assert isinstance(part, dict)
    assert _outcome(read, part) == _outcome(read, template), "the paths lack a field that is read"
    return read(template)


def _outcome(read: Callable[[Object], Any], template: Object) -> Any:
    try:
        return read(template)
    except InterpretationError as error:
        return str(error)


class _Answer(NamedTuple):
    """An answer as Karmada gets it, changed objects as patches; or an error."""

    body: bytes
    error: str = ""
    code: int = 0

    @classmethod
    def of(cls, definition: Definition, call: Call, options: Options) -> "_Answer":
        try:
            results = interpret(definition, call, options)
            return cls(encode_results(Request("1", definition.gvk, call=call), results))
        except InterpretationError as error:
            return cls(b"", str(error), error.code)
