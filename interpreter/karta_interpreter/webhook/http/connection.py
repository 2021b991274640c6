"""One connection of a client: HTTP by aiohttp, with the deadlines and the errors of this server."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server

from karta_interpreter.webhook.http.bodies import Bodies
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.settings import Settings

# Karmada's client keeps idle connections for 90 s and does not repeat a POST if its connection was closed under it, so
# the client has to close. It also keeps connections that it has not used yet, because another one came free first. The
# time counts from the beginning of a call, and the longest call takes 30 s.
_KEEP_ALIVE = 135.0
# A client that is refused before it has sent its body may go on sending for this long, to see the answer.
_LINGER = 2.0
_MAX_LINE = 8190
# Karmada's client sends six headers. aiohttp would take 128.
_MAX_HEADERS = 64
# Spreads the ends of connections that were opened together.
_SPREAD = 0.9, 1.1


Soon: TypeAlias = asyncio.Task[bytes]
"""Returns an answer."""


class Answers(Protocol):
    """Answers the requests of connections."""

    @property
    def draining(self) -> bool:
        """Return whether connections end with their next answer."""

    async def handle(self, request: BaseRequest) -> StreamResponse:
        """Answer one request."""

    def answer_soon(self, body: bytes, parameters: str) -> bytes | Soon | None:
        """Answer a body sent to ``/interpret``, or return None to leave it to `handle`."""

    def refuse(self, status: int, message: str) -> Response:
        """Return an HTTP error."""


class TimedConnection(RequestHandler):
    """A connection with a deadline for the head of each request, from its first byte.

    A client that misses it is disconnected. The first byte of a connection has a deadline, too.
    """

    __slots__ = ("_expected", "_header_seconds", "_timers")

    def __init__(self, server: Server, header_seconds: float, **options: Any) -> None:  # noqa: ANN401 - aiohttp's
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_KEEP_ALIVE,
            access_log=None,  # type: ignore[arg-type]  # None turns it off, despite the annotation
            **options,
        )
        self._header_seconds = header_seconds
        self._expected = -1
        self._timers: dict[str, asyncio.TimerHandle] = {}

    @property
    def is_busy(self) -> bool:
        """Return whether the head of a request has come and its answer has not yet gone."""
        # aiohttp's loop waits on `_waiter` between requests only. `_paused` is set while the client does not read.
        return self._waiter is None or self._waiter.done() or self._paused

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Expect the first request."""
        super().connection_made(transport)
        self._set("headers", _KEEP_ALIVE, self._check_headers, self._request_count)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the deadlines."""
        for timer in self._timers.values():
            timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes. If they are the beginning of headers, expect the rest."""
        count = self._request_count
        super().data_received(data)
        # Bytes came, no request was complete or is in work, and no deadline runs for it yet: a head has begun. aiohttp
        # may not wait for requests yet when the first bytes come.
        if self._request_count == count != self._expected and not (count and self.is_busy):
            self._expected = count
            self._set("headers", self._header_seconds, self._check_headers, count)

    def disconnect(self) -> None:
        """Close the connection immediately."""
        if self.transport is not None:
            self.transport.abort()

    def _check_headers(self, count: int) -> None:
        if self._request_count == count:
            self.disconnect()

    def _set(self, name: str, seconds: float, act: Callable[..., None], *arguments: object) -> None:
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = self._loop.call_later(seconds, act, *arguments)


class Connection(TimedConnection):
    """A connection with deadlines for all that its client does, except idling between requests.

    Next to the deadline for its headers, another one is for its body and for taking the answer. It runs from the head
    of a request that is not answered at once. The next answer on an old connection has ``Connection: close``, because a
    load balancer does not move the calls of an open one.
    """

    __slots__ = ("_application", "_began", "_bodies", "_exchanged", "_is_timed", "_settings", "is_old")

    def __init__(self, server: Server, application: Answers, settings: Settings, bodies: Bodies) -> None:
        super().__init__(
            server,
            settings.header_timeout,
            lingering_time=_LINGER,
            # `read_body` rejects compressed bodies: a few bytes may decompress to any number.
            auto_decompress=False,
            max_line_size=_MAX_LINE,
            max_field_size=_MAX_LINE,
            max_headers=_MAX_HEADERS,
        )
        self._application = application
        self._settings = settings
        self._bodies = bodies
        self._exchanged = 0  # the last request that has a deadline
        self._began = 0.0  # when its head came
        self._is_timed = False
        self.is_old = False

    @property
    def is_receiving(self) -> bool:
        """Return whether the body of a request is still incomplete."""
        return self._current_request is not None and not self._current_request.content.is_eof()

    def has_room(self, size: int) -> bool:
        """Count received bytes of a body. Return whether there is room for them."""
        return self._bodies.take(self, size)

    @property
    def last_used(self) -> float:
        """Return a number that is greater the later the last request came, 0 before the first request."""
        # A constant after the last request. A connection that never had a request gets 0 and so comes before all
        # others.
        return self._next_keepalive_close_time if self._request_count else 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Expect the first request."""
        super().connection_made(transport)
        if age := self._settings.connection_age:
            self._set("age", age * random.uniform(*_SPREAD), setattr, self, "is_old", True)  # noqa: S311 - no secret

    def data_received(self, data: bytes) -> None:
        """Take bytes. If a request has begun with them, expect its end."""
        super().data_received(data)
        self._expect_end(self._loop.time())

    def pause_writing(self) -> None:
        """Expect the client to take its answer."""
        super().pause_writing()
        self._expect_end(self._loop.time())

    def abandon(self) -> None:
        """Let go of the parser, which refers to this connection, because the handshake has failed."""
        self._parser = None

    def _expect_end(self, now: float) -> None:
        """Give the present request its deadline, unless it has one."""
        if self._exchanged != self._request_count:
            self._exchanged = self._request_count
            self._began = now
            # One timer serves many requests: a timer for each would take a tenth of the time of a call.
            if not self._is_timed:
                self._time_end(self._longest)

    @property
    def _longest(self) -> float:
        return self._settings.exchange_timeout + self._settings.call_limit

    def _time_end(self, seconds: float) -> None:
        self._is_timed = True
        self._set("exchange", seconds, self._check_end)

    def _check_end(self) -> None:
        seconds_left = self._began + self._longest - self._loop.time()
        if not self.is_busy:  # an idle connection has no deadline to miss
            self._is_timed = False
        elif seconds_left > 0:
            self._time_end(seconds_left)
        else:
            self.disconnect()

    def handle_error(
        self,
        request: BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> StreamResponse:
        """Return the answer to a request that is not HTTP, or that the server failed on.

        aiohttp's own answer would repeat data that the client has sent.
        """
        del message
        # aiohttp closes the connection on this error. Any other answer would follow half of the first one.
        if isinstance(exc, ConnectionError) or request.writer.output_size:
            raise ConnectionResetError("the client is gone, or has half an answer already") from exc
        if status < 500:  # noqa: PLR2004 - the client's fault
            text = "this is not valid HTTP/1.1, or a line of its head is too long"
        else:
            log.error("request failed unexpectedly", exc_info=exc)
            text = "internal error"
        response = self._application.refuse(status, text)
        response.force_close()
        return response
