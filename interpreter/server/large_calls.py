"""Calls whose bodies are too large for the server's own process: each is answered in a process of its own.

While a body is decoded nobody else is answered, and a hostile one takes fifty times its size of memory. So a large
one goes as it came to a child process, which has little memory, no environment and a deadline, and the answer comes
back as bytes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from interpreter.errors import RequestError
from interpreter.protocol import Request
from interpreter.server.large_call import LargeCall

# A call costs up to 2.5 µs for each separator in its body (AggregateStatus of many small statuses), and a few
# nanoseconds for each byte: 75 ms at most. Objects have a separator every fifteen to twenty bytes.
_MOST_BYTES: Final = 2 * 2**20
_MOST_SEPARATORS: Final = 30_000
_AT_ONCE: Final = 2


def is_large(body: bytes) -> bool:
    """Tell whether answering a request in this process could keep others waiting; never takes long itself.

    >>> is_large(b'{"request": {}}'), is_large(b"[" + b"{}," * 30_000 + b"{}]")
    (False, True)
    """
    if len(body) <= _MOST_SEPARATORS:
        return False
    return len(body) > _MOST_BYTES or sum(map(body.count, (b",", b"[", b"{"))) > _MOST_SEPARATORS


class LargeCalls:
    """Makes a process for each call, two at once at most."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_AT_ONCE)

    @asynccontextmanager
    async def call(self, body: bytes, seconds: float) -> AsyncIterator[tuple[LargeCall, Request]]:
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
            call = await LargeCall.start()
        except BaseException:
            self._places.release()
            raise
        try:
            yield call, await _read(call, body, until)
        finally:
            # The kernel needs a while to take gigabytes back. Only the next large call has to wait for that.
            call.end().add_done_callback(lambda _: self._places.release())


async def _read(call: LargeCall, body: bytes, until: float) -> Request:
    try:
        async with asyncio.timeout_at(until):
            return await call.read(body, until - asyncio.get_running_loop().time())
    except TimeoutError:
        raise RequestError(f"there was not enough time to read a body of {len(body)} bytes", status=503) from None
