"""How a call is answered: one decision, made before any work on the answer, and the lanes without a child process."""

import asyncio
import time
from math import inf
from typing import Final, NamedTuple, Protocol

from karta_interpreter.base.k8s import JSON, MOST_VALUES, count_values
from karta_interpreter.base.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.definitions.karta import resolved
from karta_interpreter.engine.operations import (
    DEFAULT_OPTIONS,
    Options,
    as_served,
    interpret,
    own_answer,
    script_errors,
    script_jobs,
    script_results,
)
from karta_interpreter.languages.lua.machine.worker import (
    QUESTIONS,
    SECONDS,
    WORKERS,
    Job,
    script_limits,
)
from karta_interpreter.webhook.answering.load import BEGUN, Interruption
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import encode_results

# A call costs up to 2.5 µs for each key and value in its body (InterpretReplica of many different resources), and a few
# nanoseconds for each byte: 30 ms. An ordinary object of 100 KB takes 1 to 2 ms. No cheap test separates it from an
# object that takes ten times that, and a kept process adds 5 ms. Retain reads much of two objects, but little of it is
# expensive.
_MOST_BYTES: Final = 2 * 2**20
OBSERVED_KEY: Final = b'"observedObject":'


_MOST_STEPS: Final = 100_000
"""Steps of plain expressions on the event loop: the slowest ones take 20 to 450 ns each, together 45 ms at most."""


class Lane(Protocol):
    """Gives an answer outside the event loop, which answers other calls meanwhile."""

    async def answer(self, call: PendingCall, seconds: float) -> bytes:
        """Return the answer to a call. Raises InterpretationError, and TimeoutError after so many seconds."""


class Lanes(NamedTuple):
    """The lanes outside the event loop."""

    child: Lane
    """A child process, which gets the bytes of the request and returns the bytes of the answer."""
    script: Lane
    """A process that runs scripts. The event loop encodes the result of the script."""

    def choose(self, call: PendingCall, text: bytes, *, is_slow: bool) -> Lane | None:
        """Return the lane of a call, None if the event loop answers it immediately. ``text`` is what was decoded of it.

        ``is_slow``: calls like it have taken long in this process (`SlowCalls`).
        """
        definition = call.definition
        if definition is None or call.request.problem is not None:
            # The answer is an error, and there is nothing to compute.
            return None
        if definition.needs_child or is_slow:
            # An expression could run without end, or there are so many that compiling them takes long.
            return self.child
        if call.request.operation_name in definition.scripts.operations:
            # A script could run without end, but its process can be stopped. Its questions to the Karta are plain. If
            # the answers read references, the references have to be looked up first.
            return self.child if definition.references else self.script
        # The decoded data bounds the work of plain expressions. Mostly the first comparison is enough: an element takes
        # at least two bytes.
        is_dear = definition.steps * len(text) // 2 > _MOST_STEPS and definition.most_steps(text) > _MOST_STEPS
        return self.child if is_dear else None


def is_large_body(body: bytes) -> bool:
    """Return whether decoding and answering JSON in this process could delay other calls. Never takes long itself.

    >>> is_large_body(b'{"request": {}}'), is_large_body(b"[" + b"1," * 12_000 + b"1]")
    (False, True)
    """
    # A value takes at least a byte.
    if len(body) <= MOST_VALUES:
        return False
    most = MOST_VALUES * (2 if OBSERVED_KEY in body else 1)
    return len(body) > most and (len(body) > _MOST_BYTES or count_values(body) > most)


def inline_answer(call: PendingCall, options: Options, interruption: Interruption) -> bytes:
    """Return the answer to a call immediately.

    Raises InterpretationError, and InterruptedWork if it takes too long while ``interruption`` runs.
    """
    try:
        # Not from the time of the call: finding out which fields a new question reads takes as long, once, in any
        # process.
        interruption.at = BEGUN
        if call.is_projected and call.definition and call.request.call:
            definition = resolved(call.definition, call.request.call.object, call.reader, options.devices)
            results = as_served(definition, own_answer(definition, call.request.call, options), call.reader)
        else:
            results = interpret(*call.definition_and_call(), options, reader=call.reader)
        return encode_results(call.request, results, options)
    finally:
        interruption.at = inf


_LAST_WORDS: Final = 0.2
"""A process that stops at its deadline names the slow line. The call waits for the name for this many seconds."""


class LargeResultError(Exception):
    """A script sends so much that the event loop would decode and encode nothing else for long."""


class ScriptLane:
    """Runs the scripts of definitions in the processes that all scripts of this process share."""

    def __init__(self, options: Options = DEFAULT_OPTIONS) -> None:
        self._options = options
        self._pool = AsyncPool(WORKERS)

    async def answer(self, call: PendingCall, seconds: float) -> bytes:
        """Return the answer to a call. Raises InterpretationError, TimeoutError and LargeResultError."""
        definition, script_call = call.definition_and_call()
        until, answers = time.monotonic() + seconds, []
        async with asyncio.timeout(seconds + _LAST_WORDS):
            for script, job in script_jobs(definition, script_call, self._options):
                with script_errors(definition, script):
                    answers.append(await self._run(job, until - time.monotonic()))
        return encode_results(call.request, script_results(script_call, answers), self._options)

    async def _run(self, job: Job, seconds: float) -> JSON:
        """Run a job as `run_in` does, without a thread that waits for the script.

        It may wait for a process as long as its call: others may wait for theirs to start.
        """
        request = job.encoded()
        with script_limits(min(SECONDS, seconds)):
            async with self._pool.process(job.owner, seconds) as (process, seconds_left):
                await process.send(b"Q", request, min(SECONDS, seconds_left))
                while (message := await _receive_small(process))[0] in QUESTIONS:
                    # In a thread: the Karta's own answer may take as long as any.
                    if reply := await asyncio.to_thread(job.reply, *message):
                        await process.send(b"A", reply)
        return job.result(*message)


async def _receive_small(process: Exchange) -> tuple[bytes, bytes]:
    message = await process.receive()
    if is_large_body(message[1]):
        raise LargeResultError
    return message
