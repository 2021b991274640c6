"""Certificates that the server signs itself, for as long as it runs: to try it out."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.pki.order import Order

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names that every certificate has which a server signs, for whoever comes by a forwarded port."""

_AUTHORITY_LIFE = timedelta(days=3650)
_LIFE = timedelta(days=90)


class SelfSignedCertificates:
    """An authority that lives as long as the process, and certificates for ``names`` signed by it.

    The authority is the ``caBundle`` for Karmada's webhook configuration. Certificates are renewed when two thirds
    of their life have passed. Nothing is kept on disk. Raises ServeError when nothing can be signed, as for a name
    that is none.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        wanted = tuple(dict.fromkeys([*names, *LOCAL]))
        now = datetime.now(UTC).timestamp()
        order = Order(wanted, now, _LIFE.total_seconds(), _AUTHORITY_LIFE.total_seconds())
        self._current, self._next = order.signed()

    def read(self) -> Certificate:
        """Return the certificate to serve now."""
        now = datetime.now(UTC).timestamp()
        if self._current.not_after - now < _LIFE.total_seconds() / 3:
            self._current, self._next = replace(self._next, now=now).signed()
        return self._current

    async def look(self) -> Certificate:
        """Return the certificate to serve from now on, without holding up whoever else runs here."""
        return await asyncio.to_thread(self.read)

    async def close(self) -> None:
        """Nothing is open."""
