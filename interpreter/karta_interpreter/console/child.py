"""The program of the child processes of this room: they compute the answers on the page, judge Kartas, explain answers.

Definitions and objects come from a user, and may be hostile: a process has a deadline, little memory and no
environment.
"""

import gc
import os
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import orjson

from karta_interpreter.console.answers import Question, answer, present_replicas
from karta_interpreter.console.workload_types.bodies import judge, read_interpretation
from karta_interpreter.console.workload_types.models import ApiError, Interpretation
from karta_interpreter.errors import InterpretationError
from karta_interpreter.explain import explain
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import unpack, unpack_known
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.operations import Call, Operation, Options, StatusItem
from karta_interpreter.sandbox import Pool, Process, Program
from karta_interpreter.sandbox.deadline import deadline

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

PAGE: Final = b"Q"
"""A `Question` of the page."""
JUDGE: Final = b"J"
"""A `WorkloadTypeInput` as it came; the answer is that of `judge`."""
INTERPRET: Final = b"I"
"""Group and kind of a type as JSON, a line break, and an `Interpretation` as it came."""
VERSION: Final = b"V"
"""The version of an object, whose definition is needed: the arguments of `interpret_all`, or nothing."""
PROBLEM: Final = b"P"
"""A `Problem`: the body is wrong."""
FAILURE: Final = b"F"
_ANSWER: Final = b"A"

_MEMORY: Final = 2**30
_NICENESS: Final = 5
"""A server in the parent process has calls to answer, perhaps on the same processor."""
_MOST_REQUESTS: Final = 1000
_MOST_BYTES: Final = 16 * 2**20
_TOO_DEEP: Final = b"it is nested too deeply"
_CLUSTER: Final = "member1"


def processes(size: int, idle_seconds: float) -> Pool:
    """A pool of processes of this program."""
    program = Program(__file__, _MEMORY, niceness=_NICENESS)
    return Pool(lambda: Process(program), size, idle_seconds=idle_seconds)


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests, which are a letter and a payload, with JSON.

    Values are trees without cycles, so garbage is collected between requests only.
    """
    gc.disable()
    numbers = count(1)

    def respond(channel: "Channel", letter: bytes, payload: bytes) -> None:
        try:
            with deadline(channel.seconds):
                found = _find(channel, letter, payload)
            channel.send(_ANSWER, found)
        except ApiError as error:
            channel.send(PROBLEM, error.problem.model_dump_json().encode())
        except InterpretationError as error:
            channel.send(FAILURE, str(error).encode(errors="replace"))
        except (RecursionError, orjson.JSONEncodeError):
            channel.send(FAILURE, _TOO_DEEP)
        channel.flush()
        gc.collect()
        # Bounds what a process keeps: its caches, and memory that Python does not give back while it runs.
        if next(numbers) == _MOST_REQUESTS:
            os._exit(0)

    return respond


def _find(channel: "Channel", letter: bytes, payload: bytes) -> bytes:
    if letter == PAGE:
        return orjson.dumps(answer(Question.of(orjson.loads(payload))))
    return judge(payload) if letter == JUDGE else _explanations(channel, payload)


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
