"""Connections that come in, shared out among workers."""

import asyncio
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from karta_interpreter.server.listening import listen
from karta_interpreter.server.log import log
from karta_interpreter.server.workers.worker import Worker

_EXHAUSTED_SECONDS: Final = 1.0
_FULL_SECONDS: Final = 0.01


class Acceptance:
    """Listens on sockets, and gives each connection to the worker that has the fewest.

    The kernel could share them out. But of eight connections that come at once it gives one of two workers up to
    seven when each has a socket of its own for the port, and often all when they share one; and Karmada keeps its few
    connections for as long as they are used. ``workers`` are those that can answer.
    """

    def __init__(self, sockets: Sequence[socket.socket], workers: Callable[[], Iterable[Worker]]) -> None:
        self._listeners = sockets
        self._workers = workers
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def port(self) -> int:
        """The port that all connections come to."""
        port: int = self._listeners[0].getsockname()[1]
        return port

    def begin(self) -> None:
        """Listen, and accept from now on; raises ServeError when somebody else has come first."""
        for listener in self._listeners:
            listen(listener)
        self._tasks = [asyncio.create_task(self._accept(listener)) for listener in self._listeners]

    async def end(self) -> None:
        """Accept no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for listener in self._listeners:
            listener.close()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except ConnectionError:
                continue  # the client has thought better of it
            except OSError as error:
                log.error("no connection can be accepted", reason=error.strerror)
                await asyncio.sleep(_EXHAUSTED_SECONDS)
                continue
            with connection:
                await self._hand_over(connection)

    async def _hand_over(self, connection: socket.socket) -> None:
        while not any(worker.take(connection) for worker in sorted(self._workers(), key=_connections)):  # noqa: ASYNC110 - room in a socket
            await asyncio.sleep(_FULL_SECONDS)


def _connections(worker: Worker) -> int:
    return worker.connections
