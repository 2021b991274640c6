"""A call from the bytes of its request to the bytes of its answer."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any, TypeAlias

from karta_interpreter.errors import InterpretationError, RequestError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.reference_resolver import known_to
from karta_interpreter.operations import Call, Operation, Options, Results, interpret
from karta_interpreter.operations.dispatch import own_answer
from karta_interpreter.operations.interpretation import has_scripts_alone
from karta_interpreter.sandbox import close_pools
from karta_interpreter.sandbox.deadline import deadline
from karta_interpreter.server.interruption import InterruptedWork, Interruption
from karta_interpreter.server.isolated_calls import IsolatedCalls, Prepared, ScriptCalls, is_large
from karta_interpreter.server.isolated_child import TOO_DEEP
from karta_interpreter.server.load import Load
from karta_interpreter.server.log import log
from karta_interpreter.server.long_calls import LONG, LongCalls
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.question import Question
from karta_interpreter.sources.snapshot import Snapshot
from karta_interpreter.sources.store import Store
from karta_interpreter.wire import FastDecoder, Request, decode, encode_failure, encode_results

_OPERATIONS = frozenset(operation.value for operation in Operation)
_THREADS = 16
_THREADS_OF_ONE_KIND = 4
"""Calls of one slow definition leave threads to those of another one."""
_SLOW = 0.5
"""Seconds from which Karmada writes a call to its own log (``customized.go``)."""
_SUCCESS = 200
_LONGEST_REASON = 500
# A thread that stops at its deadline returns the slow expression; this is how long the call waits for it.
_LAST_WORDS = 0.2

Awaited: TypeAlias = Callable[[float], Coroutine[Any, Any, bytes]]
"""Answers a request that was read, within some seconds."""


class Calls:
    """Answers calls from the snapshot of the moment, and reviews of Kartas.

    Plain definitions are answered at once: their work is bounded by the object. Scripts, expressions that could run
    without end, large bodies and definitions, and calls like those that took long are for other processes. The event
    loop waits for these, and a thread for expressions. While `interruption` runs, an answer that takes long in this
    process is given up, and a child process gives it.
    """

    # Attributes of the class, so that tests can compare with calls that all take the slow path, and set the clocks.
    _reads_by = FastDecoder
    _clock = staticmethod(time.perf_counter)
    _processor_time = staticmethod(time.thread_time)

    def __init__(self, store: Store, metrics: Metrics, options: Options, load: Load | None = None) -> None:
        self.load = load or Load()
        self.interruption = Interruption()
        self._store = store
        self._metrics = metrics
        self._options = options
        self._isolated = IsolatedCalls()
        self._logs_all = log.isEnabledFor(logging.DEBUG)
        self._decodes_for: Snapshot | None = None
        self._long_calls = LongCalls()
        self._fast_decoder = self._reads_by(lambda _: None)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bounded")
        self._scripts = ScriptCalls()
        self._turns = defaultdict[GVK, asyncio.Semaphore](lambda: asyncio.Semaphore(_THREADS_OF_ONE_KIND))

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
            return await (answer(seconds) if answer else self._in_process(body, seconds))

    def answer_soon(self, body: bytes) -> bytes | Awaited | None:
        """Return what `answer` would, or how to await it; None for a call that this process does not try to answer."""
        question = self._read(body)
        if question is None:
            return None
        if question.waits:
            return partial(self._awaited, question)
        return self._answer(question) or partial(self._in_process, body, question=question)

    async def review(self, body: bytes, seconds: float, taken: Mapping[GVK, str] | None) -> bytes:
        """Return the answer to a review of a Karta, see `IsolatedCalls.review`."""
        with self.load.work():
            return await self._isolated.review(body, seconds, taken)

    def close(self) -> None:
        """Let go of the threads and of the processes that they wait for; calls without an answer are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        close_pools()

    def _read(self, body: bytes) -> Question | None:
        """Read a request; None for one that a child process answers."""
        started, snapshot = (self._clock(), self._processor_time()), self._store.snapshot
        # A decoder remembers definitions, so it ends with its snapshot; a snapshot never changes, so identity will do.
        if snapshot is not self._decodes_for:
            self._decodes_for, self._fast_decoder = snapshot, self._reads_by(snapshot.find)
            self._long_calls = LongCalls()
        decoded = self._fast_decoder.read(body)
        if decoded is not None:
            is_fast = not decoded.by_script
            question = Question(*started, len(body), decoded.request, snapshot, decoded.definition, is_fast)
        # Only now: the fast decoder skips what it does not need, so most large bodies are cheap to it.
        elif is_large(body):
            return None
        else:
            question = Question.of(*started, len(body), decode(body), snapshot)
        return None if self._takes_long(question) else question

    def _takes_long(self, question: Question) -> bool:
        """Return whether the event loop would answer nothing else for long."""
        definition = question.definition
        if definition is None or question.waits:
            return False
        return definition.is_large or self._long_calls.includes(question.key, question.size)

    def _answer(self, question: Question) -> bytes | None:
        """Return the answer; None for one that is interrupted, and that a child process gives."""
        answer = None
        try:
            answer = encode_results(question.request, self._own_results(question))
        except InterruptedWork:
            pass
        except Exception as error:  # noqa: BLE001 - the edge of the process
            answer = self._failure(question, error)
        else:
            self._record(question)
        spent = self._clock() - question.started
        self.load.spend(spent)
        if spent >= LONG:
            self._note_long(question)
        return answer

    def _own_results(self, question: Question) -> Results:
        # Not since the call came: to find out what a new question reads takes as long, once, in any process.
        self.interruption.at = self._processor_time() + LONG
        try:
            definition, call = question.known()
            if question.is_fast:
                return own_answer(definition, call, self._options)
            return interpret(definition, call, self._options, reader=self._store.reader)
        finally:
            self.interruption.at = inf

    def _note_long(self, question: Question) -> None:
        # Processor time: a busy machine makes any call wait.
        seconds = self._processor_time() - question.spent
        if seconds >= LONG and question.definition and self._long_calls.add(question.key, question.size):
            name, operation = question.key
            message = "calls took long: child processes answer those that are half as long or longer"
            log.warning(message, definition=name, operation=operation, bytes=question.size, seconds=round(seconds, 4))

    async def _awaited(self, question: Question, seconds: float) -> bytes:
        try:
            results = await self._results(question, seconds)
            answer = encode_results(question.request, results)
        except Exception as error:  # noqa: BLE001 - the edge of the process
            return self._failure(question, error)
        self._record(question)
        return answer

    async def _in_process(self, body: bytes, seconds: float, question: Question | None = None) -> bytes:
        """Return the answer of a child process; the time of an answer to ``question`` that was interrupted counts."""
        started = question.started if question else self._clock()
        until = time.monotonic() + seconds - (self._clock() - started)

        def prepare(request: Request) -> Prepared:
            nonlocal question
            question = Question.of(started, 0.0, len(body), request, self._store.snapshot)
            definition = question.served()
            known = known_to(self._store.reader, definition.references)
            return Prepared(definition, known, question.too_slow(seconds))

        try:
            answer = await self._isolated.answer(body, until, self._options, prepare)
        except Exception as error:
            # Without a uid there is no answer of Karmada's form: `RequestError` becomes an HTTP error.
            if question is None:
                raise
            return self._failure(question, error)
        if question is not None:
            self._record(question)
        return answer

    async def _results(self, question: Question, seconds: float) -> Results:
        definition, call = question.known()
        until = time.monotonic() + seconds
        try:
            # Work that stops at its deadline returns the slow expression.
            async with asyncio.timeout(until - time.monotonic() + _LAST_WORDS):
                if has_scripts_alone(definition, call.operation):
                    return await self._scripts.answer(definition, call, self._options, until)
                return await self._in_thread(until, definition, call)
        except TimeoutError:
            raise InterpretationError(question.too_slow(seconds), code=504) from None
        except InterpretationError as error:
            # What was stopped at the deadline fails with an error of its own; the client gets the code of a timeout.
            if time.monotonic() < until:
                raise
            raise InterpretationError(f"{question.too_slow(seconds)}: {error}", code=504) from error

    async def _in_thread(self, until: float, definition: Definition, call: Call) -> Results:
        loop, turns = asyncio.get_running_loop(), self._turns[definition.gvk]

        def give_back(_: object) -> None:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(turns.release)

        await turns.acquire()
        try:
            work = self._threads.submit(self._interpret_until, until, definition, call)
        except RuntimeError:  # no thread can be started
            turns.release()
            raise
        # Not when the waiting ends: a client can leave, and the thread goes on until its deadline.
        work.add_done_callback(give_back)
        return await asyncio.wrap_future(work)

    def _interpret_until(self, until: float, definition: Definition, call: Call) -> Results:
        with deadline(max(until - time.monotonic(), 0.0)):
            return interpret(definition, call, self._options, reader=self._store.reader)

    def _failure(self, question: Question, error: Exception) -> bytes:
        request = question.request
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
        self._record(question, code, message)
        return encode_failure(request.uid, code, message)

    def _record(self, question: Question, code: int = _SUCCESS, message: str = "") -> None:
        request, seconds = question.request, self._clock() - question.started
        # Labels of metrics: what a client invents would make a new series each time.
        known = request.gvk if question.definition else None
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
