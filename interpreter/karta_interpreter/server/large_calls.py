"""Calls whose bodies are too large for the server's own process: each has another process for itself while it lasts.

While a body is decoded nobody else is answered, and a hostile one takes fifty times its size of memory. So a large
one goes as it came to a child process, which has little memory, no environment and a deadline, and the answer comes
back as bytes. Starting a process takes ten times as long as most calls do, so those that are as they were before
their call are kept for a while.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Final

from karta_interpreter.errors import RequestError
from karta_interpreter.server.large_process import LargeProcess
from karta_interpreter.wire import Request
from karta_interpreter.wire.projection_decoder import MOST_VALUES, values_in

# A call costs up to 2.5 µs for each key and value in its body (InterpretReplica of many different resources), and a few
# nanoseconds for each byte: 30 ms. Objects have one every eight bytes or so, and an ordinary one of 100 KB takes 1 to
# 2 ms here. But nothing cheap tells it from one that takes ten times that, and a process that is kept costs it 5 ms.
# Most calls do not get here: what they need of an object is less, and read in part. Those with two objects do: Retain
# reads much of both, and little of it is dear.
_MOST_BYTES: Final = 2 * 2**20
_SECOND_OBJECT: Final = b'"observedObject":'
_AT_ONCE: Final = 2
_IDLE_SECONDS: Final = 30.0


def is_large(body: bytes) -> bool:
    """Return whether answering a request in this process could keep others waiting; never takes long itself.

    >>> is_large(b'{"request": {}}'), is_large(b"[" + b"1," * 12_000 + b"1]")
    (False, True)
    """
    if len(body) <= MOST_VALUES:
        return False
    most = MOST_VALUES * (2 if _SECOND_OBJECT in body else 1)
    return len(body) > _MOST_BYTES or values_in(body) > most


class LargeCalls:
    """Has a process for each call, two at once at most, and keeps those that are fit for another one.

    ``idle_seconds`` is for how long a process is kept without a call.
    """

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._idle_seconds = idle_seconds
        self._all: set[LargeProcess] = set()
        self._idle: dict[LargeProcess, asyncio.TimerHandle] = {}
        self._resting: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @asynccontextmanager
    async def call(self, body: bytes, seconds: float) -> AsyncIterator[tuple[LargeProcess, Request]]:
        """Have a request read by a process that is there until the end of the block.

        Raises RequestError when the request has no uid, or none that can be found within the time and the memory.
        """
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                await self._places.acquire()
        except TimeoutError:
            raise RequestError(f"{_AT_ONCE} other large calls are being answered; try again", status=503) from None
        try:
            process = await self._process()
        except BaseException:
            self._places.release()
            raise
        try:
            yield process, await _read(process, body, until)
        finally:
            # Letting go of a call takes a while, only the next large one has to wait for that.
            if process.is_in_step and not self._is_closed:
                _background(self._rest(process), self._resting)
            else:
                _background(self._end(process), self._ending)

    @property
    def processes(self) -> frozenset[int]:
        """The ids of the processes that are there, in a call or without one."""
        return frozenset(process.pid for process in self._all)

    def close(self) -> None:
        """End all processes, also those that are in a call, which fails."""
        self._is_closed = True
        for timer in self._idle.values():
            timer.cancel()
        self._idle.clear()
        for process in self._all:
            process.kill()
        for process in self._all:
            process.reap()

    async def _process(self) -> LargeProcess:
        """Return a process that is kept or, which is soon, about to be kept; else a new one."""
        while True:
            if process := self._kept():
                return process
            if not self._resting:
                break
            await asyncio.wait(self._resting, return_when=asyncio.FIRST_COMPLETED)
        process = await LargeProcess.start()
        self._all.add(process)
        return process

    def _kept(self) -> LargeProcess | None:
        """Return the process that was used last of those that are kept: so that the others can end."""
        while self._idle:
            process, timer = self._idle.popitem()
            timer.cancel()
            if process.is_there:
                return process
            _background(self._gone(process), self._ending)
        return None

    async def _rest(self, process: LargeProcess) -> None:
        """Keep a process if it is fit for another call."""
        try:
            is_fit = await process.rest()
        except Exception:  # noqa: BLE001 - whatever it was
            is_fit = False
        if is_fit and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._idle[process] = loop.call_later(self._idle_seconds, self._retire, process)
            self._places.release()
        else:
            _background(self._end(process), self._ending)

    def _retire(self, process: LargeProcess) -> None:
        del self._idle[process]
        _background(self._gone(process), self._ending)

    async def _end(self, process: LargeProcess) -> None:
        """End a process; its place is free when its memory is, which may be a gigabyte."""
        await self._gone(process)
        self._places.release()

    async def _gone(self, process: LargeProcess) -> None:
        await process.end()
        self._all.discard(process)


def _background(work: Coroutine[None, None, None], among: set[asyncio.Task[None]]) -> None:
    task = asyncio.create_task(work)
    among.add(task)
    task.add_done_callback(among.discard)


async def _read(process: LargeProcess, body: bytes, until: float) -> Request:
    try:
        async with asyncio.timeout_at(until):
            return await process.read(body, until - asyncio.get_running_loop().time())
    except TimeoutError:
        raise RequestError(f"there was not enough time to read a body of {len(body)} bytes", status=503) from None
