"""Keeping the served certificate in step with its source."""

import asyncio
from collections.abc import Callable

from interpreter.errors import ServeError
from interpreter.server.log import log
from interpreter.server.metrics import Metrics
from interpreter.server.tls import Tls


async def renew_certificates(tls: Tls, metrics: Metrics, *, interval: float, renewed: Callable[[], None]) -> None:
    """Ask the source for its certificate every ``interval`` seconds until cancelled, serve a new one and tell of it.

    One that cannot be served leaves the present one in place. It is counted each time, and logged once.
    """
    complaint = ""
    while True:
        metrics.certificate_loaded(tls.not_after)
        await asyncio.sleep(interval)
        try:
            if await _renew(tls):
                renewed()
            complaint = ""
        except ServeError as error:
            metrics.certificate_broken()
            if str(error) != complaint:
                complaint = str(error)
                log.error("the new certificate is not served, the present one stays", reason=complaint)


async def _renew(tls: Tls) -> bool:
    certificate = await asyncio.to_thread(tls.source.read)
    if certificate == tls.certificate:
        return False
    tls.install(certificate)
    log.info("certificate renewed", names=certificate.names, not_after=certificate.not_after)
    return True
