"""Certificates from files, such as a mounted Secret."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from interpreter.errors import ServeError
from interpreter.server.certificate import Certificate, check_pair


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A chain and a key in PEM files, which somebody else renews.

    They are read as a whole each time: that sees every kind of change, also the link that a mounted Secret turns
    to a new folder, and costs less than asking what has changed.
    """

    chain: Path
    key: Path

    def read(self) -> Certificate:
        """Return the pair that the files hold now; raises ServeError when they hold none that can be served."""
        sources = {"chain": self.chain, "key": self.key}
        return check_pair(_content(self.chain), _content(self.key), sources=sources)

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
