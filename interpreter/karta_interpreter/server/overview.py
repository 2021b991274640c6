"""What a server says about itself as a whole, however many processes it has."""

from typing import Protocol

from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.readiness import Readiness


class Overview(Protocol):
    """Whoever can speak for the whole server; raises RequestError when that cannot be done now."""

    async def metrics(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""

    async def objections(self) -> list[str]:
        """Return why the server is not ready; nothing when it is."""


class OwnOverview:
    """The overview of a server that is this process alone."""

    def __init__(self, metrics: Metrics, readiness: Readiness) -> None:
        self._metrics = metrics
        self._readiness = readiness

    async def metrics(self) -> bytes:
        """Return the metrics of this process."""
        return self._metrics.render()

    async def objections(self) -> list[str]:
        """Return what speaks against sending requests to this process."""
        return self._readiness.objections()
