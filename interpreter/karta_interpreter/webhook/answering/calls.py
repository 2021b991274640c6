"""A call from the bytes of its request to the bytes of its answer."""

import time
from asyncio import Future, get_running_loop, shield, timeout
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any, Final, TypeAlias

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.definitions.karta import LargeLookUpError
from karta_interpreter.definitions.sources import Snapshot, Store
from karta_interpreter.engine.operations import Options, own_answer
from karta_interpreter.webhook.admission import KindNames
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
from karta_interpreter.webhook.wire import (
    FastDecoder,
    NewQuestion,
    Question,
    Request,
    count_types,
    decode,
    encode_failure,
)

_MOST_LEFT: Final = 500
"""New types of readers after which a snapshot has the garbage collector look for those of replaced definitions: before
`release_memory` excludes them from collections. They take 2 MB, and 6 ms to free."""
_MOST_DEFINITIONS: Final = 1_250
"""More new definitions could take the collector longer than others may wait."""

_PREPARING: Final = 2.0
"""Seconds after which a new snapshot waits no more for what was asked about the one before to be compiled."""

Awaited: TypeAlias = Callable[[float], Coroutine[Any, Any, bytes]]
"""Answers a request that was read, within some seconds."""


class Calls:
    """Answers calls from the snapshot of the moment, and reviews of Kartas.

    It reads a body, chooses the lane that answers (`Lanes.choose`), awaits the answer, and shows both to observers.
    A call that has to compile first waits for a thread to do so, unless nothing ``rehearses``.
    While `interruption` runs, the event loop gives up an answer that takes long, and a child process gives it.
    """

    def __init__(
        self,
        store: Store,
        options: Options,
        load: Load | None = None,
        *,
        decoder: type[FastDecoder] = FastDecoder,
        rehearses: bool = True,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.load = load or Load()
        self.interruption = Interruption()
        self.observers: Sequence[Observer] = ()
        self._store = store
        self._children = ChildLane(options)
        self._options = options
        # Scripts may ask the Karta for requests, and only a child process looks up what claims stand for meanwhile.
        self._lanes = Lanes(self._children, self._children if options.device_classes else ScriptLane(options))
        self._decoder, self._clock = decoder(store.snapshot.find), clock
        self._known_types = count_types()
        self._rehearses = rehearses
        self._thread = ThreadPoolExecutor(1, "compiles")
        self._rehearsals: dict[tuple[bytes, bytes], Future[Question | None]] = {}
        self._prepared: list[tuple[NewQuestion, Question | None]] = []
        self._begin_snapshot(store.snapshot)
        store.subscribe(self._begin_snapshot)
        store.prepare = self._prepare

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

    def answer_soon(self, body: bytes, waited: float = 0.0) -> bytes | Awaited | None:
        """Return the answer, or how to await it. Return None for a large body, because its uid is not known yet.

        The call has ``waited`` so many seconds for a rehearsal.
        """
        started = self._clock() - waited
        try:
            decoded = self._decoder.read(body, learns=not self._rehearses)
        except NewQuestion as new:
            return partial(self._answer_new, new, body, started)
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
            if self._rehearses and (new_question := self._decoder.new_question(call.request)):
                return partial(self._answer_new, new_question, body, started)
        is_slow = bool(self._slow_calls) and self._slow_calls.matches(call.key, len(body))
        lane = self._lanes.choose(call, text, is_slow=is_slow)
        if lane is not None:
            # The first call of an operation finds out which fields it reads.
            self.load.spend(self._clock() - started)
        elif answer := self._answer_inline(call):
            return answer
        return partial(self._await, call, lane or self._lanes.child)

    async def _answer_new(self, new: NewQuestion, body: bytes, started: float, seconds: float) -> bytes:
        """Return the answer to the first call of its kind. A thread compiles what that takes, once for all who ask."""
        if new.key not in self._rehearsals:
            self._rehearsals[new.key] = get_running_loop().run_in_executor(self._thread, self._rehearse, new, body)
            self._rehearsals[new.key].add_done_callback(lambda _: self._rehearsals.pop(new.key))
        try:
            async with timeout(seconds):
                lesson = await shield(self._rehearsals[new.key])
        except TimeoutError:
            call = self._call(started, body, decode(body))
            failure = InterpretationError(call.too_slow(seconds), code=504)
            return self._observed(call, self._failure(call, failure))
        self._decoder.learn(new, lesson)
        waited = self._clock() - started
        answer = self.answer_soon(body, waited)
        if isinstance(answer, bytes):
            return answer
        return await answer(seconds) if answer else await self.answer(body, seconds - waited)

    def _rehearse(self, new: NewQuestion, body: bytes) -> Question | None:
        """Compile in a thread what the answer to a call takes. Return how such calls are read."""
        if is_large_body(body):  # for a child process
            return new.question()
        with suppress(Exception):  # the call meets the same error again, and answers it
            call = PendingCall(0.0, body, decode(body), new.definition)
            if self._lanes.choose(call, body, is_slow=False) is None:
                definition, asked = call.definition_and_call()
                # Nothing is looked up in a thread. An object that is not there is null.
                names = [reference.name for reference in definition.references]
                own_answer(definition.bound(dict.fromkeys(names)) if names else definition, asked, self._options)
        return new.question()

    def _prepare(self, snapshot: Snapshot) -> None:
        """Compile for a snapshot, in any thread and before it is in use, what has been asked about the one in use."""
        until = time.monotonic() + _PREPARING
        for asked, new in self._decoder.asked_anew(snapshot.find):
            if time.monotonic() > until:
                break
            with suppress(Exception):  # the call meets the same error, and a reload does not end for one definition
                self._prepared.append((new, new.question()))
                if not new.definition.needs_child:
                    new.definition.prepare_like(asked.definition)

    async def review(self, body: bytes, seconds: float, existing_kinds: KindNames) -> bytes:
        """Return the answer to a review of a Karta, see `ChildLane.review`."""
        with self.load.work():
            return await self._children.review(body, seconds, existing_kinds)

    def close(self) -> None:
        """End the processes. Calls without an answer are dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        close_pools()

    def _begin_snapshot(self, snapshot: Snapshot) -> None:
        # These remember definitions, which are freed once they are replaced.
        self._decoder.use(snapshot.find)
        while self._prepared:
            self._decoder.learn(*self._prepared.pop())
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
