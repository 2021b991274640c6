"""Keeping the served certificate in step with its source."""

import asyncio

from interpreter.errors import ServeError
from interpreter.server.log import log
from interpreter.server.metrics import Metrics
from interpreter.server.tls import Tls


async def renew_certificates(tls: Tls, metrics: Metrics, *, interval: float) -> None:
    """Ask the source for its certificate every ``interval`` seconds until cancelled, and serve a new one.

    One that cannot be served leaves the present one in place. It is counted each time, and logged once.
    """
    complaint = ""
    while True:
        metrics.certificate_loaded(tls.not_after)
        await asyncio.sleep(interval)
        try:
            await _renew(tls)
            complaint = ""
        except ServeError as error:
            metrics.certificate_broken()
            if str(error) != complaint:
                complaint = str(error)
                log.error("the new certificate is not served, the present one stays", reason=complaint)


async def _renew(tls: Tls) -> None:
    certificate = await asyncio.to_thread(tls.source.read)
    if certificate != tls.certificate:
        tls.install(certificate)
        log.info("certificate renewed", names=certificate.names, not_after=certificate.not_after)
