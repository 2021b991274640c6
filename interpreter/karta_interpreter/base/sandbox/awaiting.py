"""Processes of a pool for the event loop, which waits for their sockets itself."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox.container import ContainerMemory
from karta_interpreter.base.sandbox.pool import Pool, Slot, every_process_is_busy
from karta_interpreter.base.sandbox.process import READ, Process

_MEMORY: Final = ContainerMemory()


class AsyncPool:
    """A pool for the event loop, with a thread for each of its processes."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        # A thread for each process, so that a start or an end never waits for another process.
        self._threads = ThreadPoolExecutor(pool.size, thread_name_prefix="sandbox")
        self._settling = set[asyncio.Task[None]]()

    @asynccontextmanager
    async def process(
        self, owner: str, seconds: float, *, with_start: bool = False
    ) -> AsyncIterator[tuple["Exchange", float]]:
        """`Pool.process` for the event loop. Only starting and stopping a process takes a thread.

        The block ends before the process is ready for another request. An exception in it, also the cancellation of its
        caller, stops the process. ``with_start``: starting takes from the seconds, too. A process that comes too late
        is kept for another request: if it were stopped, the next request would wait for another late one.
        """
        end = time.monotonic() + seconds
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._threads)
        slot = await self._place(owner, end)
        starting: Future[Process] | None = None
        try:
            seconds_left = max(end - time.monotonic(), 0.001)
            if not (process := self.pool.idle(owner)):
                starting = self._threads.submit(self.pool.take, owner)
                async with asyncio.timeout(seconds_left if with_start else None):
                    process = await asyncio.wrap_future(starting)
        except BaseException as error:
            self._leave(slot, starting)
            if isinstance(error, TimeoutError):
                raise SandboxError("its process takes long to start", StopCause.TIME) from None
            raise
        exchange = Exchange(process, in_thread)
        try:
            with _MEMORY.watched(asyncio.get_running_loop().call_later):
                yield exchange, seconds_left
        except BaseException:
            # Also the cancellation of a client that has left: the process is in the midst of an answer.
            self._drop(process, slot)
            raise
        process.is_settling = True  # from before the caller can ask again
        settling = self._settle(process, exchange, slot)
        if process.has_unread:
            await settling  # READY came with the answer: it has nothing to wait for
        else:
            task = asyncio.create_task(settling)
            # asyncio itself holds tasks weakly.
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def close(self) -> None:
        """End every process and wait until their sockets are closed. No request can follow."""
        self.pool.close()
        if self._settling:
            await asyncio.wait(self._settling)
        await asyncio.to_thread(self._threads.shutdown)

    async def _settle(self, process: Process, exchange: "Exchange", slot: Slot) -> None:
        is_fit = False
        try:
            is_fit = await exchange.settled()
        finally:
            if is_fit:
                self.pool.put_back(process, slot.owner)
                self.pool.places.release(slot)
            else:
                self._drop(process, slot)

    def _drop(self, process: Process, slot: Slot) -> None:
        process.kill()
        # The place is free only when the process is gone: there are never more processes than places.
        try:
            dropped = self._threads.submit(self.pool.drop, process, slot.owner)
        except RuntimeError:  # no thread can be started, and a killed process takes a moment to end
            self.pool.drop(process, slot.owner)
            self.pool.places.release(slot)
        else:
            dropped.add_done_callback(lambda _: self.pool.places.release(slot))

    def _leave(self, slot: Slot, starting: Future[Process] | None) -> None:
        def end(done: Future[Process]) -> None:
            if not done.cancelled() and not done.exception():
                self.pool.put_back(done.result())
            self.pool.places.release(slot)

        if starting is None:
            self.pool.places.release(slot)
        else:
            # A thread cannot be cancelled: the process that it starts is for another request. The place becomes free
            # only then. With more starts than threads, none would be left to end a process that all of them wait for.
            starting.add_done_callback(end)

    async def _place(self, owner: str, end: float) -> Slot:
        loop, granted, is_asking = asyncio.get_running_loop(), asyncio.Event(), True

        def wake() -> None:
            # Within `request` nothing waits yet, and this wakes the loop by a system call.
            if not is_asking:
                loop.call_soon_threadsafe(granted.set)

        slot = self.pool.places.request(owner, wake)
        is_asking = False
        try:
            if not slot.is_granted:
                async with asyncio.timeout(end - time.monotonic()):
                    await granted.wait()
        except BaseException as error:
            self.pool.places.release(slot)
            if isinstance(error, TimeoutError):
                raise every_process_is_busy() from None
            raise
        return slot


class Exchange:
    """The messages of one request, for the event loop. Raises as `Process` does."""

    def __init__(self, process: Process, in_thread: Callable[..., Awaitable[SandboxError]]) -> None:
        self._process = process
        self._in_thread = in_thread
        self._loop = asyncio.get_running_loop()

    async def send(self, letter: bytes, payload: bytes, seconds: float = 0.0) -> None:
        """Send a message as `Process.send` does."""
        buffers = self._process.parts(letter, payload, seconds)
        try:
            for buffer in buffers:
                try:
                    sent = self._process.socket.send(buffer)  # most often all, without waiting
                except BlockingIOError:
                    sent = 0
                if unsent := buffer[sent:]:
                    async with self._deadline():
                        await self._loop.sock_sendall(self._process.socket, unsent)
        except OSError as error:  # `TimeoutError` is one
            # In a thread: it waits until the process has ended.
            raise await self._in_thread(self._process.stopped, error) from error

    async def receive(self) -> tuple[bytes, bytes]:
        """Return the letter and the bytes of the next message of the request."""
        process = self._process
        try:
            while (message := process.message()) is None:
                async with self._deadline():
                    chunk = await self._loop.sock_recv(process.socket, READ)
                process.take(chunk)
        except OSError as error:
            raise await self._in_thread(process.stopped, error) from error
        return message

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        """Wait for the socket until the process is stopped."""
        try:
            async with asyncio.timeout(self._process.left):
                yield
        except ValueError as error:  # a thread that has stopped the process has closed it meanwhile
            raise ConnectionResetError from error

    async def settled(self) -> bool:
        """Wait until the process is ready for another request. Return whether it gets ready."""
        self._process.begin_settling()
        try:
            self._process.end_settling(await self.receive())
        except (SandboxError, RuntimeError):  # it has ended, and perhaps no thread can be started to wait for its end
            return False
        return True
