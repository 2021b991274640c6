"""Where clients come in: the part of a server that listens, and has their calls answered."""

import asyncio
from typing import Protocol

from karta_interpreter.server.listening import BACKLOG, cannot_listen
from karta_interpreter.server.reception import FAREWELL_SECONDS, HANDSHAKE_SECONDS, Reception
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.tls import Tls


class Front(Protocol):
    """One process or many; they listen from `open` until `finish` or `close`."""

    @property
    def port(self) -> int:
        """The port that it listens on."""

    async def open(self) -> None:
        """Listen; raises ServeError when that cannot be."""

    def refresh(self) -> None:
        """Answer from what there is now: definitions, certificate, whether the server is draining."""

    async def finish(self) -> None:
        """Take no more connections, and finish the calls there are, in the time that settings leave for it."""

    async def close(self) -> None:
        """Close all connections, after what is being written on them."""


class OwnFront:
    """The front of a server that is this process alone: it answers by itself, from what there is at each moment."""

    def __init__(self, settings: Settings, reception: Reception, tls: Tls | None) -> None:
        self._settings = settings
        self._reception = reception
        self._tls = tls

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        """Listen."""
        loop, connections = asyncio.get_running_loop(), self._reception.connections
        host, port = self._settings.host, self._settings.port
        try:
            if not self._tls:
                self._listener = await loop.create_server(connections, host, port, backlog=BACKLOG)
                return
            self._listener = await loop.create_server(
                connections,
                host,
                port,
                backlog=BACKLOG,
                ssl=self._tls.context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=FAREWELL_SECONDS,
            )
        except OSError as error:
            raise cannot_listen(host, port, error) from error

    def refresh(self) -> None:
        """Nobody has to be told of anything."""

    async def finish(self) -> None:
        """Finish the calls there are."""
        self._listener.close()
        await self._reception.drained(self._settings.drain_timeout)

    async def close(self) -> None:
        """Close all connections."""
        self._listener.close()
        await self._reception.close()
