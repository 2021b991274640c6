"""The lane of child processes, for calls and for reviews of Kartas.

While this process decodes a large body it answers no other call. A hostile body takes fifty times its size of memory, a
hostile Karta takes long to judge, and a bounded expression may never end. So these bodies go unchanged to a child
process, which has little memory, no environment and a deadline. The answer comes back as bytes. Starting a process
takes ten times as long as most calls, so processes that have not grown are kept for a while. No thread waits for a
process.
"""

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import orjson
from msgspec import structs

from karta_interpreter.base.errors import (
    InterpretationError,
    InterpreterError,
    QueryAbsentError,
    QueryReferenceError,
    RequestError,
    SandboxError,
    StopCause,
)
from karta_interpreter.base.k8s import GVK, NewObject
from karta_interpreter.base.sandbox import Pool, Process, Program
from karta_interpreter.base.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.definitions.karta import (
    MOST_BYTES,
    MOST_OBJECTS,
    NOWHERE,
    Definition,
    LargeLookUpError,
    ReferenceReader,
)
from karta_interpreter.definitions.karta.packing import pack
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Options
from karta_interpreter.webhook import admission
from karta_interpreter.webhook.answering import child_program as child
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import Request

PROCESSES: Final = 3
"""The most processes for bodies that only a child reads: two for calls and one for reviews, or vice versa."""

DEFINITION_PROCESSES: Final = 4
"""The most processes for definitions that need a child. A definition leaves one of them to the other definitions."""

_IDLE_SECONDS: Final = 30.0

_STATUSES: Final = dict.fromkeys(set(StopCause) - {StopCause.DEFECT}, 503) | {StopCause.MEMORY: 413}
"""The HTTP status before the uid of a request is known. The missing cause is a defect of this program."""
_CODES: Final = _STATUSES | {StopCause.MEMORY: 422, StopCause.PROCESSOR_TIME: 504}
"""The code of an answer with the uid."""


class ChildLane:
    """Answers in the processes of two pools. A process without a request for ``idle_seconds`` ends."""

    def __init__(self, options: Options = DEFAULT_OPTIONS, *, idle_seconds: float = _IDLE_SECONDS) -> None:
        def start() -> Process:
            return Process(Program(child.__file__, child.MEMORY, niceness=child.NICENESS))

        self._options = structs.asdict(options)
        self.pool: Final = Pool(start, PROCESSES, idle_seconds=idle_seconds)
        self._bodies = AsyncPool(self.pool)
        self._definitions = AsyncPool(Pool(start, DEFINITION_PROCESSES, idle_seconds=idle_seconds))
        self.packed: dict[GVK, tuple[Definition, bytes]] = {}

    async def answer(self, call: PendingCall, seconds: float) -> bytes:
        """Return the answer to a call in the pool for definitions. Raises as `ReadBody.answer` does."""
        owner = str(call.definition_or_raise().gvk)
        with _stopped(call):
            async with self._process(self._definitions, owner, child.CALL, call.body, seconds) as (process, _):
                return await _asked(process, self.needed(call), call.reader)

    @asynccontextmanager
    async def reading(self, body: bytes, seconds: float) -> AsyncIterator["ReadBody"]:
        """Have a process read the body of a call. Raises RequestError if it finds no uid in the time and the memory."""
        try:
            async with self._process(self._bodies, "calls", child.CALL, body, seconds) as (process, about):
                fields: NewObject = orjson.loads(about)
                gvk, problem = fields.pop("gvk"), fields.pop("problem")
                failure = problem and InterpretationError(**problem)
                yield ReadBody(self, process, Request(**fields, gvk=gvk and GVK(*gvk), problem=failure))
        except SandboxError as error:
            raise _unanswered(body, error) from error

    async def review(self, body: bytes, seconds: float, taken: admission.KindNames) -> bytes:
        """Return the answer to a review within that many seconds. ``taken`` are the kinds that Kartas define.

        A Karta that takes too much time or memory is denied. Raises RequestError if the body is not a review or no
        process is free.
        """
        subject: admission.Subject | None = None
        kinds = [[*gvk, name] for gvk, name in taken.items()]
        try:
            async with self._process(self._bodies, "reviews", child.REVIEW, body, seconds) as (process, about):
                subject = admission.Subject(**orjson.loads(about))
                return await _asked(process, orjson.dumps({"taken": kinds}))
        except (InterpretationError, SandboxError) as error:
            is_caused = isinstance(error, InterpretationError) or error.is_of_request
            # A Karta that is to blame is denied. Any other failure is left to the API server's `failurePolicy`.
            if subject is None or not is_caused:
                raise _unanswered(body, error) from error
            return admission.unjudged(subject, str(error))

    @asynccontextmanager
    async def _process(
        self, pool: AsyncPool, owner: str, letter: bytes, body: bytes, seconds: float
    ) -> AsyncIterator[tuple[Exchange, bytes]]:
        """Have a process read a body. The block gets the process and what the body is about."""
        until = time.monotonic() + seconds
        async with pool.process(owner, _left(until), with_start=True) as (process, _):
            await process.send(letter, body, _left(until))
            kind, about = await process.receive()
            # Raised after the block of the pool, which would end a process that has done nothing wrong.
            failure: InterpreterError | None = None
            if kind == child.UNREADABLE:
                failure = RequestError(**orjson.loads(about))
            else:
                try:
                    yield process, about
                except InterpretationError as error:
                    failure = error
        if failure:
            try:
                raise failure
            finally:
                del failure  # this frame is in its traceback, and has the body: a cycle, which stays for long

    def needed(self, call: PendingCall) -> bytes:
        """Return the data with which a process answers, and which identifies a definition that it has compiled."""
        definition = call.definition_or_raise()
        packed, needed = self.packed.get(definition.gvk, (None, b""))
        if packed is not definition:
            needed = orjson.dumps({"definition": pack(definition), "options": self._options})
            self.packed[definition.gvk] = definition, needed
        return needed


