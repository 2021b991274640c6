"""Asks child processes for answers: the event loop awaits them, and a request that is given up ends its process.

The children run this file, too (`start`). Definitions and objects come from a user, and may be hostile: a process has a
deadline, little memory and no environment.
"""

import asyncio
import gc
import os
from collections.abc import Callable
from itertools import count
from typing import Final, TypeAlias

import orjson

from karta_interpreter.base.errors import InterpretationError, InterpreterError, SandboxError, StopCause
from karta_interpreter.base.findings import PLACES
from karta_interpreter.base.sandbox import Pool, Process, Program, deadline
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.base.sandbox.child import Answer, Channel
from karta_interpreter.web.console.answers import PageQuestion, answer
from karta_interpreter.web.console.texts import EDITORS

# A `PageQuestion` of the page.
_PAGE: Final = b"Q"
FAILURE: Final = b"F"
ANSWER: Final = b"A"

_MEMORY: Final = 2**30
# The parent process has requests to answer, perhaps on the same processor.
_NICENESS: Final = 5
_MOST_REQUESTS: Final = 1000
# One for the newest request while the other one still ends.
_PROCESSES: Final = 2

Find: TypeAlias = Callable[[Channel, bytes, bytes], tuple[bytes, bytes]]
"""Returns letter and payload of the answer to a letter and its payload."""


def processes(program: str, idle_seconds: float) -> Pool:
    """Return a pool of processes of the program in a file."""
    return Pool(lambda: Process(Program(program, _MEMORY, niceness=_NICENESS)), _PROCESSES, idle_seconds=idle_seconds)


def responding(find: Find) -> Answer:
    """Return the function that answers requests, which are a letter and a payload.

    Values are trees without cycles, so garbage is collected between requests only.
    """
    gc.disable()
    numbers = count(1)

    def respond(channel: Channel, letter: bytes, payload: bytes) -> None:
        try:
            with deadline(channel.seconds):
                reply = find(channel, letter, payload)
            channel.send(*reply)
        except InterpretationError as error:
            channel.send(FAILURE, str(error).encode(errors="replace"))
        except (RecursionError, orjson.JSONEncodeError):
            channel.send(FAILURE, b"it is nested too deeply")
        channel.flush()
        gc.collect()
        # Bounds the memory of a process: its caches, and memory that Python does not give back while it runs.
        if next(numbers) == _MOST_REQUESTS:
            os._exit(0)

    return respond


def start() -> Answer:
    """Return the function that answers questions of the page with JSON. Messages name its editors."""
    PLACES.update(EDITORS)

    def find(_channel: Channel, _letter: bytes, asked: bytes) -> tuple[bytes, bytes]:
        return ANSWER, orjson.dumps(answer(PageQuestion.of(orjson.loads(asked))))

    return responding(find)


SECONDS: Final = 3.0
"""The longest that one answer may take. Karmada itself waits three seconds for an operation."""

_IDLE_SECONDS: Final = 120.0
# The longest that a question waits for a process, which may have to start.
_WAIT_SECONDS: Final = 30.0


class QuestionError(InterpreterError):
    """A question that has no answer: it took too much time or memory."""


class Questions:
    """Answers questions in child processes. A newer request may end a process."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self.pool: Final = processes(__file__, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def ask(self, body: bytes) -> bytes:
        """Return the answer to a `PageQuestion` as JSON. Cancelling ends the process that works on it.

        Raises QuestionError with the reason.
        """
        try:
            async with self._awaited.process("console", _WAIT_SECONDS) as (process, _):
                await process.send(_PAGE, body, self._seconds)
                letter, answer = await process.receive()
        except SandboxError as error:
            # A fault of this program is not the user's: it becomes HTTP 500, with a traceback in the log.
            if error.cause is StopCause.DEFECT:
                raise
            raise QuestionError(f"there is no answer: {error}") from error
        if letter == FAILURE:
            raise QuestionError(f"there is no answer: {answer.decode()}")
        return answer

    async def warm_up(self) -> None:
        """Start the processes, so that the first answers do not wait for them."""
        await asyncio.gather(*(self.ask(b"{}") for _ in range(_PROCESSES)), return_exceptions=True)

    async def close(self) -> None:
        """End the processes. No question can be asked afterwards."""
        await self._awaited.close()
