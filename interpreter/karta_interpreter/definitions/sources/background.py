"""Work that lasts as long as the server, also beyond an error in this program."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

_logger = logging.getLogger(__name__)


async def keep_running(what: str, work: Callable[[], Awaitable[None]], pause: float) -> None:
    """Do work that has no end until cancelled: begin it again ``pause`` seconds after an error, which is logged."""
    while True:
        try:
            await work()
        except Exception:
            _logger.exception("an error in this program while it %s; it goes on", what)
        # So that a failure that comes back at once does not fill the log.
        await asyncio.sleep(pause)
