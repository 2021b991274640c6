"""Calls that scripts answer, awaited by the event loop: a script runs in a process, and no thread waits for it."""

import asyncio
import time

from karta_interpreter.errors import LuaLimitError, SandboxError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.machine.worker import CALL, GRACE_SECONDS, SECONDS, WORKERS, Job
from karta_interpreter.operations import Call, Options, Results
from karta_interpreter.operations.interpretation import script_errors, script_jobs, script_results
from karta_interpreter.sandbox.awaiting import AsyncPool


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
        if seconds <= 0:
            raise LuaLimitError("there is no time left")
        request = job.encoded()
        try:
            async with self._pool.process(job.owner, seconds) as (process, left):
                await process.send(b"Q", request, left, grace=GRACE_SECONDS)
                letter, payload = await process.receive()
                while letter == CALL:
                    # In a thread: the script decides how much there is to read.
                    await process.send(b"A", await asyncio.to_thread(job.reply, payload))
                    letter, payload = await process.receive()
        except SandboxError as err:
            raise LuaLimitError(str(err)) from err
        return job.result(letter, payload)
