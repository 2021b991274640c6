"""Talks with the processes of a pool that the event loop waits for: each is held in a thread."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from karta_interpreter.sandbox.places import Place
from karta_interpreter.sandbox.pool import Pool, every_process_is_busy
from karta_interpreter.sandbox.process import Process

T = TypeVar("T")


class AsyncPool:
    """A pool for the event loop, with a thread for each of its processes."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._threads = ThreadPoolExecutor(pool.size, thread_name_prefix="sandbox")

    async def talk(self, owner: str, end: float, talk: Callable[[Process], T]) -> T:
        """The result of a talk with a process, which may be waited for until a time of the monotonic clock.

        Raises SandboxError when no process gets free until then. Cancelling the caller kills the process.
        """
        loop, granted = asyncio.get_running_loop(), asyncio.Event()
        place = self.pool.places.request(owner, lambda: loop.call_soon_threadsafe(granted.set))
        try:
            if not place.is_granted:
                async with asyncio.timeout(end - time.monotonic()):
                    await granted.wait()
            talking = _Talking(self.pool, place, talk)
            self._threads.submit(talking.hold)
        except BaseException as error:
            self.pool.places.release(place)
            if isinstance(error, TimeoutError):
                raise every_process_is_busy() from None
            raise
        try:
            return await asyncio.wrap_future(talking.result)
        except asyncio.CancelledError:
            talking.abandon()
            raise


class _Talking(Generic[T]):
    """A talk with a process; its result is there before the process is ready for the next one."""

    def __init__(self, pool: Pool, place: Place, talk: Callable[[Process], T]) -> None:
        self._pool = pool
        self._place = place
        self._talk = talk
        self._process: Process | None = None
        self._is_abandoned = False
        self._lock = threading.Lock()
        self.result = Future[T]()
        self.result.set_running_or_notify_cancel()

    def hold(self) -> None:
        """Talk, and give the place back when the process is ready for another talk or has ended."""
        try:
            with self._pool.held() as process:
                self._use(process)
                result = self._talk(process)
                self._use(None)
                process.is_settling = True  # from before the caller can ask again
                self.result.set_result(result)
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            if not self.result.done():
                self.result.set_exception(error)
        finally:
            self._pool.places.release(self._place)

    def abandon(self) -> None:
        """Kill the process, at once or as soon as there is one."""
        with self._lock:
            self._is_abandoned = True
            if self._process:
                self._process.kill()

    def _use(self, process: Process | None) -> None:
        with self._lock:
            self._process = process
            if process and self._is_abandoned:
                process.kill()
