"""A place for a worker."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from karta_interpreter.errors import ServeError
from karta_interpreter.server.log import log
from karta_interpreter.server.workers import totals
from karta_interpreter.server.workers.messages import Family
from karta_interpreter.server.workers.worker import Worker, cause

_START_SECONDS: Final = 60.0
_STABLE_SECONDS: Final = 60.0
_LONGEST_PAUSE: Final = 30.0


class Place:
    """Has a worker, and another one when that dies: at once, or after a pause when it had lived less than a minute.

    ``brief`` tells a new worker all that the others know.
    """

    def __init__(self, number: int, brief: Callable[[Worker], None], died: Callable[[], None]) -> None:
        self.number = number
        self.worker: Worker | None = None
        self._brief = brief
        self._died = died
        self._departed: list[Family] = []

    @property
    def counted(self) -> list[Family]:
        """What all workers have counted that were here, as far as they said so."""
        return totals.summed([self._departed, self.worker.counted if self.worker else []])

    async def fill(self) -> None:
        """Put a worker here; raises ServeError when it does not come to answer."""
        worker = self.worker = await Worker.start(self.number)
        self._brief(worker)
        try:
            await worker.ready(_START_SECONDS)
        except ServeError:
            worker.leave()
            raise
        log.info("worker started", worker=self.number, pid=worker.pid)

    async def keep(self) -> None:
        """See to it that there is a worker, until cancelled."""
        pause = 0.0
        while worker := self.worker:
            status = await worker.ended()
            pause = 0.0 if time.monotonic() - worker.began > _STABLE_SECONDS else min(2 * pause + 0.1, _LONGEST_PAUSE)
            self._part_with(worker, status, pause)
            await asyncio.sleep(pause)
            while not await self._is_filled():
                pause = min(2 * pause + 1, _LONGEST_PAUSE)
                await asyncio.sleep(pause)

    async def _is_filled(self) -> bool:
        try:
            await self.fill()
        except ServeError as error:
            log.error("worker not replaced", reason=str(error))
            return False
        return True

    def _part_with(self, worker: Worker, status: int, pause: float) -> None:
        log.error(
            "worker died and is replaced",
            worker=worker.number,
            pid=worker.pid,
            cause=cause(status),
            connections_lost=worker.connections,
            pause=pause,
        )
        self._departed = totals.summed([self._departed, totals.lasting(worker.counted)])
        worker.counted = []
        worker.leave()
        self._died()
