"""The program of the child processes of this room: they compute the answers on the page, judge Kartas, explain answers.

Definitions and objects come from a user, and may be hostile: a process has a deadline, little memory and no
environment.
"""

import gc
import os
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import orjson

from karta_interpreter.console.answers import Question, answer, present_replicas
from karta_interpreter.errors import InterpretationError
from karta_interpreter.explain import explain
from karta_interpreter.findings import Finding
from karta_interpreter.k8s.values import JSON, Object, json_pointer
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import load_object, unpack, unpack_known
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.karta.schema_types import ROOT_KIND
from karta_interpreter.operations import Call, Operation, Options, StatusItem
from karta_interpreter.sandbox import Pool, Process, Program
from karta_interpreter.sandbox.deadline import deadline

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

PAGE: Final = b"Q"
"""A `Question` of the page."""
JUDGE: Final = b"J"
"""The arguments of `judge`."""
INTERPRET: Final = b"I"
"""The arguments of `interpret_all`."""
FAILURE: Final = b"F"
_ANSWER: Final = b"A"

_MEMORY: Final = 2**30
_NICENESS: Final = 5
"""A server in the parent process has calls to answer, perhaps on the same processor."""
_MOST_REQUESTS: Final = 1000
_TOO_DEEP: Final = b"it is nested too deeply"
_CLUSTER: Final = "member1"


def processes(size: int, idle_seconds: float) -> Pool:
    """A pool of processes of this program."""
    program = Program(__file__, _MEMORY, niceness=_NICENESS)
    return Pool(lambda: Process(program), size, idle_seconds=idle_seconds)


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests, which are a letter and a payload in JSON, with JSON.

    Values are trees without cycles, so garbage is collected between requests only.
    """
    gc.disable()
    numbers = count(1)

    def respond(channel: "Channel", letter: bytes, payload: bytes) -> None:
        try:
            with deadline(channel.seconds):
                found = _find(letter, orjson.loads(payload))
            channel.send(_ANSWER, orjson.dumps(found))
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


def _find(letter: bytes, asked: Any) -> JSON:  # noqa: ANN401 - JSON of any form
    if letter == PAGE:
        return answer(Question.of(asked))
    return judge(**asked) if letter == JUDGE else interpret_all(**asked)


def judge(group: str, kind: str, kartas: list[Object]) -> list[Object]:
    """The findings of all Kartas of a type, with pointers into the body that holds them."""
    return [finding for index, karta in enumerate(kartas) for finding in _findings(index, karta, group, kind)]


def _findings(index: int, karta: Object, group: str, kind: str) -> Iterator[Object]:
    loaded = load_object(karta, "")
    for finding in loaded.findings:
        yield finding_json(index, finding)
    if loaded.gvk:
        for field, wanted, found in (("group", group, loaded.gvk.group), ("kind", kind, loaded.gvk.kind)):
            if wanted != found:
                yield {
                    "severity": "error",
                    "rule": "other-kind",
                    "pointer": json_pointer(("resourceInterfaces", index, *ROOT_KIND, field)),
                    "detail": f'the Karta defines the {field} "{found}", but the workload type is for "{wanted}"',
                    "hint": "",
                }


def finding_json(index: int, finding: Finding) -> Object:
    """A finding about the Karta at an index of a type."""
    return {
        "severity": str(finding.severity),
        "rule": finding.rule,
        "pointer": json_pointer(("resourceInterfaces", index, *finding.path)),
        "detail": finding.message,
        "hint": finding.hint,
    }


def interpret_all(definition: str, known: JSON, options: dict[str, Any], asked: Object, origin: str) -> list[Object]:
    """The explanation of each operation about an object; ``asked`` is an `Interpretation` as JSON."""
    compiled, reader, chosen = unpack(definition), unpack_known(known), Options.of(options)
    return [
        explain(compiled, call, chosen, origin=origin, reader=reader).to_json()
        for call in _calls(compiled, asked, chosen, reader)
        if compiled.answers(call.operation)
    ]


def _calls(definition: Definition, asked: Object, options: Options, reader: Known) -> list[Call]:
    """Return a call of each operation: about the template without its status, and about what members report."""
    obj = asked["object"]
    template = {field: value for field, value in obj.items() if field != "status"}
    observed = asked["observed"] or obj
    items = asked["items"]
    if items is None:
        items = [{"clusterName": _CLUSTER, "applied": True, "status": obj["status"]}] if "status" in obj else []
    replicas = asked["replicas"]
    if replicas is None:
        replicas = present_replicas(definition, template, options, reader) + 1
    read = tuple(StatusItem.of(item, f"items[{index}]") for index, item in enumerate(items))
    return [Call.of(operation, template, observed, replicas, read) for operation in Operation]
