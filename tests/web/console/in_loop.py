"""The process of the types API and the console in the event loop of a test: what it does, without a process."""

import asyncio
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from karta_interpreter.web import web_process, web_server
from karta_interpreter.webhook.process.server import Shared
from karta_interpreter.webhook.settings import Settings


class InLoop:
    """What a server takes for a process."""

    def __init__(self, _: str, settings: Settings, end: socket.socket) -> None:
        self._ended = threading.Event()
        self._task = asyncio.create_task(web_server.run(settings, end.dup()))
        self._task.add_done_callback(lambda _: self._ended.set())

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("", timeout or 0)
        return 0

    def kill(self) -> None:
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)


def in_loop(urls: dict[str, str]) -> Callable[[Shared], AbstractAsyncContextManager[Callable[[], Awaitable[None]]]]:
    """An extension of a server; it puts what listens, and where, into ``urls``."""

    @asynccontextmanager
    async def serve(shared: Shared) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(web_process, "start", InLoop)
            async with web_process.web_process(shared, "") as listens:

                async def listen() -> None:
                    urls.update(await listens())

                yield listen

    return serve
