"""The program of a child process that computes the answers on the page (`karta_interpreter.console.answering`)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import orjson

from karta_interpreter.console.answering import answering
from karta_interpreter.console.answers import Question, answer
from karta_interpreter.k8s.values import JSON

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

ASK: Final = b"Q"


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers a `Question` as JSON with the document of `answer`."""
    return answering(_find)


def _find(letter: bytes, payload: bytes) -> JSON:
    del letter  # there is one
    return answer(Question.of(orjson.loads(payload)))
