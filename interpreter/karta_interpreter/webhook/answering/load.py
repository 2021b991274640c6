"""The time of the event loop: whether it takes on more work, and the end of work that takes too long."""

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Final

from karta_interpreter.base.errors import RequestError

MOST_IN_WORK: Final = 64
"""More calls than the server can answer within the limit of a call."""

TURN_SECONDS: Final = 0.03
"""How long one turn of the event loop may answer calls. The last of them may take `LONG`."""

_UNNOTICED: Final = TURN_SECONDS / 3


class Load:
    """Counts the calls in work, and the time that the present turn of the event loop has spent on answers.

    After `TURN_SECONDS` of answers in one turn a call waits for another turn, so that new connections and timers get
    their turn. A call is in work while it waits for a turn or for a process. At most ``most`` calls are in work: each
    keeps its body in memory, and a call that waits behind too many others misses its deadline.
    """

    def __init__(self, most: int = MOST_IN_WORK) -> None:
        self._most = most
        self._in_work = 0
        self._spent = 0.0

    @property
    def is_spent(self) -> bool:
        """Return whether the present turn of the event loop has answered calls for long enough."""
        return self._spent > TURN_SECONDS

    @property
    def is_full(self) -> bool:
        """Return whether the number of calls in work has reached its limit."""
        return self._in_work >= self._most

    async def turn(self, seconds: float) -> float:
        """Wait for a turn of the event loop that is not spent. Return the seconds left of ``seconds`` then.

        Raises RequestError when nothing is left.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        # Each turn answers some of the waiting calls, until it is spent.
        while self.is_spent:
            if clock() >= until:
                raise _overloaded()
            await asyncio.sleep(0)
        return until - clock()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Count a call as being in work until the end of the block. Raises RequestError if there are too many."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Count a call as being in work. Raises RequestError if there are too many."""
        if self.is_full:
            raise _overloaded()
        self._in_work += 1

    def end(self) -> None:
        """Count a call as answered, or as given up."""
        self._in_work -= 1

    def spend(self, seconds: float) -> None:
        """Add the time of an answer to the present turn of the event loop.

        Answers of several turns count as one as long as they take less than `_UNNOTICED` together.
        """
        before, self._spent = self._spent, self._spent + seconds
        if before <= _UNNOTICED < self._spent:
            # Tasks scheduled now run in the next turn.
            asyncio.get_running_loop().call_soon(setattr, self, "_spent", 0.0)


def _overloaded() -> RequestError:
    return RequestError("too many calls at once; try again in a second", status=503)


_TICK: Final = 0.01
"""Seconds of the process' processor time between two looks. An idle process uses none."""

LONG: Final = 0.05
"""Seconds of processor time in which the event loop answers no other call. Longer work is interrupted."""


class InterruptedWork(BaseException):
    """Raised anywhere in work that exceeds its time. It is a BaseException, so no ``except Exception`` swallows it."""


BEGUN: Final = -inf
"""The time of an `Interruption` at the begin of work."""


class Interruption:
    """Interrupts work of the main thread that takes `LONG`, or reaches a time that it sets beforehand.

    A timer looks at that time, so the work itself pays for one assignment and reads no clock: `LONG` counts from the
    first look. Work that is interrupted must leave nothing behind that is half done. Whoever catches the error sets the
    time to infinity, as at the end of the work.

    >>> interruption = Interruption()
    >>> with interruption.running():
    ...     interruption.at = BEGUN
    ...     try:
    ...         while True:
    ...             pass
    ...     except InterruptedWork:
    ...         interruption.at = inf
    ...         print("interrupted")
    interrupted
    """

    def __init__(self) -> None:
        self.at = inf
        """The processor time of the thread at which work is interrupted.

        It is infinite if there is no work, and `BEGUN` before the first look at work.
        """

    @contextmanager
    def running(self) -> Iterator[None]:
        """Interrupt work in the block that takes too long. Only the main thread gets signals: others go on."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGVTALRM, self._interrupt_if_due)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Interrupt a block that takes `LONG`."""
        self.at = BEGUN
        try:
            yield
        finally:
            self.at = inf

    def _interrupt_if_due(self, *_: object) -> None:
        now = time.thread_time()
        if self.at == BEGUN:
            self.at = now + LONG
        elif now >= self.at:
            # Python swallows an error in the callback of a weak reference: the work goes on, and is interrupted again.
            self.at += LONG
            raise InterruptedWork
