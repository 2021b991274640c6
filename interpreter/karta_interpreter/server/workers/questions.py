"""What a worker asks the server."""

import asyncio
import itertools
from typing import Final

from karta_interpreter.errors import RequestError
from karta_interpreter.server.workers.channel import Channel
from karta_interpreter.server.workers.messages import Ask, Told

_PATIENCE: Final = 5.0


class Questions:
    """The overview of a server that has workers (`karta_interpreter.server.overview.Overview`)."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.Future[Told]] = {}

    async def metrics(self) -> bytes:
        """Return the metrics of all processes."""
        return (await self._ask(metrics=True)).metrics

    async def objections(self) -> list[str]:
        """Return what speaks against sending requests to the server."""
        return (await self._ask(metrics=False)).objections

    def answer(self, told: Told) -> None:
        """Take an answer."""
        asked = self._open.get(told.number)
        if asked and not asked.done():
            asked.set_result(told)

    async def _ask(self, *, metrics: bool) -> Told:
        number = next(self._numbers)
        asked: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._open[number] = asked
        self._channel.send(Ask(number, metrics))
        try:
            async with asyncio.timeout(_PATIENCE):
                return await asked
        except TimeoutError:
            raise RequestError("the process that looks after this one does not answer", status=503) from None
        finally:
            del self._open[number]
