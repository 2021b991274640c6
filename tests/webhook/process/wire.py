"""A server without a network: what a connection writes when it is fed these bytes."""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.call_log import CallLog
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.load import Load
from karta_interpreter.webhook.http.listener import Connections
from karta_interpreter.webhook.process.application import Application
from karta_interpreter.webhook.process.health import Readiness
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.settings import Settings
from tests.webhook.process.process import KARTAS

BODY_LIMIT = 2000
# More than aiohttp takes for three answers, if none of them needs a thread.
_TURNS = 30
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]+")
_COUNTED = re.compile(rb"^karta_interpreter_(?:calls|http_errors|call_seconds_count|requests).*", re.MULTILINE)
_STORE = Store((KARTAS,), overrides=(KARTAS.with_name("scripts"),), catalogue=False)
_STORE.load()


class Wire(asyncio.Transport):
    """The end of a connection that leads to nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False
        self.paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


@dataclass(frozen=True)
class Outcome:
    """What came of feeding bytes to a connection; dates are left out of ``written``."""

    written: bytes
    closed: bool
    counts: tuple[bytes, ...]


@dataclass
class Bench:
    """One connection of one server, made in a running event loop. ``exchange`` is the limit in seconds."""

    exchange: float = 10.0
    load: Load | None = None
    webhook_timeout: int = 2

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        settings = Settings(
            header_timeout=10.0,
            exchange_timeout=self.exchange - 1.5,
            webhook_timeout=self.webhook_timeout,
            body_limit=BODY_LIMIT,
            connection_age=0,
        )
        self.readiness = Readiness(_STORE)
        calls = Calls(_STORE, Options(), self.load, rehearses=False)
        calls.observers = CallLog().see, self.metrics.see
        application = Application(calls, self.readiness, self.metrics, settings)
        self.connections = Connections(application, settings)
        self.metrics.show("requests_in_flight", lambda: self.connections.busy)
        self.wire = Wire()
        self.connection = self.connections()
        self.connection.connection_made(self.wire)

    @property
    def by_aiohttp(self) -> int:
        """How many requests did not go by the fast lane."""
        return self.connections.requests_count

    async def feed(self, parts: Iterable[bytes]) -> Outcome:
        """Feed bytes, giving the server all the time it needs after each part."""
        await self._settle()
        for part in parts:
            if not self.wire.closed:
                self.connection.data_received(part)
                await self._settle()
        counts = tuple(_COUNTED.findall(self.metrics.render()))
        return Outcome(_DATE.sub(b"", self.wire.written), self.wire.closed, counts)

    async def _settle(self) -> None:
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    def hang_up(self) -> None:
        self.connection.connection_lost(None)
