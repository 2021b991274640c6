"""TLS for a server whose certificate changes while it runs."""

import ssl
from typing import Protocol

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.pki.pair import load_pair


class CertificateSource(Protocol):
    """Where certificates come from."""

    def read(self) -> Certificate:
        """Return the certificate to serve at the start; raises ServeError when there is none."""

    async def look(self) -> Certificate:
        """Return the certificate to serve from now on; raises ServeError when that cannot be told."""

    async def close(self) -> None:
        """Close connections that the source has opened."""


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
        """Until when the certificate is valid, in seconds since 1970; None while there is none to speak of."""
        return None if self.certificate.stands_in else self.certificate.not_after

    def install(self, certificate: Certificate) -> None:
        """Serve a certificate from now on; raises ServeError, and changes nothing, when OpenSSL does not take it.

        To be called where the event loop runs: no handshake may see half a change.
        """
        # A context that refuses a key has already taken the chain, so the first try is on one that nobody uses.
        for context in (_context(), self.context):
            _load(context, certificate)
        self.certificate = certificate


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load(context: ssl.SSLContext, certificate: Certificate) -> None:
    try:
        load_pair(context, certificate.chain, certificate.key)
    except (ssl.SSLError, ValueError) as error:
        raise ServeError(f"OpenSSL does not take the certificate: {getattr(error, 'reason', None) or error}") from error
