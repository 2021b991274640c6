"""The lane of scripts: calls that the scripts of a definition answer, in processes for scripts."""

import asyncio
import time
from typing import Final

from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Options, script_errors, script_jobs, script_results
from karta_interpreter.languages.lua.machine.worker import (
    GRACE_SECONDS,
    QUESTIONS,
    SECONDS,
    WORKERS,
    Job,
    script_limits,
)
from karta_interpreter.webhook.answering.lanes import is_large_body
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import encode_results

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
        return encode_results(call.request, script_results(script_call, answers))

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


async def _receive_small(process: Exchange) -> tuple[bytes, bytes]:
    message = await process.receive()
    if is_large_body(message[1]):
        raise LargeResultError
    return message
