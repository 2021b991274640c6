"""Keeping the served certificate in step with its source."""

import asyncio
from collections.abc import Callable

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.tls import Tls

_IMPATIENCE = 1.0
"""Seconds between two looks while there is no certificate at all."""


class Renewal:
    """Asks the source for its certificate, serves a new one and tells of it: ``renewed`` is called.

    One that cannot be had or served leaves the present one in place. It is counted each time, and logged once.
    """

    def __init__(self, tls: Tls, metrics: Metrics, renewed: Callable[[], None]) -> None:
        self._tls = tls
        self._metrics = metrics
        self._renewed = renewed
        self._complaint = ""
        self._looking = asyncio.Lock()

    async def run(self, interval: float) -> None:
        """Look every ``interval`` seconds until cancelled."""
        while True:
            self._show()
            await asyncio.sleep(min(interval, _IMPATIENCE) if self._tls.not_after is None else interval)
            await self.look()

    async def look(self) -> None:
        """Look now."""
        async with self._looking:
            try:
                self._serve(await self._tls.source.look())
                self._complaint = ""
            except ServeError as error:
                self._complain(str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look may go well
                self._complain(repr(error), error)
        self._show()

    def _serve(self, certificate: Certificate) -> None:
        present = self._tls.certificate
        if certificate == present:
            return
        self._tls.install(certificate)
        message = "certificate renewed" if certificate.chain != present.chain else "authorities changed"
        log.info(message, names=certificate.names, not_after=certificate.not_after)
        self._renewed()

    def _complain(self, complaint: str, cause: Exception | None = None) -> None:
        self._metrics.certificate_broken()
        if complaint != self._complaint:
            self._complaint = complaint
            log.error("there is no new certificate, the present one stays", reason=complaint, exc_info=cause)

    def _show(self) -> None:
        if self._tls.not_after is not None:
            self._metrics.certificate_loaded(self._tls.not_after)
