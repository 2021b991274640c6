"""The program of the child processes that read and judge bodies, and explain answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import unpack, unpack_known
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, Options, StatusItem
from karta_interpreter.web.console.answers import present_replicas
from karta_interpreter.web.console.child import ANSWER, responding
from karta_interpreter.web.types_api.bodies import judge, read_interpretation
from karta_interpreter.web.types_api.models import ApiError, Interpretation

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Channel

JUDGE: Final = b"J"
"""A `WorkloadTypeInput` as it came; the answer is that of `judge`."""
INTERPRET: Final = b"I"
"""Group and kind of a type as JSON, a line break, and an `Interpretation` as it came."""
VERSION: Final = b"V"
"""The version of an object, whose definition is needed: the arguments of `interpret_all`, or nothing."""
PROBLEM: Final = b"P"
"""A `ProblemDetails`: the body is wrong."""

_MOST_BYTES: Final = 16 * 2**20
_CLUSTER: Final = "member1"


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests with JSON."""
    return responding(_find)


def _find(channel: "Channel", letter: bytes, payload: bytes) -> tuple[bytes, bytes]:
    try:
        return ANSWER, judge(payload) if letter == JUDGE else _explanations(channel, payload)
    except ApiError as error:
        return PROBLEM, error.problem.model_dump_json().encode()


def _explanations(channel: "Channel", payload: bytes) -> bytes:
    """Return the explanations as JSON, nothing where there is no definition for the version of the object."""
    kind, _, body = payload.partition(b"\n")
    asked, version = read_interpretation(body, *orjson.loads(kind))
    channel.send(VERSION, version.encode())
    _, about = channel.receive()
    found = orjson.dumps({"explanations": interpret_all(asked, **orjson.loads(about))}) if about else b""
    if len(found) > _MOST_BYTES:
        raise InterpretationError(f"the explanations would have {len(found)} bytes, the most is {_MOST_BYTES}")
    return found


def interpret_all(
    asked: Interpretation, definition: str, known: JSON, options: dict[str, Any], origin: str
) -> list[Object]:
    """The explanation of each operation about an object."""
    compiled, reader, chosen = unpack(definition), unpack_known(known), Options.of(options)
    return [
        explain(compiled, call, chosen, origin=origin, reader=reader).to_json()
        for call in _calls(compiled, asked, chosen, reader)
        if compiled.answers(call.operation)
    ]


def _calls(definition: Definition, asked: Interpretation, options: Options, reader: Known) -> list[Call]:
    """Return a call of each operation: about the template without its status, and about what members report."""
    obj = asked.object
    template = {field: value for field, value in obj.items() if field != "status"}
    observed = asked.observed or obj
    items = asked.items
    if items is None:
        items = [{"clusterName": _CLUSTER, "applied": True, "status": obj["status"]}] if "status" in obj else []
    replicas = asked.replicas
    if replicas is None:
        replicas = present_replicas(definition, template, options, reader) + 1
    read = tuple(StatusItem.of(item, f"items[{index}]") for index, item in enumerate(items))
    return [Call.of(operation, template, observed, replicas, read) for operation in Operation]
