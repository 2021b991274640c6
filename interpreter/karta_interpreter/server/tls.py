"""TLS for a server whose certificate changes while it runs."""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Callable
from typing import IO

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate import Certificate, CertificateSource
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics

_FIRST_INTERVAL = 1.0
"""Seconds between two looks while there is no certificate at all."""


class Tls:
    """An SSL context with the certificate of a source.

    Connections that are open keep the certificate they began with; new ones get the one installed last.
    """

    def __init__(self, source: CertificateSource) -> None:
        self.source = source
        self.context = _context()
        self.certificate = source.read()
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


class Renewal:
    """Asks the source for its certificate, and serves a new one: then ``renewed`` is called.

    A certificate that cannot be read or served leaves the present one in place. Each failure is counted, and a
    reason is logged once.
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
            await asyncio.sleep(min(interval, _FIRST_INTERVAL) if self._tls.not_after is None else interval)
            await self.look()

    async def look(self) -> None:
        """Look now."""
        async with self._looking:
            try:
                self._serve(await self._tls.source.look())
                self._complaint = ""
            except ServeError as error:
                self._complain(str(error))
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed after any error
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


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load(context: ssl.SSLContext, certificate: Certificate) -> None:
    """Have a context serve a certificate.

    An OSError other than `ssl.SSLError` is not about the certificate: the machine has no file handles left.
    """
    with _private_file(certificate.chain) as chain, _private_file(certificate.key) as key:
        try:
            context.load_cert_chain(_path(chain), _path(key))
        except ssl.SSLError as error:
            raise ServeError(f"OpenSSL does not take the certificate: {error.reason or error}") from error


def _private_file(content: bytes) -> IO[bytes]:
    """Return a file for a key: `ssl` reads no other way. In memory where that is possible, so never on a disk."""
    # The caller closes it.
    file: IO[bytes] = (
        os.fdopen(os.memfd_create("certificate"), "wb")
        if hasattr(os, "memfd_create")
        else tempfile.NamedTemporaryFile("wb")  # noqa: SIM115 - the same
    )
    file.write(content)
    file.flush()
    return file


def _path(file: IO[bytes]) -> str:
    return file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}"
