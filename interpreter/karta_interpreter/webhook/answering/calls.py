"""A call from the bytes of its request to the bytes of its answer."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, TypeAlias

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options, Results, interpret
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.webhook.answering.isolated_calls import (
    IsolatedCalls,
    LargeResultError,
    Prepared,
    ScriptCalls,
    pack_for_child,
)
from karta_interpreter.webhook.answering.isolated_child import TOO_DEEP
from karta_interpreter.webhook.answering.lanes import Lane, is_large_body, lane_of
from karta_interpreter.webhook.answering.load import BEGUN, InterruptedWork, Interruption, Load
from karta_interpreter.webhook.answering.pending_call import (
    SUCCESS,
    Answer,
    Observer,
    PendingCall,
    SlowCalls,
)
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire import (
    FastDecoder,
    Request,
    decode,
    encode_failure,
    encode_results,
)

# A process that stops at its deadline names the slow line. The call waits this long for the name.
_LAST_WORDS = 0.2

Awaited: TypeAlias = Callable[[float], Coroutine[Any, Any, bytes]]
"""Answers a request that was read, within some seconds."""


class Calls:
    """Answers calls from the snapshot of the moment, and reviews of Kartas.

    `lane_of` decides who answers a call. While `interruption` runs, the event loop gives up an answer that takes long,
    and a child process gives it.
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
        self._options = options
        self._isolated = IsolatedCalls()
        self._scripts = ScriptCalls()
        self._decoder, self._clock = decoder(store.snapshot.find), clock
        self._begin_snapshot(store.snapshot)

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
            return await (answer(seconds) if answer else self._in_child(body, seconds))

    def answer_soon(self, body: bytes) -> bytes | Awaited | None:
        """Return the answer, or how to await it. Return None for a large body, because its uid is not known yet."""
        started, snapshot = self._clock(), self._store.snapshot
        if snapshot is not self._snapshot:
            self._begin_snapshot(snapshot)
        definition: Definition | None
        decoded = self._decoder.read(body)
        if decoded is not None:
            request, definition, text = decoded.request, decoded.definition, decoded.text
            is_projected = not decoded.by_script
        # Only now: the fast decoder skips the parts that it does not need, so most large bodies are cheap for it.
        elif is_large_body(body):
            # Decoding it takes long, and a hostile body takes fifty times its size of memory.
            return None
        else:
            request, text, is_projected = decode(body), body, False
            definition = definition_of(request, snapshot)
        call = PendingCall(started, body, request, snapshot, definition, is_projected)
        is_slow = bool(self._slow_calls) and self._slow_calls.matches(call.key, len(body))
        lane = lane_of(request, definition, text, is_slow=is_slow)
        if lane is not Lane.INLINE:
            # The first call of an operation finds out which fields it reads.
            self.load.spend(self._clock() - call.started)
        elif answer := self._inline(call):
            return answer
        return partial(self._by_script, call) if lane is Lane.SCRIPT else partial(self._in_child, body, call=call)

    async def review(self, body: bytes, seconds: float, existing_kinds: Mapping[GVK, str] | None) -> bytes:
        """Return the answer to a review of a Karta, see `IsolatedCalls.review`."""
        with self.load.work():
            return await self._isolated.review(body, seconds, existing_kinds)

    def close(self) -> None:
        """End the processes. Calls without an answer are dropped."""
        close_pools()

    def _begin_snapshot(self, snapshot: Snapshot) -> None:
        # These remember definitions. A snapshot never changes, so its identity is enough.
        self._snapshot = snapshot
        self._decoder.use(snapshot.find)
        self._slow_calls, self._packed = SlowCalls(), dict[GVK, tuple[Definition, bytes]]()

    def _inline(self, call: PendingCall) -> bytes | None:
        """Return the answer, or None if the work is interrupted and a child process has to give the answer."""
        answer, request = None, call.request
        try:
            try:
                # Not from the time of the call: finding out which fields a new question reads takes as long, once, in
                # any process.
                self.interruption.at = BEGUN
                if call.is_projected and call.definition and request.call:
                    results = own_answer(call.definition, request.call, self._options)
                else:
                    results = interpret(*call.definition_and_call(), self._options, reader=self._store.reader)
                body = encode_results(request, results)
            finally:
                self.interruption.at = inf
            answer = Answer(body, SUCCESS, "", self._clock() - call.started, is_inline=True)
        except InterruptedWork:
            self.interruption.at = inf
        except Exception as error:  # noqa: BLE001 - the edge of the process
            answer = self._failure(call, error, is_inline=True)
        spent = answer.seconds if answer else self._clock() - call.started
        self.load.spend(spent)
        if answer is None:
            self._note_slow(call, spent)
            return None
        # Last: observers do not make a call slow.
        return self._observed(call, answer)

    def _note_slow(self, call: PendingCall, seconds: float) -> None:
        if call.definition and self._slow_calls.add(call.key, len(call.body)):
            name, operation = call.key
            message = "calls took long: child processes answer those that are half as long or longer"
            size = len(call.body)
            log.warning(message, definition=name, operation=operation, bytes=size, seconds=round(seconds, 4))

    async def _by_script(self, call: PendingCall, seconds: float) -> bytes:
        try:
            body = encode_results(call.request, await self._script_results(call, seconds))
        except LargeResultError:
            self._note_slow(call, self._clock() - call.started)
            return await self._in_child(call.body, seconds, call)
        except Exception as error:  # noqa: BLE001 - the edge of the process
            return self._observed(call, self._failure(call, error))
        return self._observed(call, self._success(call, body))

    async def _script_results(self, call: PendingCall, seconds: float) -> Results:
        definition, script_call = call.definition_and_call()
        until = time.monotonic() + seconds
        try:
            # Work that stops at its deadline returns the slow expression.
            async with asyncio.timeout(seconds + _LAST_WORDS):
                return await self._scripts.answer(definition, script_call, self._options, until)
        except TimeoutError:
            raise InterpretationError(call.too_slow(seconds), code=504) from None
        except InterpretationError as error:
            # Work that is stopped at the deadline fails with an error of its own. The client gets the code of a
            # timeout.
            if time.monotonic() < until:
                raise
            raise InterpretationError(f"{call.too_slow(seconds)}: {error}", code=504) from error

    async def _in_child(self, body: bytes, seconds: float, call: PendingCall | None = None) -> bytes:
        """Return the answer of a child process. The time since a ``call`` came counts."""
        started, request = (call.started, call.request) if call else (self._clock(), None)
        until = time.monotonic() + seconds - (self._clock() - started)

        def prepare(request: Request) -> Prepared:
            nonlocal call
            snapshot = self._store.snapshot
            call = call or PendingCall(started, body, request, snapshot, definition_of(request, snapshot))
            definition = call.definition_or_raise()
            return Prepared(definition, self._pack(definition), self._store.reader, call.too_slow(seconds))

        try:
            answer = await self._isolated.answer(body, until, prepare, request)
        except Exception as error:
            # Without a uid there is no answer in Karmada's form: `RequestError` becomes an HTTP error.
            if call is None:
                raise
            return self._observed(call, self._failure(call, error))
        return self._observed(call, self._success(call, answer)) if call else answer

    def _pack(self, definition: Definition) -> bytes:
        # A snapshot other than this call's may have another definition of the kind.
        packed, needed = self._packed.get(definition.gvk, (None, b""))
        if packed is not definition:
            needed = pack_for_child(definition, self._options)
            self._packed[definition.gvk] = definition, needed
        return needed

    def _success(self, call: PendingCall, body: bytes) -> Answer:
        return Answer(body, SUCCESS, "", self._clock() - call.started, is_inline=False)

    def _failure(self, call: PendingCall, error: Exception, *, is_inline: bool = False) -> Answer:
        request = call.request
        if isinstance(error, InterpretationError):
            code, reason = error.code, str(error)
        elif isinstance(error, RequestError):
            code, reason = error.status, str(error)
        elif isinstance(error, RecursionError):
            code, reason = 422, TOO_DEEP
        else:
            # Its text may hold content of the object, so it only goes to the log.
            log.error("call failed unexpectedly", uid=request.uid, operation=request.operation_name, exc_info=error)
            code, reason = 500, "internal error"
        body = encode_failure(request.uid, code, reason)
        return Answer(body, code, reason, self._clock() - call.started, is_inline)

    def _observed(self, call: PendingCall, answer: Answer) -> bytes:
        for observe in self.observers:
            try:
                observe(call, answer)
            except Exception as error:  # noqa: BLE001 - there is an answer, whatever is wrong here
                log.error("an observer of calls failed unexpectedly", exc_info=error)
        return answer.body


def definition_of(request: Request, snapshot: Snapshot) -> Definition | None:
    """Return the definition of the kind that a request names."""
    return snapshot.find(request.gvk) if request.gvk else None
