"""Whether the server is ready for traffic."""

import time
from collections.abc import Callable
from typing import Protocol

from karta_interpreter.sources.snapshot import Snapshot


class Expiring(Protocol):
    """Something that is good until a moment, in seconds since 1970."""

    @property
    def not_after(self) -> float | None:
        """The moment; None while there is nothing yet."""


class Readiness:
    """Why requests should not be sent to this server now; ``settled`` returns whether all sources were read."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        certificate: Expiring | None,
        settled: Callable[[], bool] = lambda: True,
    ) -> None:
        self._snapshot = snapshot
        self._certificate = certificate
        self._settled = settled
        self.draining = False

    def objections(self) -> list[str]:
        """Return why the server is not ready; nothing when it is."""
        found = []
        if self.draining:
            found.append("the server is about to stop")
        if not self._settled():
            found.append("the Kartas of the cluster have not been read yet")
        if not self._snapshot().entries:
            found.append("no definition is served")
        if self._certificate:
            found += _about(self._certificate.not_after)
        return found


def _about(not_after: float | None) -> list[str]:
    if not_after is None:
        return ["there is no certificate yet, the log says why"]
    return ["the certificate has expired"] if not_after <= time.time() else []
