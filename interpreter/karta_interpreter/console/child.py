"""The program of a child process that computes answers (`karta_interpreter.sandbox.child`).

A request is a `Question` as JSON, the answer the document of `answers.answer`. Definitions and objects come from a
user, and may be hostile: the process has a deadline, little memory and no environment.
"""

import gc
import os
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Final

import orjson

from karta_interpreter.console.answers import Question, answer
from karta_interpreter.sandbox.deadline import deadline

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

ASK: Final = b"Q"
ANSWER: Final = b"A"
TOO_DEEP: Final = b"D"

MEMORY: Final = 2**30
NICENESS: Final = 5
"""A server beside the console has calls to answer, perhaps on the same processor."""
_MOST_REQUESTS: Final = 1000


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers a request; values are trees without cycles, so garbage is collected between."""
    gc.disable()
    numbers = count(1)

    def respond(channel: "Channel", letter: bytes, payload: bytes) -> None:  # noqa: ARG001 - there is one letter
        question = Question.of(orjson.loads(payload))
        try:
            with deadline(channel.seconds):
                document = answer(question)
            channel.send(ANSWER, orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS))
        except (RecursionError, orjson.JSONEncodeError):
            channel.send(TOO_DEEP, b"")
        channel.flush()
        gc.collect()
        if next(numbers) == _MOST_REQUESTS:
            os._exit(0)

    return respond
