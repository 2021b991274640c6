"""What answers clients, put together: calls, reviews and reports, on connections that come from elsewhere."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from karta_interpreter import admission
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.requirements import Counting
from karta_interpreter.karta.resolution import Reader
from karta_interpreter.operations import Options
from karta_interpreter.server.application import MUTATE, VALIDATE, Application
from karta_interpreter.server.calls import Calls
from karta_interpreter.server.connection import Limits
from karta_interpreter.server.connections import Connections
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.overview import Overview
from karta_interpreter.server.readiness import Readiness
from karta_interpreter.server.settings import Settings
from karta_interpreter.sources.snapshot import Snapshot

HANDSHAKE_SECONDS = 10.0
FAREWELL_SECONDS = 1.0


class Knowledge(Protocol):
    """What answers are made from, as it is at this moment."""

    @property
    def snapshot(self) -> Snapshot:
        """The definitions."""

    @property
    def reader(self) -> Reader | None:
        """What looks up the objects that definitions refer to; always the same one."""

    @property
    def kinds(self) -> Mapping[GVK, str]:
        """The kinds that the cluster's Kartas define, and their names."""


class Reception:
    """Answers on the ``connections`` that it is given."""

    def __init__(
        self, settings: Settings, knowledge: Knowledge, metrics: Metrics, readiness: Readiness, overview: Overview
    ) -> None:
        options = Options(settings.resource_quota_estimate, Counting(settings.pod_requests))
        self._calls = Calls(lambda: knowledge.snapshot, metrics, options, knowledge.reader)
        application = Application(
            self._calls,
            {VALIDATE: lambda body: admission.validate(body, knowledge.kinds), MUTATE: admission.mutate},
            readiness,
            metrics,
            body_limit=settings.body_limit,
            call_limit=settings.call_limit,
            overview=overview,
        )
        limits = Limits(
            settings.header_timeout,
            settings.exchange_timeout + settings.call_limit,
            settings.body_limit,
            settings.connection_age,
        )
        self.connections = Connections(application.handle, application.refuse, limits, application.at_once)
        metrics.show_in_flight(lambda: self.connections.busy)

    async def drained(self, seconds: float) -> None:
        """Return when no call is left, or after that time."""
        try:
            async with asyncio.timeout(seconds):
                await self.connections.drained()
        except TimeoutError:
            log.warning("calls are cut off", in_flight=self.connections.busy)

    async def close(self) -> None:
        """Close the connections, and let go of whatever calls are left."""
        await self.connections.close(FAREWELL_SECONDS)
        self._calls.close()
