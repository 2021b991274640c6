"""The console beside a server, on its event loop: what it serves, its calls of the last hour, its registration."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from karta_interpreter.console.application import Served
from karta_interpreter.console.last_hour import LastHour
from karta_interpreter.console.listener import listening
from karta_interpreter.server.log import log
from karta_interpreter.server.server import Server


@asynccontextmanager
async def beside(server: Server, port: int) -> AsyncIterator[None]:
    """Run the console of a server for the block; its address goes to the log."""
    hour = LastHour(server.metrics.totals)
    async with listening(Served(lambda: server.snapshot, hour.document, server.in_step), port) as url:
        sampling = asyncio.create_task(hour.run())
        log.info("console", url=url)
        try:
            yield
        finally:
            sampling.cancel()
