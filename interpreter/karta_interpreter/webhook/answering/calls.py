"""A call from the bytes of its request to the bytes of its answer."""

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, Final, TypeAlias

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.definitions.karta import LargeLookUpError
from karta_interpreter.definitions.sources import Snapshot, Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.child_program import TOO_DEEP
from karta_interpreter.webhook.answering.lanes import (
    Lane,
    Lanes,
    LargeResultError,
    ScriptLane,
    inline_answer,
    is_large_body,
)
from karta_interpreter.webhook.answering.load import InterruptedWork, Interruption, Load
from karta_interpreter.webhook.answering.pending_call import (
    SUCCESS,
    Answer,
    Observer,
    PendingCall,
    SlowCalls,
)
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.memory import collect_garbage
from karta_interpreter.webhook.wire import FastDecoder, Request, count_types, decode, encode_failure

_MOST_LEFT: Final = 500
"""New types of readers after which a snapshot has the garbage collector look for those of replaced definitions: before
`release_memory` excludes them from collections. They take 2 MB, and 6 ms to free."""
_MOST_DEFINITIONS: Final = 1_250
"""More new definitions could take the collector longer than others may wait."""

Awaited: TypeAlias = Callable[[float], Coroutine[Any, Any, bytes]]
"""Answers a request that was read, within some seconds."""


