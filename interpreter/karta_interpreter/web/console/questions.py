"""Asks child processes for answers: the event loop awaits them, and a request that is given up ends its process."""

import asyncio
from typing import Final

from karta_interpreter.base.errors import InterpreterError, SandboxError, StopCause
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.web.console import child

SECONDS: Final = 3.0
"""The longest that one answer may take; Karmada itself waits three seconds for an operation."""

_PROCESSES: Final = 2
"""One for the newest request while the other one still ends."""
_IDLE_SECONDS: Final = 120.0
_WAIT_SECONDS: Final = 30.0
"""The longest that a question waits for a process, which may have to start."""
_GRACE_SECONDS: Final = 0.2
"""After its deadline, in which a process can still answer with an error of its own; then it is ended."""
_EMPTY: Final = b"{}"


class QuestionError(InterpreterError):
    """A question that has no answer: it took too much time or memory."""


class Questions:
    """Answers questions in child processes, each of which a newer request may end."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self.pool: Final = child.processes(child.__file__, _PROCESSES, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def ask(self, body: bytes) -> bytes:
        """The answer to a `Question` as JSON; cancelling ends the process that works on it.

        Raises QuestionError with the reason.
        """
        try:
            async with self._awaited.process("console", _WAIT_SECONDS) as (process, _):
                await process.send(child.PAGE, body, self._seconds, grace=_GRACE_SECONDS)
                letter, answer = await process.receive()
        except SandboxError as error:
            # A fault of this program is not the user's: it becomes HTTP 500, with a traceback in the log.
            if error.cause is StopCause.DEFECT:
                raise
            raise QuestionError(f"there is no answer: {error}") from error
        if letter == child.FAILURE:
            raise QuestionError(f"there is no answer: {answer.decode()}")
        return answer

    async def warm_up(self) -> None:
        """Start the processes, so that the first answers do not wait for them."""
        await asyncio.gather(*(self.ask(_EMPTY) for _ in range(_PROCESSES)), return_exceptions=True)

    async def close(self) -> None:
        """End the processes; there can be no question after it."""
        await self._awaited.close()
