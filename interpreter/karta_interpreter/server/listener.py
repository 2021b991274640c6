"""The port that clients connect to."""

import asyncio
import errno

from karta_interpreter.errors import ServeError
from karta_interpreter.server.connections import Connections
from karta_interpreter.server.log import log
from karta_interpreter.server.tls import Tls

HANDSHAKE_SECONDS = 10.0
CLOSE_SECONDS = 1.0
"""How long connections may take to write what they are writing when the server closes them."""

_BACKLOG = 512
_HINTS = {
    errno.EADDRINUSE: "another process listens there: stop it, or choose another port",
    errno.EACCES: "ports below 1024 are for root: choose a higher one",
    errno.EADDRNOTAVAIL: "this machine has no such address: 0.0.0.0 stands for all that it has",
}


class Listener:
    """Accepts ``connections`` on a port, with TLS unless ``tls`` is None."""

    def __init__(self, host: str, port: int, connections: Connections, tls: Tls | None) -> None:
        self._address = host, port
        self._connections = connections
        self._tls = tls

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        """Listen; raises ServeError when the address is not available."""
        loop, (host, port) = asyncio.get_running_loop(), self._address
        try:
            self._server = await loop.create_server(
                self._connections,
                host,
                port,
                backlog=_BACKLOG,
                ssl=self._tls.context if self._tls else None,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if self._tls else None,
                ssl_shutdown_timeout=CLOSE_SECONDS if self._tls else None,
            )
        except OSError as error:
            hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
            raise ServeError(f"cannot listen on {host} port {port}: {hint}") from error

    async def drain(self, seconds: float) -> None:
        """Accept no more connections, and return when no call is left, or after that time."""
        self._server.close()
        try:
            async with asyncio.timeout(seconds):
                await self._connections.drained()
        except TimeoutError:
            log.warning("calls are cut off", in_flight=self._connections.busy)

    async def close(self) -> None:
        """Close all connections, after what is being written on them."""
        self._server.close()
        await self._connections.close(CLOSE_SECONDS)