class Calls:
    """Answers calls from the snapshot of the moment, and reviews of Kartas.

    It reads a body, chooses the lane that answers (`Lanes.choose`), awaits the answer, and shows both to observers.
    While `interruption` runs, the event loop gives up an answer that takes long, and a child process gives it.
    """

    def __init__(
        self,
        store: Store,
        options: Options,
        load: Load | None = None,
        *,
        decoder: type[FastDecoder] = FastDecoder,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.load = load or Load()
        self.interruption = Interruption()
        self.observers: Sequence[Observer] = ()
        self._store = store
        self._children = ChildLane(options)
        self._options = options
        self._lanes = Lanes(self._children, ScriptLane(options))
        self._decoder, self._clock = decoder(store.snapshot.find), clock
        self._known_types = count_types()
        self._begin_snapshot(store.snapshot)
        store.subscribe(self._begin_snapshot)

    async def answer(self, body: bytes, seconds: float) -> bytes:
        """Return the body that answers a request within that time, or reports an error.

        Raises RequestError for a request without a uid, and if the server has too many calls.
        """
        # Before the body is decoded: that is a large part of the time of a turn.
        if self.load.is_spent:
            with self.load.work():
                seconds = await self.load.turn(seconds)
        answer = self.answer_soon(body)
        if isinstance(answer, bytes):
            return answer
        with self.load.work():
            if answer:
                return await answer(seconds)
            # Only a child process reads this body.
            started = self._clock()
            async with self._children.reading(body, seconds) as lane:
                return await self._await(self._call(started, body, lane.request), lane, seconds)

    def answer_soon(self, body: bytes) -> bytes | Awaited | None:
        """Return the answer, or how to await it. Return None for a large body, because its uid is not known yet."""
        started = self._clock()
        decoded = self._decoder.read(body)
        if decoded is not None:
            request, definition, text = decoded.request, decoded.definition, decoded.text
            is_projected, reader = not decoded.by_script, self._store.reader
            call = PendingCall(started, body, request, definition, is_projected, reader, self._kinds)
        # Only now: the fast decoder skips the parts that it does not need, so most large bodies are cheap for it.
        elif is_large_body(body):
            # Decoding it takes long, and a hostile body takes fifty times its size of memory.
            return None
        else:
            text, call = body, self._call(started, body, decode(body))
        is_slow = bool(self._slow_calls) and self._slow_calls.matches(call.key, len(body))
        lane = self._lanes.choose(call, text, is_slow=is_slow)
        if lane is not None:
            # The first call of an operation finds out which fields it reads.
            self.load.spend(self._clock() - started)
        elif answer := self._answer_inline(call):
            return answer
        return partial(self._await, call, lane or self._lanes.child)

    async def review(self, body: bytes, seconds: float, existing_kinds: Mapping[GVK, str]) -> bytes:
        """Return the answer to a review of a Karta, see `ChildLane.review`."""
        with self.load.work():
            return await self._children.review(body, seconds, existing_kinds)

    def close(self) -> None:
        """End the processes. Calls without an answer are dropped."""
        close_pools()

    def _begin_snapshot(self, snapshot: Snapshot) -> None:
        # These remember definitions, which are freed once they are replaced.
        self._decoder.use(snapshot.find)
        self._children.packed.clear()
        self._slow_calls = SlowCalls()
        if len(snapshot.entries) <= _MOST_DEFINITIONS and count_types() >= self._known_types + _MOST_LEFT:
            collect_garbage()
            self._known_types = count_types()

    def _call(self, started: float, body: bytes, request: Request) -> PendingCall:
        definition = self._store.snapshot.find(request.gvk) if request.gvk else None
        return PendingCall(started, body, request, definition, reader=self._store.reader, kinds=self._kinds)

    def _kinds(self) -> list[GVK]:
        return self._store.snapshot.kinds()

    def _answer_inline(self, call: PendingCall) -> bytes | None:
        """Return the answer, or None if the work is interrupted and a child process has to give the answer."""
        answer, is_slow = None, True
        try:
            body = inline_answer(call, self._options, self.interruption)
            answer = Answer(body, SUCCESS, "", self._clock() - call.started, is_inline=True)
        except InterruptedWork:
            self.interruption.at = inf
        except LargeLookUpError:
            is_slow = False
        except Exception as error:  # noqa: BLE001 - the edge of the process
            answer = self._failure(call, error, is_inline=True)
        self.load.spend(answer.seconds if answer else self._clock() - call.started)
        if answer is None:
            if is_slow:
                self._note_slow(call)
            return None
        # Last: observers do not make a call slow.
        return self._observed(call, answer)

    async def _await(self, call: PendingCall, lane: Lane, seconds: float) -> bytes:
        """Return the answer of a lane within that many seconds since the call came."""
        try:
            body = await self._in_time(call, lane, seconds)
            answer = Answer(body, SUCCESS, "", self._clock() - call.started, is_inline=False)
        except Exception as error:  # noqa: BLE001 - the edge of the process
            answer = self._failure(call, error)
        return self._observed(call, answer)

    async def _in_time(self, call: PendingCall, lane: Lane, seconds: float) -> bytes:
        seconds_left = seconds - (self._clock() - call.started)
        until = time.monotonic() + seconds_left
        try:
            return await lane.answer(call, seconds_left)
        except LargeResultError:
            self._note_slow(call)
            return await self._in_time(call, self._lanes.child, seconds)
        except TimeoutError:
            raise InterpretationError(call.too_slow(seconds), code=504) from None
        except InterpretationError as error:
            # Work that stops at its deadline fails with an error of its own, which names the slow expression.
            if time.monotonic() < until:
                raise
            raise InterpretationError(f"{call.too_slow(seconds)}: {error}", code=504) from error

    def _note_slow(self, call: PendingCall) -> None:
        if call.definition and self._slow_calls.add(call.key, len(call.body)):
            (name, operation), seconds = call.key, round(self._clock() - call.started, 4)
            log.warning(
                "calls took long: child processes answer those that are half as long or longer",
                definition=name,
                operation=operation,
                bytes=len(call.body),
                seconds=seconds,
            )

    def _failure(self, call: PendingCall, error: Exception, *, is_inline: bool = False) -> Answer:
        request = call.request
        match error:
            case InterpretationError():
                code, reason = error.code, str(error)
            case RequestError():
                code, reason = error.status, str(error)
            case RecursionError():
                code, reason = 422, TOO_DEEP
            case _:
                # Its text may hold content of the object, so it only goes to the log.
                log.error("call failed unexpectedly", uid=request.uid, operation=request.operation_name, exc_info=error)
                code, reason = 500, "internal error"
        return Answer(encode_failure(request.uid, code, reason), code, reason, self._clock() - call.started, is_inline)

    def _observed(self, call: PendingCall, answer: Answer) -> bytes:
        for observe in self.observers:
            try:
                observe(call, answer)
            except Exception as error:  # noqa: BLE001 - there is an answer, whatever is wrong here
                log.error("an observer of calls failed unexpectedly", exc_info=error)
        return answer.body
