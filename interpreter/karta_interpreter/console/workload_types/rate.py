"""Limits how often each client may ask."""

import time
from collections.abc import Callable
from math import ceil
from typing import Final

from karta_interpreter.console.workload_types.problems import ApiError

_MOST_CLIENTS: Final = 10_000


class RateLimit:
    """A bucket of tokens for each address: full it lasts for a minute's requests, and it fills up within a minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> None:
        """Count a request; raises ApiError, 429, where there were too many."""
        now = self._clock()
        left = min(self._left(client, now), self._size)
        if left < 1:
            wait = ceil((1 - left) * 60 / self._size)
            detail = f"more than {self._size:.0f} requests a minute"
            raise ApiError(429, detail, headers={"Retry-After": str(wait)})
        if len(self._buckets) >= _MOST_CLIENTS and client not in self._buckets:
            # Those that are full again are as good as new ones; the others have to wait less than a minute.
            self._buckets = {name: each for name, each in self._buckets.items() if self._left(name, now) < self._size}
            if len(self._buckets) >= _MOST_CLIENTS:
                self._buckets.clear()
        self._buckets[client] = left - 1, now

    def _left(self, client: str, now: float) -> float:
        left, since = self._buckets.get(client, (self._size, now))
        return left + (now - since) * self._size / 60
