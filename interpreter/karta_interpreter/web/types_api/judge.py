"""Judges Kartas and explains answers in child processes, which the event loop awaits: a client may send any body.

The children run this file, too (`start`).
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from karta_interpreter.base.errors import InterpretationError, SandboxError, StopCause
from karta_interpreter.base.findings import Finding, Severity, error
from karta_interpreter.base.k8s import GVK, JSON, Object, json_pointer
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.definitions.karta.packing import pack, pack_known, unpack, unpack_known
from karta_interpreter.definitions.karta.schema import gvk_of, message_of
from karta_interpreter.definitions.karta.schema_types import ROOT_KIND
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, Options, StatusItem
from karta_interpreter.web.console.answers import replicas_or_more
from karta_interpreter.web.console.questions import ANSWER, FAILURE, processes, responding
from karta_interpreter.web.types_api.models import (
    MOST_ERRORS,
    ApiError,
    FindingOutput,
    Interpretation,
    Judged,
    ProblemDetails,
    ProblemError,
    WorkloadTypeInput,
    other_object,
    unavailable,
)
from karta_interpreter.web.types_api.records import StoredType, names_of

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Channel


_M = TypeVar("_M", bound=BaseModel)


def read(body: bytes, model: type[_M]) -> _M:
    """Read a body. Raises ApiError: 400 if it is not JSON, 422 if it is another object."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        raise ApiError(400, f"the body is not JSON: {err}") from err
    try:
        return model.model_validate(value)
    except ValidationError as err:
        details = err.errors(include_url=False, include_context=False)
        errors = [
            ProblemError(
                pointer=json_pointer(problem["loc"]), detail=message_of(problem), rule=problem["type"], severity="error"
            )
            for problem in details[:MOST_ERRORS]
        ]
        detail = "the body is not as openapi.json describes it"
        raise ApiError(422, detail, errors=errors, total=len(details)) from err


def judge(body: bytes) -> bytes:
    """Judge a `WorkloadTypeInput`: a `Judged` as JSON, a line break, and the Kartas of each version to be stored."""
    submitted = read(body, WorkloadTypeInput)
    kartas = [_with_name(karta) for karta in submitted.resource_interfaces]
    kinds = [gvk_of(karta) for karta in kartas]
    findings = [
        (index, finding)
        for index, (karta, gvk) in enumerate(zip(kartas, kinds, strict=True))
        for finding in (*load_object(karta, "").findings, *_other_kind(gvk, GVK(submitted.group, "", submitted.name)))
    ]
    findings.sort(key=lambda each: each[1].severity)  # errors first
    errors = sum(finding.severity is Severity.ERROR for _, finding in findings)
    judged = Judged(
        **submitted.model_dump(exclude={"resource_interfaces"}),
        kinds=kinds,
        findings=[FindingOutput.of(*located) for located in findings[:MOST_ERRORS]],
        findings_total=len(findings),
        errors_total=errors,
    )
    named = () if errors else kartas
    stored = StoredType.new(submitted.group, submitted.name, submitted.category_id, submitted.priority_id, named)
    return judged.model_dump_json().encode() + b"\n" + orjson.dumps(stored.kartas)


def read_interpretation(body: bytes, group: str, kind: str) -> tuple[Interpretation, str]:
    """Return an object of a type, and its version. Raises ApiError."""
    interpretation = read(body, Interpretation)
    try:
        gvk = GVK.of(interpretation.object)
    except InterpretationError as err:
        raise other_object("", "no-kind", str(err)) from err
    if (gvk.group, gvk.kind) != (group, kind):
        message = f"the object is {gvk}, the workload type is {kind} of {group or 'the core group'}"
        raise other_object("/kind", "other-kind", message)
    return interpretation, gvk.version


def _other_kind(found: GVK | None, wanted: GVK) -> list[Finding]:
    return (
        [
            error(
                "other-kind",
                (*ROOT_KIND, field),
                f'the Karta defines the {field} "{has}", but the workload type is for "{expected}"',
            )
            for field, expected, has in (("group", wanted.group, found.group), ("kind", wanted.kind, found.kind))
            if expected != has
        ]
        if found
        else []
    )


def _with_name(karta: Object) -> Object:
    """Return a Karta with the name for its storage. A Karta without a kind keeps its own name, if any."""
    gvk, metadata = gvk_of(karta), karta.get("metadata", {})
    if gvk is None or not isinstance(metadata, dict):
        return karta
    return {**karta, "metadata": {**metadata, "name": names_of(gvk)[0]}}


