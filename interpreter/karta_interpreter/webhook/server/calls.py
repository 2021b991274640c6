"""A call from the bytes of its request to the bytes of its answer."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any, TypeAlias

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Operation, Options, Results, interpret
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.webhook.server.isolated_calls import (
    IsolatedCalls,
    LargeResultError,
    Prepared,
    ScriptCalls,
    pack_for_child,
)
from karta_interpreter.webhook.server.isolated_child import TOO_DEEP
from karta_interpreter.webhook.server.lanes import Lane, is_large_body, lane_of
from karta_interpreter.webhook.server.left_out import LeftOutResources
from karta_interpreter.webhook.server.load import InterruptedWork, Interruption, Load
from karta_interpreter.webhook.server.log import log
from karta_interpreter.webhook.server.metrics import Metrics
from karta_interpreter.webhook.server.pending_call import LONG, PendingCall, RememberedAnswers, SlowCalls
from karta_interpreter.webhook.wire import (
    FastDecoder,
    Request,
    decode,
    encode_failure,
    encode_results,
    with_uid,
    without_uid,
)

_OPERATIONS = frozenset(operation.value for operation in Operation)
_COUNTING = frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT})
_SLOW = 0.5
"""Seconds from which Karmada writes a call to its own log (``customized.go``)."""
_SUCCESS = 200
_LONGEST_REASON = 500
# A process that stops at its deadline names the slow line; this is how long the call waits for it.
_LAST_WORDS = 0.2

Awaited: TypeAlias = Callable[[float], Coroutine[Any, Any, bytes]]
"""Answers a request that was read, within some seconds."""


class Calls:
    """Answers calls from the snapshot of the moment, and reviews of Kartas.

    `lane_of` decides who answers a call. While `interruption` runs, an answer of the event loop that takes long is
    given up, and a child process gives it.
    """

    # Attributes of the class, so that tests can compare with calls that all take the slow path, and set the clocks.
    _reads_by = FastDecoder
    _clock = staticmethod(time.perf_counter)
    _processor_time = staticmethod(time.thread_time)

    def __init__(self, store: Store, metrics: Metrics, options: Options, load: Load | None = None) -> None:
        self.load = load or Load()
        self.interruption = Interruption()
        self.left_out = LeftOutResources()
        self._store = store
        self._metrics = metrics
        metrics.contention.limited = self._limited
        self._options = options
        self._isolated = IsolatedCalls()
        self._scripts = ScriptCalls()
        self._logs_all = log.isEnabledFor(logging.DEBUG)
        self._snapshot: Snapshot | None = None
        self._begin_snapshot(store.snapshot)

    async def answer(self, body: bytes, seconds: float) -> bytes:
        """Return the body that answers a request within that time, or reports an error.

        Raises RequestError for a request without a uid, and when the server has too many calls.
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
        """Return what `answer` would, or how to await it; None for a large body, of which no uid is known yet."""
        call, lane = self._read(body)
        if call is None:
            return None
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
        """End the processes; calls without an answer are dropped."""
        close_pools()

    def _begin_snapshot(self, snapshot: Snapshot) -> None:
        # These remember definitions; a snapshot never changes, so its identity will do.
        self._snapshot, self._decoder = snapshot, self._reads_by(snapshot.find)
        self._slow_calls, self._packed = SlowCalls(), dict[GVK, tuple[Definition, bytes]]()
        self._answers = RememberedAnswers()

    def _read(self, body: bytes) -> tuple[PendingCall | None, Lane]:
        """Read a request and decide its lane; there is no call where the body is too large to be read here."""
        started, snapshot = self._clock(), self._store.snapshot
        if snapshot is not self._snapshot:
            self._begin_snapshot(snapshot)
        definition: Definition | None
        asked = remembered = None
        decoded = self._decoder.read(body, self._answers.find)
        if decoded is not None:
            request, definition, by_script, asked, remembered = decoded
            is_projected = not by_script
        # Only now: the fast decoder skips what it does not need, so most large bodies are cheap to it.
        elif is_large_body(body):
            return None, lane_of(None, None, len(body), is_slow=False)
        else:
            request, is_projected = decode(body), False
            definition = definition_of(request, snapshot)
        call = PendingCall(started, body, request, snapshot, definition, is_projected, asked, remembered)
        if remembered is not None:
            return call, Lane.INLINE
        size = len(body)
        return call, lane_of(request, definition, size, is_slow=self._slow_calls.matches(call.key, size))

    def _inline(self, call: PendingCall) -> bytes | None:
        """Return the answer; None for one that is interrupted, and that a child process gives."""
        answer, begun, succeeded = None, None, False
        try:
            if call.remembered is not None:
                answer = with_uid(call.remembered, call.request.uid)
            else:
                begun = self._processor_time()
                answer = self._new_answer(call, begun)
        except InterruptedWork:
            self.interruption.at = inf
        except Exception as error:  # noqa: BLE001 - the edge of the process
            answer = self._failure(call, error)
        else:
            succeeded = True
            self._record(call)
        spent = self._clock() - call.started
        self.load.spend(spent)
        # Processor time: a busy machine makes any call wait.
        if spent >= LONG and begun is not None and (seconds := self._processor_time() - begun) >= LONG:
            self._note_slow(call, seconds)
        # Last: a look for fights does not make a call slow.
        if answer and succeeded:
            self._note(call, answer, call.definition)
        return answer

    def _new_answer(self, call: PendingCall, begun: float) -> bytes:
        request = call.request
        answer = encode_results(request, self._own_results(call, begun))
        if call.asked:
            self._answers.add(call.asked, without_uid(answer, request.uid))
        return answer

    def _own_results(self, call: PendingCall, begun: float) -> Results:
        # Not since the call came: to find out what a new question reads takes as long, once, in any process.
        self.interruption.at = begun + LONG
        try:
            definition, asked = call.definition_and_call()
            if call.is_projected:
                return own_answer(definition, asked, self._options)
            return interpret(definition, asked, self._options, reader=self._store.reader)
        finally:
            self.interruption.at = inf

    def _note_slow(self, call: PendingCall, seconds: float) -> None:
        if call.definition and self._slow_calls.add(call.key, len(call.body)):
            name, operation = call.key
            message = "calls took long: child processes answer those that are half as long or longer"
            size = len(call.body)
            log.warning(message, definition=name, operation=operation, bytes=size, seconds=round(seconds, 4))

    async def _by_script(self, call: PendingCall, seconds: float) -> bytes:
        try:
            answer = encode_results(call.request, await self._script_results(call, seconds))
        except LargeResultError:
            self._note_slow(call, self._clock() - call.started)
            return await self._in_child(call.body, seconds, call)
        except Exception as error:  # noqa: BLE001 - the edge of the process
            return self._failure(call, error)
        self._record(call)
        self._note(call, answer)
        return answer

    async def _script_results(self, call: PendingCall, seconds: float) -> Results:
        definition, asked = call.definition_and_call()
        until = time.monotonic() + seconds
        try:
            # Work that stops at its deadline returns the slow expression.
            async with asyncio.timeout(seconds + _LAST_WORDS):
                return await self._scripts.answer(definition, asked, self._options, until)
        except TimeoutError:
            raise InterpretationError(call.too_slow(seconds), code=504) from None
        except InterpretationError as error:
            # What was stopped at the deadline fails with an error of its own; the client gets the code of a timeout.
            if time.monotonic() < until:
                raise
            raise InterpretationError(f"{call.too_slow(seconds)}: {error}", code=504) from error

    async def _in_child(self, body: bytes, seconds: float, call: PendingCall | None = None) -> bytes:
        """Return the answer of a child process; the time that has passed since a ``call`` came counts."""
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
            # Without a uid there is no answer of Karmada's form: `RequestError` becomes an HTTP error.
            if call is None:
                raise
            return self._failure(call, error)
        if call is not None:
            self._record(call)
            self._note(call, answer)
        return answer

    def _note(self, call: PendingCall, answer: bytes, definition: Definition | None = None) -> None:
        if definition and call.request.operation_name in _COUNTING:
            self.left_out.latest = call
        elif call.request.operation_name == Operation.RETAIN and call.definition:
            try:
                self._metrics.contention.note(call.body, call.request, answer, definition)
            except Exception as error:  # noqa: BLE001 - there is an answer, whatever is wrong here
                log.error("looking for fights failed unexpectedly", exc_info=error)

    @contextmanager
    def _limited(self) -> Iterator[None]:
        self.interruption.at = self._processor_time() + LONG
        try:
            yield
        finally:
            self.interruption.at = inf

    def _pack(self, definition: Definition) -> bytes:
        # Of another snapshot than this call's there may be another definition of the kind.
        packed, needed = self._packed.get(definition.gvk, (None, b""))
        if packed is not definition:
            needed = pack_for_child(definition, self._options)
            self._packed[definition.gvk] = definition, needed
        return needed

    def _failure(self, call: PendingCall, error: Exception) -> bytes:
        request = call.request
        if isinstance(error, InterpretationError):
            code, message = error.code, str(error)
        elif isinstance(error, RequestError):
            code, message = error.status, str(error)
        elif isinstance(error, RecursionError):
            code, message = 422, TOO_DEEP
        else:
            # Its text may hold content of the object, so only the log gets it.
            log.error("call failed unexpectedly", uid=request.uid, operation=request.operation_name, exc_info=error)
            code, message = 500, "internal error"
        self._record(call, code, message)
        return encode_failure(request.uid, code, message)

    def _record(self, call: PendingCall, code: int = _SUCCESS, message: str = "") -> None:
        request, seconds = call.request, self._clock() - call.started
        # Labels of metrics: what a client invents would make a new series each time.
        known = request.gvk if call.definition else None
        operation = request.operation_name if request.operation_name in _OPERATIONS else ""
        self._metrics.answered(operation, known, code, seconds)
        if code == _SUCCESS and seconds < _SLOW and not self._logs_all:
            return
        about: dict[str, Any] = {
            "uid": request.uid,
            "operation": request.operation_name,
            "kind": str(request.gvk),
            "object": f"{request.namespace}/{request.name}",
            "seconds": round(seconds, 4),
        }
        if seconds >= _SLOW:
            log.warning("slow call", **about)
        if code == _SUCCESS:
            log.debug("call answered", **about)
        else:
            log.warning("call failed", **about, code=code, reason=message[:_LONGEST_REASON])


