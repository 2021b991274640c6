"""How tests wait: for an event, never for a time in which it should have happened."""

import asyncio
from collections.abc import Callable

HANG = 120.0
"""Seconds after which a test hangs. No test passes or fails by anything shorter."""

_STEP = 0.05
_PAUSE = 0.002
_LONGEST = 2.0


async def until(holds: Callable[[], object]) -> None:
    """Return when something holds that happens elsewhere: in another task, behind a connection, in a process."""
    async with asyncio.timeout(HANG):
        while not holds():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.005)


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
        self._time = self._loop.time
        self._ahead = 0.0
        self._loop.time = self.time  # type: ignore[method-assign]

    def time(self) -> float:
        return self._time() + self._ahead

    async def advance(self, seconds: float) -> None:
        """Set the clock forward once all that is sent has arrived; return when what has become due has run."""
        await turns()
        self._ahead += seconds
        await turns()

    async def passes(self, seconds: float) -> None:
        """Let a time pass in small steps, as it does: for what must not happen in it."""
        for _ in range(round(seconds / _STEP)):
            await asyncio.sleep(_PAUSE)
            await self.advance(_STEP)

    async def within(self, seconds: float, holds: Callable[[], object]) -> bool:
        """Let a time pass until something holds; return whether it does.

        What is sent may take a while to arrive on a busy machine, and no timer counts that. So each step waits a
        little longer than the one before: what needs few steps is quick, and what needs most of them has many seconds.
        """
        pause = _PAUSE
        for _ in range(round(seconds / _STEP)):
            if holds():
                break
            await asyncio.sleep(pause)
            await self.advance(_STEP)
            pause = min(pause * 1.2, _LONGEST)
        return bool(holds())
