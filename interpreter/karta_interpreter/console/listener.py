"""Listens for the console on loopback, until it is interrupted."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from karta_interpreter.console.application import Console, Served
from karta_interpreter.errors import ServeError

HOST: Final = "127.0.0.1"
"""Loopback only: the console has no TLS. From elsewhere it is reached by ``kubectl port-forward`` or ``ssh -L``."""


@asynccontextmanager
async def listening(served: Served, port: int) -> AsyncIterator[str]:
    """Listen for the block; gives the address of the page with its token. Raises ServeError."""
    console = Console(served)
    # A request that its page gives up is cancelled, and with it the process that computes the answer.
    runner = web.AppRunner(console.application, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except OSError as error:
            raise ServeError(f"cannot listen on {HOST}:{port}: {error.strerror}") from error
        yield f"http://{HOST}:{runner.addresses[0][1]}/#token={console.token}"
    finally:
        await runner.cleanup()
        await console.close()


def run(served: Served, port: int, started: Callable[[str], None]) -> None:
    """Listen until SIGINT or SIGTERM; ``started`` gets the address. Raises ServeError."""
    asyncio.run(_run(served, port, started))


async def _run(served: Served, port: int, started: Callable[[str], None]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with listening(served, port) as url:
        started(url)
        await stopped.wait()
