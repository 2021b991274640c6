"""What servers and the console share: the words for ports that are not available, and the end by a signal."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from karta_interpreter.base.errors import ServeError

_HINTS: Final = {
    errno.EADDRINUSE: "another process listens there: stop it, or choose another port (--port)",
    errno.EACCES: "ports below 1024 are for root: choose a higher one",
    socket.EAI_NONAME: "the name has no address: give an address of this machine",
    errno.EADDRNOTAVAIL: "this machine has no such address: 0.0.0.0 stands for all that it has",
}


def cannot_listen(host: str, port: int, error: OSError) -> ServeError:
    """Return the error for an address that is not available, with a hint."""
    hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
    return ServeError(f"cannot listen on {host} port {port}: {hint}")


async def until_signal(serving: AbstractAsyncContextManager[str], started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. ``started`` gets the URL."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with serving as url:
        started(url)
        await stopping.wait()
