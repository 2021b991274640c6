"""Certificates that the server signs itself, for as long as it runs: to try it out."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from interpreter.server.authority import Authority
from interpreter.server.certificate import Certificate

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names that every certificate has which a server signs, for whoever comes by a forwarded port."""

_AUTHORITY_LIFE = timedelta(days=3650)
_LIFE = timedelta(days=90)


class SelfSignedCertificates:
    """An authority that lives as long as the process, and certificates for ``names`` signed by it.

    The authority is the ``caBundle`` for Karmada's webhook configuration. Certificates are renewed when two thirds
    of their life have passed. Nothing is kept on disk.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = tuple(dict.fromkeys([*names, *LOCAL]))
        now = datetime.now(UTC)
        self._authority = Authority.create(now, _AUTHORITY_LIFE)
        self._current = self._authority.issue(self._names, now, _LIFE)

    def read(self) -> Certificate:
        """Return the certificate to serve now."""
        now = datetime.now(UTC)
        if self._current.not_after - now.timestamp() < _LIFE.total_seconds() / 3:
            self._current = self._authority.issue(self._names, now, _LIFE)
        return self._current

    async def look(self) -> Certificate:
        """Return the certificate to serve from now on."""
        return self.read()

    async def close(self) -> None:
        """Nothing is open."""