def definition_of(request: Request, snapshot: Snapshot) -> Definition | None:
    """Return the definition of the kind that a request names."""
    return snapshot.find(request.gvk) if request.gvk else None


Observer: TypeAlias = Callable[[bytes, bytes], None]
"""Sees a request and its answer; returns at once and raises nothing."""


class ObservedCalls(Calls):
    """Calls of all lanes, of which each observer sees every request that gets an answer of Karmada's form."""

    observers: tuple[Observer, ...] = ()

    def answer_soon(self, body: bytes) -> bytes | Awaited | None:
        """Return what `Calls` returns."""
        answer = super().answer_soon(body)
        if isinstance(answer, bytes):
            return self._observed(body, answer)
        return answer and partial(self._observe, body, answer)

    async def _observe(self, body: bytes, answer: Awaited, seconds: float) -> bytes:
        return self._observed(body, await answer(seconds))

    async def _in_child(self, body: bytes, seconds: float, call: PendingCall | None = None) -> bytes:
        answer = await super()._in_child(body, seconds, call)
        # With a call it is one that `answer_soon` has begun; without one its body is too large for that.
        return answer if call else self._observed(body, answer)

    def _observed(self, body: bytes, answer: bytes) -> bytes:
        for observer in self.observers:
            observer(body, answer)
        return answer
