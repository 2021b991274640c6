"""Calls that child processes answer, reviews of Kartas, and scripts.

While this process decodes a large body it answers no other call. A hostile body takes fifty times its size of memory, a
hostile Karta takes long to judge, and a bounded expression may never end. So these bodies go unchanged to a child
process, which has little memory, no environment and a deadline. The answer comes back as bytes. Starting a process
takes ten times as long as most calls, so processes that have not grown are kept for a while. No thread waits for a
process.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from karta_interpreter.base.errors import (
    InterpretationError,
    InterpreterError,
    QueryAbsentError,
    QueryReferenceError,
    RequestError,
    SandboxError,
    StopCause,
)
from karta_interpreter.base.k8s import GVK, JSON
from karta_interpreter.base.sandbox import Pool, Process, Program
from karta_interpreter.base.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.definitions.karta import NOWHERE, Definition, ReferenceReader
from karta_interpreter.definitions.karta.loading import pack
from karta_interpreter.engine.operations import Call, Options, Results
from karta_interpreter.engine.operations.interpretation import script_errors, script_jobs, script_results
from karta_interpreter.languages.lua.machine.worker import (
    GRACE_SECONDS,
    QUESTIONS,
    SECONDS,
    WORKERS,
    Job,
    script_limits,
)
from karta_interpreter.webhook import admission
from karta_interpreter.webhook.answering import isolated_child as child
from karta_interpreter.webhook.answering.lanes import is_large_body
from karta_interpreter.webhook.wire import Request

PROCESSES: Final = 3
"""The most processes for bodies that only a child reads: two for calls and one for reviews, or vice versa."""

DEFINITION_PROCESSES: Final = 4
"""The most processes for definitions that need a child. A definition leaves one of them to the other definitions."""

_IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 0.2
"""A child that stops at its deadline names the expression that took so long. The name is awaited for this long."""

_STATUSES: Final = dict.fromkeys(set(StopCause) - {StopCause.DEFECT}, 503) | {StopCause.MEMORY: 413}
"""The HTTP status before the uid of a request is known. The missing cause is a defect of this program."""
_CODES: Final = _STATUSES | {StopCause.MEMORY: 422, StopCause.TIME: 504, StopCause.PROCESSOR_TIME: 504}
"""The code of an answer with the uid."""
_CAUSED_BY_REQUEST: Final = {StopCause.MEMORY, StopCause.TIME, StopCause.PROCESSOR_TIME}


class Prepared(NamedTuple):
    """The parts of an answer: the definition, also as `pack_for_child` packs it, and the reader of its references.

    ``too_slow`` is the error at the end of the call's time.
    """

    definition: Definition
    packed: bytes
    reader: ReferenceReader | None
    too_slow: str


def pack_for_child(definition: Definition, options: Options) -> bytes:
    """Return the data with which a process answers calls, and which identifies a definition that it has compiled."""
    return orjson.dumps({"definition": pack(definition), "options": asdict(options)})


_Message: TypeAlias = tuple[bytes, bytes]
_Reply: TypeAlias = Callable[[bytes, bytes], Awaitable[_Message]]
"""Returns the reply to a question of a process."""


class IsolatedCalls:
    """Answers in the processes of two pools. A process without a request for ``idle_seconds`` ends."""

    def __init__(self, *, idle_seconds: float = _IDLE_SECONDS) -> None:
        def start() -> Process:
            return Process(Program(child.__file__, child.MEMORY, niceness=child.NICENESS))

        self.pool: Final = Pool(start, PROCESSES, idle_seconds=idle_seconds)
        self._bodies = AsyncPool(self.pool)
        self._definitions = AsyncPool(Pool(start, DEFINITION_PROCESSES, idle_seconds=idle_seconds))

    async def answer(
        self,
        body: bytes,
        until: float,
        prepare: Callable[[Request], Prepared],
        request: Request | None = None,
    ) -> bytes:
        """Return the body that answers a call, until a time of the monotonic clock.

        ``prepare`` gets the ``request``. If it is not known, ``prepare`` gets the request that a process has read,
        without its call. Raises RequestError if no uid is found within the time and the memory, and InterpretationError
        if there is no right answer.
        """
        prepared = prepare(request) if request else None
        pool, owner = (self._definitions, str(prepared.definition.gvk)) if prepared else (self._bodies, "calls")

        async def reply(letter: bytes, payload: bytes) -> _Message:
            nonlocal prepared
            if letter == child.ABOUT:
                prepared = prepared or prepare(_request(payload))
                return child.ANSWER, prepared.packed
            return await _look_up(prepared and prepared.reader, payload)

        try:
            return await self._ask(pool, owner, child.CALL, body, until, reply)
        except InterpretationError as error:
            # The child stops at the deadline, too, and names the expression, which is the reason of the timeout.
            if prepared is None or time.monotonic() < until:
                raise
            raise InterpretationError(f"{prepared.too_slow}: {error}", code=504) from error
        except SandboxError as error:
            if prepared is None or error.cause not in _CODES:
                raise _unanswered(body, error) from error
            reason = f"definition {prepared.definition.name}: the call was stopped: {error}"
            is_late = error.cause is StopCause.TIME
            raise InterpretationError(prepared.too_slow if is_late else reason, code=_CODES[error.cause]) from error

    async def review(self, body: bytes, seconds: float, taken: Mapping[GVK, str] | None) -> bytes:
        """Return the answer to a review within that many seconds. If ``taken`` is None, it is a mutating review.

        A Karta that takes too much time or memory is denied. Raises RequestError if the body is not a review or no
        process is free.
        """
        subject: admission.Subject | None = None

        async def reply(_: bytes, about: bytes) -> _Message:
            nonlocal subject
            subject = admission.Subject(**orjson.loads(about))
            kinds = None if taken is None else [[*gvk, name] for gvk, name in taken.items()]
            return child.ANSWER, orjson.dumps({"taken": kinds})

        try:
            return await self._ask(self._bodies, "reviews", child.REVIEW, body, time.monotonic() + seconds, reply)
        except (InterpretationError, SandboxError) as error:
            is_caused = isinstance(error, InterpretationError) or error.cause in _CAUSED_BY_REQUEST
            # A Karta that is to blame is denied. Any other failure is left to the API server's `failurePolicy`.
            if subject is None or not is_caused:
                raise _unanswered(body, error) from error
            return admission.unjudged(subject, str(error))

    async def _ask(self, pool: AsyncPool, owner: str, letter: bytes, body: bytes, until: float, reply: _Reply) -> bytes:
        """Send a body and the replies to the questions of the process. Return the answer."""
        async with pool.process(owner, _left(until), with_start=True) as (process, _):
            # Errors leave the block as values: an exception would end a process that has done nothing wrong.
            answer = await self._exchange(process, letter, body, until, reply)
        if isinstance(answer, InterpreterError):
            try:
                raise answer
            finally:
                del answer  # this frame is in its traceback, and has the body: a cycle, which stays for long
        return answer

    @staticmethod
    async def _exchange(
        process: Exchange, letter: bytes, body: bytes, until: float, reply: _Reply
    ) -> bytes | InterpreterError:
        await process.send(letter, body, _left(until), grace=_GRACE_SECONDS)
        while (message := await process.receive())[0] in child.QUESTIONS:
            try:
                replied = await reply(*message)
            except InterpretationError as error:
                await process.send(child.ANSWER, b"")
                return error
            await process.send(*replied)
        answer_letter, answer = message
        if answer_letter == child.UNREADABLE:
            return RequestError(**orjson.loads(answer))
        return answer if answer_letter == child.ANSWER else InterpretationError(**json.loads(answer))


async def _look_up(reader: ReferenceReader | None, question: bytes) -> _Message:
    """Return the reply to a process that looks up an object, or the objects of a kind."""
    if reader is None:
        return child.ABSENT, NOWHERE.encode()
    kind, *where = json.loads(question)
    try:
        objects = [reader.get(GVK(*kind), *where)] if len(where) > 1 else reader.list(GVK(*kind), *where)
    except QueryReferenceError as error:
        letter = child.ABSENT if isinstance(error, QueryAbsentError) else child.FAILURE
        return letter, str(error).encode(errors="replace")
    # There may be many: one after the other, in a thread, so that the event loop gets its turn.
    texts = await asyncio.to_thread(lambda: [json.dumps(obj) for obj in objects])
    return child.ANSWER, f"[{','.join(texts)}]".encode()


def _unanswered(body: bytes, error: InterpreterError) -> InterpreterError:
    status = _STATUSES.get(error.cause) if isinstance(error, SandboxError) else None
    return RequestError(f"no answer to a body of {len(body)} bytes: {error}", status=status) if status else error


def _request(about: bytes) -> Request:
    fields: dict[str, Any] = orjson.loads(about)
    gvk, problem = fields.pop("gvk"), fields.pop("problem")
    return Request(**fields, gvk=gvk and GVK(*gvk), problem=problem and InterpretationError(**problem))


def _left(until: float) -> float:
    # Not 0: a message with 0 seconds begins no request, and would have no deadline.
    return max(until - time.monotonic(), 0.001)


class LargeResultError(Exception):
    """A script sends so much that the event loop would decode and encode nothing else for long."""


class ScriptCalls:
    """Runs the scripts of definitions in the processes that all scripts of this process share."""

    def __init__(self) -> None:
        self._pool = AsyncPool(WORKERS)

    async def answer(self, definition: Definition, call: Call, options: Options, until: float) -> Results:
        """Answer a call until a time of the monotonic clock. Raises InterpretationError and LargeResultError."""
        answers = []
        for script, job in script_jobs(definition, call, options):
            with script_errors(definition, script):
                answers.append(await self._run(job, until - time.monotonic()))
        return script_results(call, answers)

    async def _run(self, job: Job, seconds: float) -> JSON:
        """Run a job as `run_in` does, without a thread that waits for the script.

        It may wait for a process as long as its call: others may wait for theirs to start.
        """
        request = job.encoded()
        with script_limits(min(SECONDS, seconds)):
            async with self._pool.process(job.owner, seconds) as (process, left):
                await process.send(b"Q", request, min(SECONDS, left), grace=GRACE_SECONDS)
                while (message := await _receive_small(process))[0] in QUESTIONS:
                    # In a thread: the Karta's own answer may take as long as any.
                    if reply := await asyncio.to_thread(job.reply, *message):
                        await process.send(b"A", reply)
        return job.result(*message)


async def _receive_small(process: Exchange) -> _Message:
    message = await process.receive()
    if is_large_body(message[1]):
        raise LargeResultError
    return message
