"""Calls that child processes answer: those with large bodies, reviews of Kartas, and those of scripts.

While this process decodes a body it answers no other call, a hostile body takes fifty times its size of memory, and a
hostile Karta takes long to judge. So these bodies go as they came to a child process, which has little memory, no
environment and a deadline, and the answer comes back as bytes. To start a process takes ten times as long as most
calls, so those that have not grown are kept for a while. The event loop awaits a script, and no thread waits for it.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import orjson

from karta_interpreter import admission
from karta_interpreter.errors import (
    InterpretationError,
    InterpreterError,
    RequestError,
    SandboxError,
    StopCause,
)
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.projection import MOST_VALUES, values_in
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import pack, pack_known
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.lua.machine.worker import GRACE_SECONDS, QUESTIONS, SECONDS, WORKERS, Job, script_limits
from karta_interpreter.operations import Call, Options, Results
from karta_interpreter.operations.interpretation import script_errors, script_jobs, script_results
from karta_interpreter.sandbox import Pool, Process, Program
from karta_interpreter.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.server import isolated_child as child
from karta_interpreter.wire import Request

PROCESSES: Final = 3
"""How many there are at once: two for calls and one for reviews, or the other way round."""

# A call costs up to 2.5 µs for each key and value in its body (InterpretReplica of many different resources), and a few
# nanoseconds for each byte: 30 ms. An ordinary object of 100 KB takes 1 to 2 ms, but no cheap test separates it from
# one that takes ten times that, and a kept process adds 5 ms. Retain reads much of two objects, and little of it is
# dear.
_MOST_BYTES: Final = 2 * 2**20
_SECOND_OBJECT: Final = b'"observedObject":'
_IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 0.2
"""A child that stops at its deadline names the expression that took so long; for this long that is waited for."""

_STATUSES: Final = dict.fromkeys(set(StopCause) - {StopCause.DEFECT}, 503) | {StopCause.MEMORY: 413}
"""The HTTP status before the uid of a request is known; the cause that is missing is a defect of this program."""
_CODES: Final = _STATUSES | {StopCause.MEMORY: 422, StopCause.TIME: 504, StopCause.PROCESSOR_TIME: 504}
"""The code of an answer with the uid."""
_CAUSED_BY_REQUEST: Final = {StopCause.MEMORY, StopCause.TIME, StopCause.PROCESSOR_TIME}


class Prepared(NamedTuple):
    """What answers a call: the definition, and the objects that it refers to; ``too_slow`` is the error at its end."""

    definition: Definition
    known: Known
    too_slow: str


def is_large(body: bytes) -> bool:
    """Return whether answering a request in this process could delay other calls; never takes long itself.

    >>> is_large(b'{"request": {}}'), is_large(b"[" + b"1," * 12_000 + b"1]")
    (False, True)
    """
    # A value takes a byte at least.
    if len(body) <= MOST_VALUES:
        return False
    most = MOST_VALUES * (2 if _SECOND_OBJECT in body else 1)
    return len(body) > _MOST_BYTES or values_in(body) > most


class IsolatedCalls:
    """Answers in the processes of a pool; a process without a request for ``idle_seconds`` ends."""

    def __init__(self, *, idle_seconds: float = _IDLE_SECONDS) -> None:
        self.pool: Final = Pool(
            lambda: Process(Program(child.__file__, child.MEMORY, niceness=child.NICENESS)),
            PROCESSES,
            idle_seconds=idle_seconds,
        )
        self._awaited = AsyncPool(self.pool)

    async def answer(
        self, body: bytes, until: float, options: Options, prepare: Callable[[Request], Prepared]
    ) -> bytes:
        """Return the body that answers a call, until a time of the monotonic clock.

        ``prepare`` gets the request without its call, in a thread. Raises RequestError when no uid is found within the
        time and the memory, and InterpretationError when there is no right answer.
        """
        prepared: Prepared | None = None

        def needed(about: bytes) -> dict[str, Any]:
            nonlocal prepared
            prepared = prepare(_request(about))
            # Packed as a text: by it the child finds the definition that it compiled for an earlier call.
            packed = {"definition": pack(prepared.definition), "known": pack_known(prepared.known)}
            return packed | {"options": asdict(options), "seconds": _left(until)}

        try:
            return await self._ask("calls", child.CALL, body, until, needed)
        except InterpretationError as error:
            # The child stops at the deadline, too, and names the expression; that is the reason of the timeout.
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
        """Return the answer to a review within so many seconds: where ``taken`` is None to a mutating one.

        A Karta that takes too much time or memory is denied. Raises RequestError for a body that is not a review, and
        where no process is free.
        """
        subject: admission.Subject | None = None

        def needed(about: bytes) -> dict[str, Any]:
            nonlocal subject
            subject = admission.Subject(**orjson.loads(about))
            return {"taken": None if taken is None else [[*gvk, name] for gvk, name in taken.items()]}

        try:
            return await self._ask("reviews", child.REVIEW, body, time.monotonic() + seconds, needed)
        except (InterpretationError, SandboxError) as error:
            is_caused = isinstance(error, InterpretationError) or error.cause in _CAUSED_BY_REQUEST
            # A Karta that is to blame is denied; any other failure is the API server's to judge, by `failurePolicy`.
            if subject is None or not is_caused:
                raise _unanswered(body, error) from error
            return admission.unjudged(subject, str(error))

    async def _ask(
        self, owner: str, letter: bytes, body: bytes, until: float, needed: Callable[[bytes], dict[str, Any]]
    ) -> bytes:
        """Send a body, then what is ``needed`` to answer it, given what the process has read; return the answer."""
        async with self._awaited.process(owner, _left(until)) as (process, _):
            # Errors leave the block as values: an exception would end a process that has done nothing wrong.
            answer = await self._exchange(process, letter, body, until, needed)
        if isinstance(answer, InterpreterError):
            raise answer
        return answer

    @staticmethod
    async def _exchange(
        process: Exchange, letter: bytes, body: bytes, until: float, needed: Callable[[bytes], dict[str, Any]]
    ) -> bytes | InterpreterError:
        await process.send(letter, body, _left(until), grace=_GRACE_SECONDS)
        found, about = await process.receive()
        if found == child.UNREADABLE:
            return RequestError(**orjson.loads(about))
        try:
            # `json`, for orjson takes neither half a surrogate pair nor large integers, which a definition may have.
            parts = await asyncio.to_thread(lambda: json.dumps(needed(about)).encode())
        except InterpretationError as error:
            await process.send(child.DROP, b"")
            return error
        await process.send(child.ANSWER, parts)
        found, answer = await process.receive()
        return answer if found == child.ANSWER else InterpretationError(**json.loads(answer))


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


class ScriptCalls:
    """Runs the scripts of definitions in the processes that all scripts of this process share."""

    def __init__(self) -> None:
        self._pool = AsyncPool(WORKERS)

    async def answer(self, definition: Definition, call: Call, options: Options, until: float) -> Results:
        """Answer a call until a time of the monotonic clock; raises InterpretationError."""
        answers = []
        for script, job in script_jobs(definition, call, options):
            with script_errors(definition, script):
                answers.append(await self._run(job, min(SECONDS, until - time.monotonic())))
        return script_results(call, answers)

    async def _run(self, job: Job, seconds: float) -> JSON:
        """Run a job as `run_in` does, without a thread that waits for the script."""
        request = job.encoded()
        with script_limits(seconds):
            async with self._pool.process(job.owner, seconds) as (process, left):
                await process.send(b"Q", request, left, grace=GRACE_SECONDS)
                while (message := await process.receive())[0] in QUESTIONS:
                    # In a thread: the script decides how much there is to read.
                    if reply := await asyncio.to_thread(job.reply, *message):
                        await process.send(b"A", reply)
        return job.result(*message)
