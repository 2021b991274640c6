"""Feeds what others can make grow ten times its bound, and measures what it holds, its memory and its work."""

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from math import inf
from types import FrameType
from typing import Any, Final

TEXT: Final = 10_000
"""Characters of each text that is fed: what is kept of it shows in the memory."""
TIMES: Final = 10
_SLACK: Final = 2 * TEXT
_LINES: Final = 10


@dataclass(frozen=True, slots=True)
class Fed:
    """Something that others make grow."""

    push: Callable[[str], object]
    """Feeds one text, which differs from all others."""
    held: Callable[[], int]
    """Returns what is held, in the unit of the bound."""
    lost: Callable[[], object] | None = None
    """Returns what shows that something went beyond the bound; None for what nobody misses."""


@dataclass(frozen=True, slots=True)
class Feeder:
    """How a row of the table is tried."""

    constant: str
    """The documented bound, as ``module:NAME``; a NAME may have dots."""
    start: Callable[[int], AbstractContextManager[Fed]]
    small: int
    """The bound in the test; the documented one where nothing can set another."""
    unit: int
    """How much of the bound one text takes."""

    @property
    def bound(self) -> int:
        """The bound in the code."""
        module, _, names = self.constant.partition(":")
        value: object = import_module(f"karta_interpreter.{module}")
        for name in names.split("."):
            value = getattr(value, name)
        assert isinstance(value, int)
        return value


FEEDERS: Final[dict[str, Feeder]] = {}


def feeder(
    what: str, constant: str, *, small: int, unit: int = 1
) -> Callable[[Callable[[int], Iterator[Fed]]], Callable[[int], Iterator[Fed]]]:
    """Add a feeder for the row about ``what``; the function gets the bound of the test."""

    def add(start: Callable[[int], Iterator[Fed]]) -> Callable[[int], Iterator[Fed]]:
        FEEDERS[what] = Feeder(constant, contextmanager(start), small, unit)
        return start

    return add


@dataclass(frozen=True, slots=True)
class Growth:
    """What something full was, and what it is after ten times as much."""

    full: int
    held: int
    lost_before: object
    lost: object
    memory: int
    """Bytes in addition to the most that it took in the first fifth."""
    work: float
    """Calls of functions for one text, as a ratio to those while it became full."""
    where: str
    """The lines of code that hold most of the memory when it first is more than in the first fifth, or ""."""


def growth(fed: Fed, count: int) -> Growth:
    """Feed ten times ``count`` texts, of which so many fill something.

    What forgets all at once is full twice in the first fifth, and its memory has been at its peak by then.
    """
    texts = (f"{number:012}".ljust(TEXT, "x") for number in range(TIMES * count))

    where = ""

    def feed(most: int | None, enough: float = inf) -> tuple[int, int]:
        """Return the calls for so many texts, and the most memory that is held between two of them."""
        nonlocal where
        calls, held = 0, 0
        for text in islice(texts, most):
            calls += _calls(partial(fed.push, text))
            gc.collect()  # also empties the interpreter's lists of tuples that it keeps for later
            held = max(held, tracemalloc.get_traced_memory()[0])
            if held > enough and not where:
                lines = tracemalloc.take_snapshot().statistics("lineno")
                where = "\n".join(map(str, lines[:_LINES]))
        return calls, held

    with _traced():
        first, filled = feed(count)
        full, lost_before = fed.held(), fed.lost and fed.lost()
        memory = max(filled, feed(count)[1])
        later, most = feed(None, memory + _SLACK + TEXT)
    held = fed.held()
    work = later / (TIMES - 2) / max(first, 1)
    return Growth(full, held, lost_before, fed.lost and fed.lost(), most - memory - _SLACK, work, where)


@contextmanager
def _traced() -> Iterator[None]:
    gc.freeze()  # so that collections only look at new objects
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.unfreeze()


def _calls(work: Callable[[], object]) -> int:
    """Return how many functions are called; the time would depend on the machine."""
    count = 0

    def see(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
