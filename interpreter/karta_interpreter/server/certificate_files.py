"""Certificates from files, such as a mounted Secret."""

import asyncio
import time
from pathlib import Path

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.pki.pair import check_pair


class CertificateFiles:
    """A chain and a key in PEM files, which somebody else renews.

    They are read as a whole each time: that sees every kind of change, also the link that a mounted Secret turns
    to a new folder, and costs less than asking what has changed. Only what is new is judged.
    """

    def __init__(self, chain: Path, key: Path) -> None:
        self._chain = chain
        self._key = key
        self._good: Certificate | None = None

    def read(self) -> Certificate:
        """Return the pair that the files hold now; raises ServeError when they hold none that can be served."""
        chain, key = _content(self._chain), _content(self._key)
        good = self._good
        if good and (good.chain, good.key) == (chain, key) and time.time() < good.not_after:
            return good
        self._good = check_pair(chain, key, sources={"chain": self._chain, "key": self._key})
        return self._good

    async def look(self) -> Certificate:
        """Return the same, without holding up whoever else runs here."""
        return await asyncio.to_thread(self.read)

    async def close(self) -> None:
        """Nothing is open."""


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ServeError(f"cannot read {path}: {error.strerror}; check the path and who may read it") from error
