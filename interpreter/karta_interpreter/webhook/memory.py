"""The memory of a server: garbage collection that no call waits for, and free memory given back to the system."""

import asyncio
import ctypes
import gc
from dataclasses import dataclass
from typing import Final

_TRIM_SECONDS: Final = 30.0
"""How often free memory is given back in any case, which takes 1 to 3 ms. TLS reads into blocks of 256 KiB, and the
data kept of each call lies between them: a million calls leave 45 MiB."""
_MANY_OBJECTS = 10_000
"""The collector visits this many, the objects of 200 definitions, in 10 ms."""
_MANY_VISITED = 150_000
"""The collector visits this many in 0.1 s. First calls leave 110,000."""


def settle_garbage() -> None:
    """Exclude present objects from garbage collection, and collect less often.

    Definitions stay, and requests are trees without cycles: this saves a fifth of the time that parsing a large body
    takes.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@dataclass(slots=True)
class _Settled:
    """The objects that collections leave out. Garbage among them is found when all are visited, in 0.1 s or longer."""

    number: int = 0
    """How many there were when all were visited, 0 before that is known."""
    later: int = 0
    """How many have come since then."""

    def accepts(self, new: int) -> bool:
        """Return whether to settle that many new objects. Objects that are soon replaced would be garbage there."""
        # Counting takes 0.1 ms for each thousand.
        self.number = self.number or gc.get_freeze_count()
        # A process without settled objects does not settle any.
        return self.number > 0 and new > max(_MANY_OBJECTS, min(self.number, _MANY_VISITED))

    def add(self, new: int) -> None:
        """Settle that many new objects. Visit all if many came later, and more than half as many as there were."""
        self.later += new
        if self.later <= max(self.number // 2, _MANY_VISITED):
            gc.freeze()
            return
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self.number, self.later = gc.get_freeze_count(), 0


_settled: Final = _Settled()


def release_memory() -> None:
    """Collect garbage, and give the memory of past connections and definitions back to the operating system.

    The readers of a definition are cyclic garbage, and the collector looks seldom (`settle_garbage`): a
    reload a second would grow the server by a third of a gigabyte in an hour. glibc keeps free memory between blocks
    that are in use: five rounds of 12,000 connections leave 340 MiB instead of 75.

    Many new objects, such as the definitions of a cluster, are settled, so that later collections are short.
    """
    gc.collect()
    new = len(gc.get_objects())
    if _settled.accepts(new):
        _settled.add(new)
    trim_memory()


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
