"""All connections of a server."""

import asyncio
from contextlib import suppress
from typing import Any, cast

from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse
from aiohttp.web_server import Server

from karta_interpreter.server.application import Application
from karta_interpreter.server.connection import Connection
from karta_interpreter.server.fast_lane import FastLane
from karta_interpreter.server.settings import Settings

_GLANCE = 0.02
"""Seconds between two looks at what there is left to do."""


class Connections(Server):
    """Makes connections, and knows the ones that are open."""

    def __init__(self, application: Application, settings: Settings) -> None:
        # A client that leaves ends the work for it: no answer can reach it any more.
        super().__init__(self._handle, request_factory=self._request, handler_cancellation=True)
        self._application = application
        self._settings = settings
        self._transports: dict[Connection, asyncio.Transport] = {}
        self._all_gone = asyncio.Event()

    def __call__(self) -> FastLane:
        """Return the protocol of a new connection."""
        return FastLane(self, self._application, self._settings)

    @property
    def count(self) -> int:
        """How many connections are open."""
        return len(self._transports)

    @property
    def busy(self) -> int:
        """How many connections have a request."""
        return sum(each.is_busy for each, transport in self._transports.items() if not transport.is_closing())

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Remember a connection."""
        super().connection_made(handler, transport)
        self._transports[cast("Connection", handler)] = transport
        self._all_gone.clear()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection whose last byte has left."""
        super().connection_lost(handler, exc)
        self._transports.pop(cast("Connection", handler), None)
        if not self._transports:
            self._all_gone.set()

    def close_idle(self) -> bool:
        """Close those connections that are idle for longest; without one, those that wait for a body. Whether any was.

        One in twenty: looking for them takes longer than closing them.
        """
        idle = sorted((each for each in self._transports if not each.is_busy), key=lambda each: each.last_used)
        chosen = (idle or [each for each in self._transports if each.is_receiving])[: self.count // 20 + 1]
        for each in chosen:
            self._transports.pop(each).abort()
        return bool(chosen)

    async def drained(self) -> None:
        """Return when no connection has a request."""
        while self.busy:  # noqa: ASYNC110 - an event would have to be set for every request
            await asyncio.sleep(_GLANCE)

    async def close(self, seconds: float) -> None:
        """Close all connections once they have written what they are writing; cut them off after that time."""
        # aiohttp would keep the idle ones open for all of that time, and drop what comes on them without an answer.
        for connection, transport in list(self._transports.items()):
            if not connection.is_busy:
                transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.shutdown(seconds)
                if self._transports:
                    await self._all_gone.wait()
        for transport in self._transports.values():
            transport.abort()

    async def _handle(self, request: BaseRequest) -> StreamResponse:
        response = await self._application.handle(request)
        if cast("Connection", request.protocol).is_old or self._application.readiness.draining:
            # The client opens its next connection elsewhere, instead of losing a call when this one is closed.
            response.force_close()
        return response

    def _request(self, *parts: Any) -> BaseRequest:  # noqa: ANN401 - aiohttp has types for them
        message, payload, protocol, writer, task = parts
        loop, limit = asyncio.get_running_loop(), self._settings.body_limit
        return BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=limit)
