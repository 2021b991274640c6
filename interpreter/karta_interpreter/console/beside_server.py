"""The console beside a server, on its event loop: what it serves, its calls of the last hour, its registration."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from karta_interpreter.console.application import Served
from karta_interpreter.console.last_hour import LastHour
from karta_interpreter.console.listener import listening
from karta_interpreter.server.log import log
from karta_interpreter.server.server import Shared


@asynccontextmanager
async def beside(shared: Shared, port: int) -> AsyncIterator[None]:
    """Run the console of a server for the block; its address goes to the log."""
    hour = LastHour(shared.metrics.totals)
    registrar = shared.control_plane and shared.control_plane.registrar
    in_step = (lambda: registrar.in_step) if registrar else None
    async with listening(Served(lambda: shared.store.snapshot, hour.document, in_step), port) as url:
        sampling = asyncio.create_task(hour.run())
        log.info("console", url=url)
        try:
            yield
        finally:
            sampling.cancel()
