"""The port that clients connect to, and all connections of a server."""

import asyncio
import ctypes
import errno
import gc
import resource
import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from typing import Any, Final, cast

from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse
from aiohttp.web_server import Server

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.bodies import Bodies, most_bytes
from karta_interpreter.webhook.http.connection import Answers, Connection
from karta_interpreter.webhook.http.fast_lane import FastLane
from karta_interpreter.webhook.http.ports import cannot_listen
from karta_interpreter.webhook.http.tls import Tls
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.memory import trim_memory
from karta_interpreter.webhook.settings import Settings

_POLL_SECONDS = 0.02
"""Seconds between two checks whether a connection still has a request."""


class Connections(Server):
    """Makes connections, and keeps a list of the open ones."""

    def __init__(self, application: Answers, settings: Settings) -> None:
        # A client that leaves ends the work for it: no answer can reach it any more.
        super().__init__(self._handle, request_factory=self._request, handler_cancellation=True)
        self._application = application
        self._settings = settings
        self._bodies = Bodies(most_bytes(settings.body_limit))
        self._transports: dict[Connection, asyncio.Transport] = {}
        self._all_gone = asyncio.Event()

    def __call__(self) -> FastLane:
        """Return the protocol of a new connection."""
        return FastLane(self, self._application, self._settings, self._bodies)

    @property
    def count(self) -> int:
        """Return how many connections are open."""
        return len(self._transports)

    @property
    def busy(self) -> int:
        """Return how many connections have a request."""
        # A connection that is being closed has its answer. `close` waits until the answer is written.
        return sum(
            connection.is_busy for connection, transport in self._transports.items() if not transport.is_closing()
        )

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Remember a connection."""
        super().connection_made(handler, transport)
        # aiohttp keeps the same in a private attribute, but clears it before the last bytes have left.
        self._transports[cast("Connection", handler)] = transport
        self._all_gone.clear()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection after its last byte has left."""
        super().connection_lost(handler, exc)
        self._bodies.drop(cast("Connection", handler))
        self._transports.pop(cast("Connection", handler), None)
        if not self._transports:
            self._all_gone.set()

    def close_idle(self) -> bool:
        """Close a twentieth of the connections: idle ones, or some that wait for a body. Return whether any was."""
        idle = sorted(
            (connection for connection in self._transports if not connection.is_busy),
            key=lambda connection: connection.last_used,
        )
        # Many at once: under a flood connection eviction sorts all connections, so one by one would cost the square.
        connections = (idle or [connection for connection in self._transports if connection.is_receiving])[
            : self.count // 20 + 1
        ]
        for evicted in connections:
            # Not when `connection_lost` comes, a turn later: the count has to be right for the next connection.
            self._transports.pop(evicted).abort()
        return bool(connections)

    @property
    def has_new(self) -> bool:
        """Return whether a connection has not had a request yet."""
        return not all(connection.last_used for connection in self._transports)

    async def close(self, seconds: float) -> None:
        """Close all connections once they have written their pending bytes. After that time, cut them off."""
        # Bytes that have arrived by now are read first: one turn takes notice of them, the next one reads them.
        for _ in range(2):
            await asyncio.sleep(0)
        # aiohttp would keep the idle ones open for all of that time, and drop their new requests without an answer.
        for connection, transport in list(self._transports.items()):
            if not connection.is_busy:
                transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                # aiohttp ends its handlers, but does not wait until the last bytes have left.
                await self.shutdown(seconds)
                if self._transports:
                    await self._all_gone.wait()
        for transport in self._transports.values():
            transport.abort()

    async def _handle(self, request: BaseRequest) -> StreamResponse:
        connection = cast("Connection", request.protocol)
        try:
            response = await self._application.handle(request)
        finally:
            self._bodies.drop(connection)
        if connection.is_old or self._application.draining:
            # The client opens its next connection elsewhere, instead of losing a call when this one is closed.
            response.force_close()
        return response

    def _request(self, *parts: Any) -> BaseRequest:  # noqa: ANN401 - aiohttp has types for them
        # aiohttp's own factory leaves the limit of bodies at 1 MiB.
        message, payload, protocol, writer, task = parts
        loop, limit = asyncio.get_running_loop(), self._settings.body_limit
        return BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=limit)


