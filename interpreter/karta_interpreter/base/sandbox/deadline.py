"""How long the work of this context may still take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# A context variable: calls that run at once, in tasks or in threads, have a deadline each.
_end: Final[ContextVar[float | None]] = ContextVar("end", default=None)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Let everything that is evaluated inside of the block take ``seconds`` together.

    An inner deadline can only be earlier than the outer one.

    >>> with deadline(0.1), deadline(9):
    ...     remaining(1) <= 0.1
    True
    """
    outer = _end.get()
    end = time.monotonic() + seconds
    token = _end.set(end if outer is None else min(end, outer))
    try:
        yield
    finally:
        _end.reset(token)


def remaining(most: float) -> float:
    """Return the seconds that the next piece of work may take: ``most``, fewer before a deadline, 0 after it.

    >>> remaining(0.5)
    0.5
    """
    end = _end.get()
    return most if end is None else max(min(end - time.monotonic(), most), 0.0)
