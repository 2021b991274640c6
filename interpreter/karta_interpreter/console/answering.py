"""What the child processes of this room have in common (`karta_interpreter.sandbox.child`).

Definitions and objects come from a user, and may be hostile: a process has a deadline, little memory and no
environment.
"""

import gc
import os
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Final

import orjson

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.sandbox.deadline import deadline

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

ANSWER: Final = b"A"
FAILURE: Final = b"F"

MEMORY: Final = 2**30
NICENESS: Final = 5
"""A server in the parent process has calls to answer, perhaps on the same processor."""
_MOST_REQUESTS: Final = 1000
_TOO_DEEP: Final = b"it is nested too deeply"


def answering(find: Callable[[bytes, bytes], JSON]) -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers requests with what ``find`` returns for the letter and the payload of each.

    Values are trees without cycles, so garbage is collected between requests only.
    """
    gc.disable()
    numbers = count(1)

    def respond(channel: "Channel", letter: bytes, payload: bytes) -> None:
        try:
            with deadline(channel.seconds):
                found = find(letter, payload)
            channel.send(ANSWER, orjson.dumps(found, option=orjson.OPT_NON_STR_KEYS))
        except InterpretationError as error:
            channel.send(FAILURE, str(error).encode(errors="replace"))
        except (RecursionError, orjson.JSONEncodeError):
            channel.send(FAILURE, _TOO_DEEP)
        channel.flush()
        gc.collect()
        if next(numbers) == _MOST_REQUESTS:
            os._exit(0)

    return respond
