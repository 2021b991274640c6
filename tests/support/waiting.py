"""How tests wait: for an event, never for a time in which it should have happened."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HANG = 120.0
"""Seconds after which a test hangs. No test passes or fails by anything shorter."""

PAUSE = 0.005
"""Seconds between two looks at what has no event to wait for."""

_STEP = 0.05
_PAUSE = 0.002
_LONGEST = 2.0


async def until(holds: Callable[[], object]) -> None:
    """Return when something holds that happens elsewhere: in another task, behind a connection, in a process."""
    async with asyncio.timeout(HANG):
        while not holds():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(PAUSE)


async def turns(count: int = 50) -> None:
    """Let all other tasks of the event loop go on for so many turns: for what must not happen in them."""
    for _ in range(count):
        await asyncio.sleep(0)


class Clock:
    """The clock of the running event loop, which a test sets forward.

    Timers, timeouts and sleeps of the loop become due by it, so that a test of a deadline of ten seconds neither
    waits for it nor misses it on a slow machine.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._real = self._loop.time
        self._ahead = 0.0
        self._stopped: float | None = None
        self._loop.time = self.time  # type: ignore[method-assign]

    def time(self) -> float:
        return (self._real() if self._stopped is None else self._stopped) + self._ahead

    async def advance(self, seconds: float) -> None:
        """Let all other tasks go on, set the clock forward, and return when what has become due has run.

        What is sent may arrive later than that on a busy machine.
        """
        await turns()
        self._ahead += seconds
        await turns()

    async def passes(self, seconds: float) -> None:
        """Let a time pass in small steps, as it does: for what must not happen in it."""
        for _ in range(round(seconds / _STEP)):
            await asyncio.sleep(_PAUSE)
            await self.advance(_STEP)

    async def within(self, seconds: float, holds: Callable[[], object]) -> bool:
        """Let a time pass, and no more, until something holds; return whether it does.

        The clock stands while the test waits for what is sent, which takes long on a busy machine. Each wait is a
        little longer than the one before: what needs few steps is quick, and what needs most of them has many seconds.
        """
        pause = _PAUSE
        with self._stands():
            for _ in range(round(seconds / _STEP)):
                if holds():
                    break
                await asyncio.to_thread(time.sleep, pause)  # a sleep of the loop would not end
                await self.advance(_STEP)
                pause = min(pause * 1.2, _LONGEST)
            return bool(holds())

    @contextmanager
    def _stands(self) -> Iterator[None]:
        self._stopped = self._real()
        try:
            yield
        finally:
            self._ahead -= self._real() - self._stopped
            self._stopped = None
