"""Processes of a pool for the event loop, which awaits one exchange itself, or a talk that is held in a thread."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Generic, TypeVar

from karta_interpreter.errors import SandboxError
from karta_interpreter.sandbox.places import Place
from karta_interpreter.sandbox.pool import Pool, every_process_is_busy
from karta_interpreter.sandbox.process import READ, Process

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
        place = await self._place(owner, end)
        try:
            talking = _Talking(self.pool, place, talk)
            self._threads.submit(talking.hold)
        except BaseException:
            self.pool.places.release(place)
            raise
        try:
            return await asyncio.wrap_future(talking.result)
        except asyncio.CancelledError:
            talking.abandon()
            raise

    @asynccontextmanager
    async def process(self, owner: str, seconds: float) -> AsyncIterator[tuple["Exchange", float]]:
        """`Pool.process` for the event loop; only to start and to stop a process takes a thread."""
        end = time.monotonic() + seconds
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._threads)
        place = await self._place(owner, end)
        try:
            left = max(end - time.monotonic(), 0.001)
            process = self.pool.idle() or await self._started(in_thread(self.pool.take))
            exchange = Exchange(process, in_thread)
            is_fit = False
            try:
                yield exchange, left
                is_fit = await exchange.settled()
            finally:
                if is_fit:
                    self.pool.put_back(process)
                else:
                    process.kill()
                    await in_thread(self.pool.drop, process)
        finally:
            self.pool.places.release(place)

    async def _started(self, starting: "asyncio.Future[Process]") -> Process:
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(lambda done: None if done.exception() else self.pool.put_back(done.result()))
            raise

    async def _place(self, owner: str, end: float) -> Place:
        loop, granted = asyncio.get_running_loop(), asyncio.Event()
        place = self.pool.places.request(owner, lambda: loop.call_soon_threadsafe(granted.set))
        try:
            if not place.is_granted:
                async with asyncio.timeout(end - time.monotonic()):
                    await granted.wait()
        except BaseException as error:
            self.pool.places.release(place)
            if isinstance(error, TimeoutError):
                raise every_process_is_busy() from None
            raise
        return place


class Exchange:
    """The messages of one request, for the event loop; raises as `Process` does."""

    def __init__(self, process: Process, in_thread: Callable[..., Awaitable[SandboxError]]) -> None:
        self._process = process
        self._in_thread = in_thread
        self._loop = asyncio.get_running_loop()

    async def send(self, letter: bytes, payload: bytes, seconds: float = 0.0, *, grace: float = 0.0) -> None:
        """Send a message as `Process.send` does."""
        parts = self._process.parts(letter, payload, seconds, grace=grace)
        try:
            async with asyncio.timeout(self._process.left):
                for part in parts:
                    await self._loop.sock_sendall(self._process.socket, part)
        except OSError as error:
            raise await self._in_thread(self._process.stopped, error) from error

    async def receive(self) -> tuple[bytes, bytes]:
        """The letter and the bytes of the next message of the request."""
        process = self._process
        try:
            while (message := process.message()) is None:
                async with asyncio.timeout(process.left):
                    process.take(await self._loop.sock_recv(process.socket, READ))
        except OSError as error:
            raise await self._in_thread(process.stopped, error) from error
        return message

    async def settled(self) -> bool:
        """Wait until the process is ready for another request; whether it gets ready."""
        self._process.begin_settling()
        try:
            self._process.end_settling(await self.receive())
        except SandboxError:
            return False
        return True


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