_JUDGE: Final = b"J"
"""A `WorkloadTypeInput` as it came. The answer is the output of `judge`."""
_INTERPRET: Final = b"I"
"""Group and kind of a type as JSON, a line break, and an `Interpretation` as it came."""
_VERSION: Final = b"V"
"""The version of an object. The reply is the arguments of `interpret_all` for its definition, or nothing."""
_PROBLEM: Final = b"P"
"""A `ProblemDetails`: the body is wrong."""

_MOST_BYTES: Final = 16 * 2**20


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests with JSON."""
    return responding(_find)


def _find(channel: "Channel", letter: bytes, payload: bytes) -> tuple[bytes, bytes]:
    try:
        return ANSWER, judge(payload) if letter == _JUDGE else _explanations(channel, payload)
    except ApiError as error:
        return _PROBLEM, error.problem.model_dump_json().encode()


def _explanations(channel: "Channel", payload: bytes) -> bytes:
    """Return the explanations as JSON, or nothing if there is no definition for the version of the object."""
    kind, _, body = payload.partition(b"\n")
    interpretation, version = read_interpretation(body, *orjson.loads(kind))
    channel.send(_VERSION, version.encode())
    _, served = channel.receive()
    explanations = (
        orjson.dumps({"explanations": interpret_all(interpretation, **orjson.loads(served))}) if served else b""
    )
    if len(explanations) > _MOST_BYTES:
        raise InterpretationError(f"the explanations would have {len(explanations)} bytes, the most is {_MOST_BYTES}")
    return explanations


def interpret_all(
    asked: Interpretation, definition: str, known: JSON, options: dict[str, Any], origin: str
) -> list[Object]:
    """Return the explanation of each operation about an object."""
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
        items = [{"clusterName": "member1", "applied": True, "status": obj["status"]}] if "status" in obj else []
    replicas = replicas_or_more(asked.replicas, definition, template, options, reader)
    read = tuple(StatusItem.of(item, f"items[{index}]") for index, item in enumerate(items))
    operations = (operation for operation in Operation if operation is not Operation.REVISE_COMPONENTS)
    return [Call.of(operation, template, observed, replicas, read) for operation in operations]


_PROCESSES: Final = 2
_IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 0.2
_CAUSED_BY_REQUEST: Final = {StopCause.MEMORY, StopCause.TIME, StopCause.PROCESSOR_TIME}


class Judge:
    """Asks the processes. Raises ApiError if something cannot be judged, 422 if the body is the cause.

    ``seconds`` limits the time of a request, including the start of a process.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.pool: Final = processes(__file__, _PROCESSES, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def judged(self, body: bytes, user: str) -> tuple[Judged, bytes]:
        """Return the content of a user's body about a type, and the Kartas to store as JSON."""
        answer = await self._ask(_JUDGE, body, user)
        head, _, kartas = answer.partition(b"\n")
        return Judged.model_validate_json(head), kartas

    async def explanations(
        self, body: bytes, user: str, group: str, kind: str, about: Callable[[str], Awaitable[bytes]]
    ) -> bytes:
        """Return the explanations of each operation about an object as JSON.

        ``about`` returns the data that the process needs for a version of the kind (`packed`). For an unknown version
        it returns nothing, and the answer is empty.
        """
        return await self._ask(_INTERPRET, orjson.dumps([group, kind]) + b"\n" + body, user, about)

    def close(self) -> None:
        """End the processes."""
        self.pool.close()

    async def _ask(
        self, letter: bytes, request: bytes, user: str, about: Callable[[str], Awaitable[bytes]] | None = None
    ) -> bytes:
        end = time.monotonic() + self.seconds
        try:
            # Its user owns the process, and other users do not wait for it.
            async with self._awaited.process(user, self.seconds) as (process, _):
                # Waiting for a process took a part of the time. Never 0, which would be no deadline to ask under.
                await process.send(letter, request, max(end - time.monotonic(), 0.001), grace=_GRACE_SECONDS)
                reply, answer = await process.receive()
                if reply == _VERSION and about:
                    await process.send(_VERSION, await about(answer.decode()))
                    reply, answer = await process.receive()
        except SandboxError as error:
            if error.cause in _CAUSED_BY_REQUEST:
                raise ApiError(422, f"the body cannot be judged: {error}") from error
            raise unavailable(f"no process can judge the body: {error}", seconds=1) from error
        if reply == _PROBLEM:
            raise ApiError.of(ProblemDetails.model_validate_json(answer))
        if reply == FAILURE:
            raise ApiError(422, f"the body cannot be judged: {answer.decode()}")
        return answer


def packed(definition: Definition, known: Known, options: Options, origin: str) -> bytes:
    """Return the data that a process needs to explain answers of a definition."""
    return orjson.dumps(
        {"definition": pack(definition), "known": pack_known(known), "options": asdict(options), "origin": origin}
    )
