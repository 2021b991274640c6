"""How long the evaluation of expressions may still take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from interpreter.errors import QueryLimitError

EXPRESSION_SECONDS: Final = 0.5
"""The longest that one expression may take, even where the deadline is later."""

_end: Final[ContextVar[float | None]] = ContextVar("end", default=None)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Let everything that is evaluated inside of the block take ``seconds`` together.

    A deadline inside of another one can only be earlier.

    >>> with deadline(0.1), deadline(9):
    ...     remaining() <= 0.1
    True
    """
    outer = _end.get()
    end = time.monotonic() + seconds
    token = _end.set(end if outer is None else min(end, outer))
    try:
        yield
    finally:
        _end.reset(token)


def remaining() -> float:
    """The seconds that the next expression may take; QueryLimitError when there are none."""
    end = _end.get()
    if end is None:
        return EXPRESSION_SECONDS
    left = end - time.monotonic()
    if left <= 0:
        raise QueryLimitError("there is no time left")
    return min(left, EXPRESSION_SECONDS)
