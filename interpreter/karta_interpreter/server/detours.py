"""Which calls are kept off the event loop, because scripts have lately taken too long for it."""

import time
from collections.abc import Callable
from typing import Final

from karta_interpreter.k8s.gvk import GVK

_SECONDS: Final = 30.0


class Detours:
    """Remembers operations of kinds for half a minute.

    >>> detours, health = Detours(), (GVK("example.io", "v1", "Job"), "InterpretHealth")
    >>> health in detours, detours.add(*health), health in detours
    (False, True, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[tuple[GVK, str], float] = {}

    def add(self, gvk: GVK, operation: str) -> bool:
        """Remember an operation from now on; whether it was not remembered before."""
        is_new = (gvk, operation) not in self
        self._until[gvk, operation] = self._clock() + _SECONDS
        return is_new

    def __contains__(self, operation: tuple[GVK, str]) -> bool:
        """Whether an operation of a kind is remembered."""
        until = self._until.get(operation)
        if until is None:
            return False
        if self._clock() < until:
            return True
        del self._until[operation]
        return False
