"""The bodies of requests that are arriving or not answered yet: how many bytes of memory they may take."""

import asyncio
import ctypes
from typing import Final, Protocol

from karta_interpreter.base.sandbox.process import container_memory
from karta_interpreter.webhook.server.settings import MIB

_MOST: Final = 128 * MIB
_STILL: Final = 1.0
"""Seconds after which a body without progress gives its room to another body."""
_TRIMMED: Final = 64 * MIB
"""Bytes of bodies after which free memory is given back, because an attack leaves as much memory as it sent."""
_TRIM_SECONDS: Final = 30.0
"""How often free memory is given back in any case, which takes 1 to 3 ms. TLS reads into blocks of 256 KiB, and the
data kept of each call lies between them: a million calls leave 45 MiB."""


class Sender(Protocol):
    """A connection that receives a body."""

    @property
    def is_receiving(self) -> bool:
        """Return whether the body is still incomplete."""
        ...

    def has_room(self, size: int) -> bool:
        """Count bytes of the body. Return whether there is room for them."""
        ...

    def disconnect(self) -> None:
        """Close the connection at once."""
        ...


class Bodies:
    """Counts the bytes of bodies over all connections and limits them to ``most``.

    The received bytes of a body count until its request is answered or its client leaves. If there is no room for a
    further byte, the body that has stood still for longest, and for a second at least, is given up with its connection.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._passed = 0
        self._held: dict[Sender, tuple[int, float]] = {}

    def take(self, sender: Sender, size: int) -> bool:
        """Count bytes that a connection has sent. Return whether there is room for them."""
        now = asyncio.get_running_loop().time()
        while self._total + size > self._most:
            still = next(
                (each for each, (_, since) in self._held.items() if now - since >= _STILL and each.is_receiving), None
            )
            if still is None or still is sender:
                return False
            self.drop(still)
            still.disconnect()
        # Taken out and put in again: the first body is the one that has waited longest for a byte.
        held, _ = self._held.pop(sender, (0, now))
        self._held[sender] = (held + size, now)
        self._total += size
        return True

    def drop(self, sender: Sender) -> None:
        """Forget the body of a connection."""
        held, _ = self._held.pop(sender, (0, 0.0))
        self._total -= held
        self._passed += held
        if not self._total and self._passed >= _TRIMMED:
            self._passed = 0
            # Later: the last body is still in use.
            asyncio.get_running_loop().call_later(_STILL, trim_memory)


def trim_memory() -> None:
    """Give free memory, which glibc keeps between blocks that are in use, back to the operating system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


async def keep_memory_trimmed() -> None:
    """Give free memory back repeatedly, until cancelled."""
    while True:
        await asyncio.sleep(_TRIM_SECONDS)
        trim_memory()


def most_bytes(body_limit: int) -> int:
    """Return the room for bodies: an eighth of the container's memory and at most 128 MiB, but one body in any case."""
    return max(min(container_memory() // 8, _MOST), body_limit)
