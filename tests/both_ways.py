"""Asking both ways: about the whole objects, and about the parts of them that the fast decoder reads."""

from typing import NamedTuple

import orjson

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.extent import Extent
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations import DEFAULT_OPTIONS, Call, Operation, Options, Results, interpret
from karta_interpreter.operations.projection import extent_of
from karta_interpreter.wire import Request, encode_results
from karta_interpreter.wire.projection_decoder import partial_reader


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
    extent = extent_of(definition, call.operation)
    if extent is None:
        return False
    whole = _Answer.of(definition, call, options)
    assert _Answer.of(definition, projected(call, extent), options) == whole, f"{call.operation} reads more"
    return True


def projected(call: Call, extent: Extent) -> Call:
    """Return a call about what the decoder reads of its objects; raises one of `UNREAD` where it refuses them."""
    observed = call.observed if call.operation is Operation.RETAIN else None
    fields = {"object": call.object} if observed is None else {"object": call.object, "observed": observed}
    parts: list[Object] = [dict(part) for part in partial_reader(dict.fromkeys(fields, extent))(orjson.dumps(fields))]  # type: ignore[call-overload]
    return call._replace(object=parts[0], observed=parts[-1] if observed is not None else None)


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
