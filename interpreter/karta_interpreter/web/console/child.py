"""The program of the child processes that compute the answers on the page, and what it shares with that of types.

Definitions and objects come from a user, and may be hostile: a process has a deadline, little memory and no
environment.
"""

import gc
import os
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.sandbox import Pool, Process, Program
from karta_interpreter.base.sandbox.deadline import deadline
from karta_interpreter.web.console.answers import Question, answer
from karta_interpreter.web.console.differences import differences

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Channel

PAGE: Final = b"Q"
"""A `Question` of the page."""
FAILURE: Final = b"F"
ANSWER: Final = b"A"

_MEMORY: Final = 2**30
_NICENESS: Final = 5
"""A server in the parent process has calls to answer, perhaps on the same processor."""
_MOST_REQUESTS: Final = 1000
_TOO_DEEP: Final = b"it is nested too deeply"

Find: TypeAlias = "Callable[[Channel, bytes, bytes], tuple[bytes, bytes]]"
"""Returns letter and payload of the answer to a letter and its payload."""


def processes(program: str, size: int, idle_seconds: float) -> Pool:
    """A pool of processes of the program in a file."""
    limited = Program(program, _MEMORY, niceness=_NICENESS)
    return Pool(lambda: Process(limited), size, idle_seconds=idle_seconds)


def responding(find: Find) -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests, which are a letter and a payload.

    Values are trees without cycles, so garbage is collected between requests only.
    """
    gc.disable()
    numbers = count(1)

    def respond(channel: "Channel", letter: bytes, payload: bytes) -> None:
        try:
            with deadline(channel.seconds):
                found = find(channel, letter, payload)
            channel.send(*found)
        except InterpretationError as error:
            channel.send(FAILURE, str(error).encode(errors="replace"))
        except (RecursionError, orjson.JSONEncodeError):
            channel.send(FAILURE, _TOO_DEEP)
        channel.flush()
        gc.collect()
        # Bounds what a process keeps: its caches, and memory that Python does not give back while it runs.
        if next(numbers) == _MOST_REQUESTS:
            os._exit(0)

    return respond


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers questions of the page with JSON."""

    def find(_channel: "Channel", _letter: bytes, asked: bytes) -> tuple[bytes, bytes]:
        question = Question.of(orjson.loads(asked))
        return ANSWER, orjson.dumps(differences(question) if question.before else answer(question))

    return responding(find)
