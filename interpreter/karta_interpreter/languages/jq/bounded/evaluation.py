"""Asks a child process for the outputs of an expression, and words its errors.

libjq cannot be interrupted and ends its whole process when memory runs out. Only `libjq` loads it, and only such a
process runs `libjq`. The data in its error messages is removed.
"""

import re
from collections.abc import Container
from importlib.util import find_spec
from typing import Final

import orjson

from karta_interpreter.base.errors import (
    QueryEvaluationError,
    QueryRaisedError,
    QueryResultsError,
    QueryStoppedError,
    SandboxError,
)
from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.sandbox import Pool, Process, Program, remaining
from karta_interpreter.languages.jq.bounded import libjq

EXPRESSION_SECONDS: Final = 0.5
"""The longest that one expression may take, even if the deadline is later."""

PROCESSES: Final = 3

_TYPE: Final = "(null|boolean|number|string|array|object)"
_QUOTED: Final = r" \(.*\)"
# The forms of libjq 1.8, longer ones first. A message in any other form is not shown at all.
_FORMS: Final = [
    (re.compile(rf"Cannot iterate over {_TYPE}.*", re.DOTALL), r"cannot iterate over \1"),
    (re.compile(rf"Cannot index {_TYPE} with {_TYPE}.*", re.DOTALL), r"cannot index \1 with \2"),
    (re.compile(rf"Cannot index {_TYPE} .*", re.DOTALL), r"cannot index \1"),
    (re.compile(rf"Cannot use {_TYPE}{_QUOTED} as object key", re.DOTALL), r"cannot use \1 as object key"),
    (re.compile(rf"{_TYPE}{_QUOTED} and {_TYPE}{_QUOTED} ([a-z ,()]+)", re.DOTALL), r"\1 and \2 \3"),
    (re.compile(rf"{_TYPE}{_QUOTED} ([a-z ,-]+)", re.DOTALL), r"\1 \2"),
]


def seconds_left() -> float:
    """Return the seconds that the next expression may take. Raise QueryStoppedError if there are none."""
    remaining_seconds = remaining(EXPRESSION_SECONDS)
    if not remaining_seconds:
        raise QueryStoppedError("there is no time left")
    return remaining_seconds


def evaluate(
    program: str,
    value: str,
    seconds: float,
    owner: str = "",
    pool: Pool | None = None,
    *,
    most: int = libjq.MOST_RESULTS,
    texts: Container[object] = (),
) -> list[JSON]:
    """Return the outputs of a program, at most this many, for an input that is JSON text.

    Waiting for a process is part of the time, starting one is not. Raises QueryRaisedError for an error with one of
    these ``texts``, which are words of the program and no data, QueryEvaluationError for another error of the program,
    and QueryStoppedError when it was stopped.
    """
    # Before a process is taken: text that is not Unicode is an error of the caller, which `Query` words.
    code, text = program.encode(), value.encode()
    try:
        with (pool or POOL).process(owner, seconds) as (process, time_left):
            process.send(b"Q", libjq.HEAD.pack(len(code), most) + code + text, time_left)
            letter, payload = process.receive()
    except SandboxError as error:
        raise QueryStoppedError(error.after(seconds)) from error
    if letter == libjq.FAILED:
        message = payload.decode(errors="replace")
        raise QueryRaisedError(message) if message in texts else QueryEvaluationError(redacted(message))
    if letter != libjq.RESULTS:
        too_many = f"it gives more than {most} results"
        raise QueryResultsError(too_many if letter == libjq.TOO_MANY else "its results are too large")
    results: list[JSON] = orjson.loads(payload)
    return results


def start() -> Process:
    """Start a process that runs libjq from the file of the ``jq`` extension, which this process does not load."""
    spec = find_spec("jq")
    if spec is None or spec.origin is None:
        raise QueryEvaluationError("the package jq is not installed")
    return Process(Program(libjq.__file__, libjq.MEMORY, (spec.origin,), packages=False, grace=0.0))


POOL: Final = Pool(start, PROCESSES)


def redacted(message: str) -> str:
    """Return a message of libjq without the values that it quotes: readers of logs may have no access to the object.

    >>> redacted('string ("token") and number (1) cannot be added')
    'string and number cannot be added'
    >>> redacted("the text that the expression gave to error")
    'it ended in an error'
    """
    for form, words in _FORMS:
        if match := form.fullmatch(message):
            return match.expand(words)
    return "it ended in an error"
