"""The workers of a server: all of them there, in step, and speaking with one voice."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Final

from karta_interpreter.server.listening import bind
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.readiness import Readiness
from karta_interpreter.server.reception import FAREWELL_SECONDS
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.workers import totals
from karta_interpreter.server.workers.acceptance import Acceptance
from karta_interpreter.server.workers.changes import State, difference
from karta_interpreter.server.workers.messages import Ask, Begin, Finish, Told, ToWorker
from karta_interpreter.server.workers.place import Place
from karta_interpreter.server.workers.worker import Worker

_END_SECONDS: Final = FAREWELL_SECONDS + 1.0
"""How long a worker may take to end when it has no more to do."""
_REPORT_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 10.0
_HUNG_SECONDS: Final = 30.0


class Workers:
    """The front of a server that has workers (`karta_interpreter.server.front.Front`).

    ``state`` tells what they have to know at the moment.
    """

    def __init__(self, settings: Settings, state: Callable[[], State], metrics: Metrics, readiness: Readiness) -> None:
        self._settings = settings
        self._state = state
        self._metrics = metrics
        self._readiness = readiness
        self._known = State()
        died = metrics.show_worker_deaths()
        self._places = [Place(number, self._brief, died) for number in range(1, settings.workers + 1)]
        self._keeping: list[asyncio.Task[None]] = []
        self._talking: set[asyncio.Task[None]] = set()
        self._acceptance: Acceptance | None = None

    @property
    def port(self) -> int:
        """The port that all connections come to."""
        return self._acceptance.port if self._acceptance else self._settings.port

    async def open(self) -> None:
        """Start the workers, and listen as soon as all of them can answer."""
        self._known = self._state()
        self._acceptance = Acceptance(await bind(self._settings.host, self._settings.port), self._ready)
        try:
            await asyncio.gather(*(place.fill() for place in self._places))
            self._acceptance.begin()
        except BaseException:
            await self.close()
            raise
        self._keeping = [self._background(place.keep()) for place in self._places]
        self._keeping.append(self._background(self._look()))

    def refresh(self) -> None:
        """Tell the workers what has changed."""
        present = self._state()
        for message in difference(self._known, present):
            self._tell(message)
        self._known = present

    async def finish(self) -> None:
        """Have each worker finish its calls and end."""
        await self._end_keeping()
        self._tell(Finish())
        await self._all_ended(self._settings.drain_timeout + _END_SECONDS)

    async def close(self) -> None:
        """End all workers."""
        await self._end_keeping()
        for worker in self._workers():
            worker.leave()
        if not await self._all_ended(_END_SECONDS):
            for worker in self._workers():
                worker.kill()
            await self._all_ended(_END_SECONDS)
        for task in self._talking:
            task.cancel()

    def _workers(self) -> Iterator[Worker]:
        return (place.worker for place in self._places if place.worker)

    def _ready(self) -> list[Worker]:
        return [worker for worker in self._workers() if worker.is_ready]

    def _tell(self, message: ToWorker) -> None:
        for worker in self._workers():
            worker.tell(message)

    def _brief(self, worker: Worker) -> None:
        worker.tell(Begin(worker.number, self._settings, self._known.certificate))
        for message in difference(State(), self._known):
            worker.tell(message)
        self._background(worker.listen(self._asked))

    async def _look(self) -> None:
        """Find workers that hang and do not even end, and what has changed without a word."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.refresh()
            for worker in await self._silent(_HUNG_SECONDS):
                log.error("worker hangs and is killed", worker=worker.number, pid=worker.pid)
                worker.kill()

    async def _silent(self, seconds: float) -> list[Worker]:
        """Have all workers report; return those that do not in time."""
        ready = self._ready()
        heard = await asyncio.gather(*(worker.report(seconds) for worker in ready))
        return [worker for worker, is_heard in zip(ready, heard, strict=True) if not is_heard and worker.is_ready]

    def _asked(self, worker: Worker, ask: Ask) -> None:
        self._background(self._answer(worker, ask))

    async def _answer(self, worker: Worker, ask: Ask) -> None:
        silent = await self._silent(_REPORT_SECONDS)
        if ask.metrics:
            worker.tell(Told(ask.number, self._page(), []))
        else:
            worker.tell(Told(ask.number, b"", self._objections(silent)))

    def _page(self) -> bytes:
        own = totals.counted(self._metrics.registry)
        return totals.text(totals.summed([own, *(place.counted for place in self._places)]))

    def _objections(self, silent: list[Worker]) -> list[str]:
        missing = [place.number for place in self._places if not (place.worker and place.worker.is_ready)]
        return [
            *self._readiness.objections(),
            *(f"worker {number} is starting" for number in missing),
            *(f"worker {worker.number} does not answer" for worker in silent),
        ]

    async def _end_keeping(self) -> None:
        if self._acceptance:
            await self._acceptance.end()
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)

    async def _all_ended(self, seconds: float) -> bool:
        """Wait until all workers have ended, or that time has passed; tell which."""
        ends = [asyncio.create_task(worker.ended()) for worker in self._workers()]
        if not ends:
            return True
        _, pending = await asyncio.wait(ends, timeout=seconds)
        for end in pending:
            end.cancel()
        return not pending

    def _background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        def report(task: asyncio.Task[None]) -> None:
            self._talking.discard(task)
            if not task.cancelled() and (error := task.exception()):
                log.error("looking after the workers failed", exc_info=error)

        task = asyncio.create_task(work)
        self._talking.add(task)
        task.add_done_callback(report)
        return task
