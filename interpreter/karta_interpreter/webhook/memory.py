"""The memory of a server: garbage collection that no call waits for, and free memory given back to the system."""

import ctypes
import gc
from typing import Final

RELEASE_SECONDS: Final = 30.0
"""How often memory is released. TLS reads into blocks of 256 KiB, and the data kept of each call lies between them: a
million calls leave 45 MiB, and five rounds of 12,000 connections leave 340 MiB instead of 75."""
_NEW: Final = 1_000
_MANY: Final = 5 * _NEW
"""The collector visits this many objects, those of 130 definitions, in 1 to 3 ms."""
_MOST_COUNTED: Final = 200_000
"""Objects that are counted, in 20 ms: perhaps few of them are left."""


def settle_garbage() -> None:
    """Exclude present objects from garbage collection, and have no collection visit more than `_MANY` others.

    Requests are trees, and definitions stay. The collector of Python would visit all of them for 0.3 s while a file of
    1,900 definitions is read, and for nothing: their only circles are the types of readers, which have a bound.
    """
    gc.freeze()
    gc.set_threshold(_NEW, _MANY // _NEW, 2**31 - 1)


def release_memory() -> None:
    """Collect garbage among new objects, and give free memory back to the system.

    What stays of many objects is excluded from garbage collection. So are very many, with the garbage among them.
    """
    # The last count is of collections of `_MANY`. To visit all objects of ten takes 10 to 40 ms, to count them 0.1 ms
    # for each thousand.
    are_few = gc.get_count()[2] * _MANY < _MOST_COUNTED and len(gc.get_objects()) <= 10 * _MANY
    if are_few:
        gc.collect()
    if not are_few or len(gc.get_objects()) > 5 * _MANY:
        gc.freeze()
    trim_memory()


def collect_garbage() -> None:
    """Collect garbage among all objects that are not excluded. Those of 100 new definitions take 10 ms."""
    gc.collect()


def trim_memory() -> None:
    """Give free memory, which glibc keeps between blocks that are in use, back to the operating system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
