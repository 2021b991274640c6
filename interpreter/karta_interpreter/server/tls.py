"""TLS for a server whose certificate changes while it runs."""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate import Certificate, CertificateSource
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics

_FIRST_INTERVAL = 1.0
"""Seconds between two looks while there is no certificate at all."""


class Tls:
    """An SSL context with the certificate of a source, which is asked again at intervals.

    Connections that are open keep the certificate they began with; new ones get the one installed last. A certificate
    that cannot be read or served leaves the present one in place: each failure is counted, and a reason is logged once.
    ``renewed`` is called when a new certificate is served.
    """

    def __init__(self, source: CertificateSource, metrics: Metrics, renewed: Callable[[], None]) -> None:
        self.source = source
        self.context = _context()
        self.certificate = source.read()
        self._metrics = metrics
        self._renewed = renewed
        self._problem = ""
        self._looking = asyncio.Lock()
        self.install(self.certificate)

    @property
    def not_after(self) -> float | None:
        """Until when the certificate is valid, in seconds since 1970; None while a stand-in is served."""
        return None if self.certificate.stands_in else self.certificate.not_after

    def install(self, certificate: Certificate) -> None:
        """Serve a certificate from now on; raises ServeError, and changes nothing, when OpenSSL does not take it.

        To be called where the event loop runs: no handshake may see half a change.
        """
        # A context that refuses a key has already taken the chain, so the first try is on a context without users.
        for context in (_context(), self.context):
            _load(context, certificate)
        self.certificate = certificate
        if self.not_after is not None:
            self._metrics.certificate_loaded(self.not_after)

    async def run(self, interval: float) -> None:
        """Look for another certificate every ``interval`` seconds until cancelled."""
        while True:
            await asyncio.sleep(min(interval, _FIRST_INTERVAL) if self.not_after is None else interval)
            await self.look()

    async def look(self) -> None:
        """Ask the source, and serve what it has."""
        async with self._looking:
            try:
                certificate = await self.source.look()
                if certificate != self.certificate:
                    self._renew(certificate)
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed after any error
                self._metrics.certificate_broken()
                problem, cause = (str(error), None) if isinstance(error, ServeError) else (repr(error), error)
                if problem != self._problem:
                    log.error("there is no new certificate, the present one stays", reason=problem, exc_info=cause)
                self._problem = problem
            else:
                self._problem = ""

    def _renew(self, certificate: Certificate) -> None:
        message = "certificate renewed" if certificate.chain != self.certificate.chain else "authorities changed"
        self.install(certificate)
        log.info(message, names=certificate.names, not_after=certificate.not_after)
        self._renewed()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load(context: ssl.SSLContext, certificate: Certificate) -> None:
    # An OSError other than `ssl.SSLError` is not about the certificate: the machine has no file handles left.
    with _private_file(certificate.chain) as chain, _private_file(certificate.key) as key:
        try:
            context.load_cert_chain(chain, key)
        except ssl.SSLError as error:
            raise ServeError(f"OpenSSL does not take the certificate: {error.reason or error}") from error


@contextmanager
def _private_file(content: bytes) -> Iterator[str]:
    """Yield the path of a file for a key: `ssl` reads no other way. In memory where possible, so never on a disk."""
    in_memory = hasattr(os, "memfd_create")
    with os.fdopen(os.memfd_create("pair"), "wb") if in_memory else tempfile.NamedTemporaryFile("wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}" if in_memory else file.name