class ReadBody:
    """The lane of the call in a body that a process has read."""

    def __init__(self, lane: ChildLane, process: Exchange, request: Request) -> None:
        self._lane = lane
        self._process = process
        self.request = request
        """What the process has read, without its call."""

    async def answer(self, call: PendingCall, _: float) -> bytes:
        """Return the answer to the call. Reading the body has set the deadline.

        Raises InterpretationError if there is no right answer, and TimeoutError.
        """
        with _stopped(call):
            try:
                needed = self._lane.needed(call)
            except InterpretationError:
                # The process need not answer.
                await self._process.send(child.ANSWER, b"")
                raise
            return await _asked(self._process, needed, call.reader)


@contextmanager
def _stopped(call: PendingCall) -> Iterator[None]:
    """Raise the errors of a call whose process is stopped in the block."""
    try:
        yield
    except SandboxError as error:
        if error.cause is StopCause.TIME:
            raise TimeoutError from error
        if error.cause not in _CODES:
            raise
        reason = f"definition {call.key[0]}: the call was stopped: {error}"
        raise RequestError(reason, status=_CODES[error.cause]) from error


async def _asked(process: Exchange, needed: bytes, reader: ReferenceReader | None = None) -> bytes:
    """Return the answer of a process that has read a body. Raises InterpretationError."""
    await process.send(child.ANSWER, needed)
    looked_up = _LookedUp()
    while (message := await process.receive())[0] == child.LOOK_UP:
        await process.send(*looked_up.reply(reader, message[1]))
    letter, answer = message
    if letter == child.FAILURE:
        raise InterpretationError(**json.loads(answer))
    return answer


_BEYOND: Final = f"the objects that one call looks up are more than {MOST_BYTES // 2**20} MiB, or than {MOST_OBJECTS:,}"


class _LookedUp:
    """What a process has looked up for one call. It gets the objects as they are kept, so nothing is decoded here."""

    def __init__(self) -> None:
        self._bytes = self._objects = 0

    def reply(self, reader: ReferenceReader | None, question: bytes) -> tuple[bytes, bytes]:
        """Return the reply to a process that looks up an object, or the objects of a kind."""
        if reader is None:
            return child.ABSENT, NOWHERE.encode()
        kind, *where = json.loads(question)
        try:
            if isinstance(kind, dict):
                return child.ANSWER, json.dumps([reader.served([GVK(*version) for version in kind["served"]])]).encode()
            texts = reader.texts(GVK(*kind), *where)
        except LargeLookUpError:
            return child.FAILURE, _BEYOND.encode()
        except QueryReferenceError as error:
            letter = child.ABSENT if isinstance(error, QueryAbsentError) else child.FAILURE
            return letter, str(error).encode(errors="replace")
        self._objects += max(len(texts), 1)
        self._bytes += sum(map(len, texts))
        if self._objects > MOST_OBJECTS or self._bytes > MOST_BYTES:
            return child.FAILURE, _BEYOND.encode()
        return child.ANSWER, b"[%s]" % b",".join(texts)


def _unanswered(body: bytes, error: InterpreterError) -> InterpreterError:
    status = _STATUSES.get(error.cause) if isinstance(error, SandboxError) else None
    return RequestError(f"no answer to a body of {len(body)} bytes: {error}", status=status) if status else error


def _left(until: float) -> float:
    # Not 0: a message with 0 seconds begins no request, and would have no deadline.
    return max(until - time.monotonic(), 0.001)
