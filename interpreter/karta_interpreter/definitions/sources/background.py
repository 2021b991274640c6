"""Work that lasts as long as the server, also beyond an error in this program."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

AsyncAction: TypeAlias = Callable[[], Awaitable[None]]
"""Is called without arguments, and awaited."""

_logger = logging.getLogger(__name__)


async def keep_running(what: str, work: AsyncAction, pause: float) -> None:
    """Run endless work until cancelled. Log an error, and start the work again ``pause`` seconds later."""
    while True:
        try:
            await work()
        except Exception:
            _logger.exception("an error in this program while it %s; it goes on", what)
        # Keeps a failure that repeats at once from filling the log.
        await asyncio.sleep(pause)
