"""Ends work of the event loop's thread that takes so long that other calls would notice."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Final

_TICK: Final = 0.02
"""Seconds of the process' processor time between two looks; an idle process has none."""


class InterruptedWork(BaseException):
    """Raised anywhere in work that has not ended in its time; no ``except Exception`` swallows a BaseException."""


class Interruption:
    """Interrupts work of the main thread at a time that the work sets beforehand.

    A timer looks at that time, so the work itself pays for one assignment. Work that is interrupted must leave nothing
    behind that is half done.

    >>> interruption = Interruption()
    >>> with interruption.running():
    ...     interruption.at = time.thread_time() + 0.05
    ...     try:
    ...         while True:
    ...             pass
    ...     except InterruptedWork:
    ...         print("interrupted")
    interrupted
    """

    def __init__(self) -> None:
        self.at = inf
        """The processor time of the thread at which work is interrupted; infinite where none is under way."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look at the time in a block; in another thread than the main one, which gets no signals, never interrupt."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGVTALRM, self._look)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    def _look(self, *_: object) -> None:
        if time.thread_time() >= self.at:
            # Once only: the error may come while the work ends, and must not come again after it.
            self.at = inf
            raise InterruptedWork