MOST_CONNECTIONS: Final = 2000
"""A control plane opens a few dozen, and each member in Pull mode as many again."""
HANDSHAKE_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0
"""How long connections may take to write their pending bytes if the server closes them."""

_BACKLOG: Final = 512
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_PAUSE_SECONDS: Final = 1.0
"""The pause after a connection failed because handles or memory ran out: the socket stays readable."""
_RELEASE_SECONDS: Final = 0.5
"""The delay from a rejected connection to the release of memory: a flood causes one release in that time, not many."""
_FIRST_SECONDS: Final = 1.0  # how long a server that stops waits for handshakes and first requests
_OTHER_FILES: Final = 256
"""File handles except for connections: files that are read, pipes and sockets of child processes."""


class Listener:
    """Accepts ``connections`` on a port, with TLS unless ``tls`` is None, and at most ``most`` at a time.

    A quarter of them may be in the midst of the handshake, which proves nothing about a client. A connection beyond
    that takes the place of the oldest handshake or, if all handshakes are done, of the connection that is idle for
    longest. So silent clients do not keep other clients out. ``rejected`` is called for every connection that is closed
    for that reason. One turn of the event loop accepts a hundredth: calls do not wait for a flood, and a handshake has
    25 turns before it is the oldest.
    """

    def __init__(self, connections: Connections, tls: Tls | None, *, most: int, rejected: Callable[[], None]) -> None:
        self._connections = connections
        self._tls = tls
        self._most = most
        self._rejected = rejected
        self._say_once = cache(log.warning)
        self._sockets: list[socket.socket] = []
        self._handshakes: dict[asyncio.Task[None], socket.socket] = {}
        self._release: asyncio.TimerHandle | None = None
        self.port = 0

    async def open(self, host: str, port: int) -> None:
        """Listen. Raises ServeError if the address is not available."""
        try:
            self._sockets = await _bind(host, port)
        except OSError as error:
            raise cannot_listen(host, port, error) from error
        except UnicodeError as error:  # Python encodes a host name as IDNA before it asks for its address
            raise ServeError(f'cannot listen on {host} port {port}: "{host}" is not a host name') from error
        self.port = self._sockets[0].getsockname()[1]
        # If the limit of the system is lower, connections are rejected before files and processes lack handles.
        self._most = max(min(self._most, allow_files(self._most + _OTHER_FILES) - _OTHER_FILES), 1)
        for listening in self._sockets:
            self._resume(listening)

    async def drain(self, seconds: float) -> None:
        """Accept the connections that have arrived, and no more. Return when no call is left, or after that time."""
        for listening in self._sockets:
            drop_syn(listening)
        loop, all_open = asyncio.get_running_loop(), self._connections
        try:
            async with asyncio.timeout(seconds):
                await asyncio.sleep(0.1)  # for handshakes of TCP that have begun
                self._stop()
                deadline = loop.time() + _FIRST_SECONDS
                # An event would have to be set for every request.
                while all_open.busy or (loop.time() < deadline and (self._handshakes or all_open.has_new)):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            log.warning("calls are cut off", in_flight=all_open.busy)

    async def close(self) -> None:
        """Close all connections after they have written their pending bytes."""
        self._stop()
        while self._handshakes:
            self._end_handshake()
        await self._connections.close(CLOSE_SECONDS)

    def _stop(self) -> None:
        for listening in self._sockets:
            # The kernel resets connections that nobody has accepted when their socket is closed.
            self._accept(listening, _BACKLOG)
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()
        self._sockets = []
        if self._release:
            self._release.cancel()

    def _resume(self, listener: socket.socket) -> None:
        # The server may have closed it during the pause after an error.
        if listener in self._sockets:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener, self._most // 100 + 1)

    def _accept(self, listener: socket.socket, most: int) -> None:
        """Accept that many of the waiting connections. A turn of the event loop may be long under load."""
        for _ in range(most):
            try:
                connection, _ = listener.accept()
            except OSError as error:
                # Other errors: no connection is waiting, or its client has given up.
                if error.errno in _EXHAUSTED:
                    log.error("no connection can be accepted", reason=error.strerror)
                    loop = asyncio.get_running_loop()
                    loop.remove_reader(listener)
                    loop.call_later(_PAUSE_SECONDS, self._resume, listener)
                return
            connection.setblocking(False)
            handshakes = len(self._handshakes)
            if handshakes + self._connections.count >= self._most or handshakes > self._most // 4:
                self._rejected()
                self._release_later()
                if handshakes:
                    self._end_handshake()
                elif not self._connections.close_idle():
                    connection.close()
                    continue
            task = asyncio.create_task(self._establish(connection))
            # It also keeps the task: asyncio itself holds only a weak reference.
            self._handshakes[task] = connection
            # `_end_handshake` may have removed it.
            task.add_done_callback(lambda done: self._handshakes.pop(done, None))

    def _release_later(self) -> None:
        if self._release is None:
            self._release = asyncio.get_running_loop().call_later(_RELEASE_SECONDS, self._release_now)

    def _release_now(self) -> None:
        self._release = None
        # Garbage of asyncio's own loop: 50,000 objects take 0.1 s of a turn. Some of it survives a first collection.
        gc.collect(1)
        trim_memory()
        if self._handshakes:  # their memory is to be released when they have ended
            self._release_later()

    def _end_handshake(self) -> None:
        connection = self._handshakes.pop(next(iter(self._handshakes)))
        # The transport owns the socket and closes it as soon as it sees the end, perhaps already.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    async def _establish(self, connection: socket.socket) -> None:
        connect, protocol = asyncio.get_running_loop().connect_accepted_socket, self._connections()
        timeouts = {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": CLOSE_SECONDS}
        tls: dict[str, Any] = {"ssl": self._tls.context, **timeouts} if self._tls else {}
        try:
            await connect(lambda: protocol, connection, **tls)
        # A client's mistake in the handshake, such as giving up, is an OSError. `ssl.SSLError` is one.
        except OSError as error:
            if getattr(error, "reason", "") == "HTTP_REQUEST":
                self._say_once("a client speaks HTTP to this port: give it a URL that begins with https://")
            # Otherwise each failed handshake is cyclic garbage, and collecting that of a flood takes 0.1 s.
            error.__traceback__ = None
            protocol.abandon()


async def _bind(host: str, port: int) -> list[socket.socket]:
    addresses = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    with ExitStack() as opened:
        sockets = []
        for family, _, _, _, address in addresses:
            bound = opened.enter_context(socket.create_server(address, family=family, backlog=_BACKLOG))
            bound.setblocking(False)
            sockets.append(bound)
        opened.pop_all()
        return sockets


def drop_syn(listener: socket.socket) -> None:
    """Let no further client begin to connect: it tries again after a second, and is refused once the port is closed.

    Otherwise a client may connect between the last accept and the close, which resets its connection. On a kernel
    without packet filters this has no effect.
    """
    # A program of the kernel's packet filter (``linux/filter.h``).
    program = ctypes.create_string_buffer(
        struct.pack(
            "=" + 5 * "HBBI",
            *(0x30, 0, 0, 13),  # load the flags of the TCP header
            *(0x54, 0, 0, 0x12),  # SYN and ACK of them
            *(0x15, 0, 1, 0x02),  # SYN without other flags
            *(0x06, 0, 0, 0),  # drop the packet
            *(0x06, 0, 0, 0xFFFFFFFF),  # else take it
        )
    )
    with suppress(OSError):
        # SO_ATTACH_FILTER
        listener.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", 5, ctypes.addressof(program)))


def allow_files(files: int) -> int:
    """Allow this process more file handles if possible. Return how many it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < files and soft != resource.RLIM_INFINITY:
        soft = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return files if soft == resource.RLIM_INFINITY else soft
