"""How often something may be done."""

from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Returns a time in seconds."""


class RateLimit:
    """Allows ``burst`` times at once, and then one time every ``seconds``."""

    def __init__(self, burst: int, seconds: float) -> None:
        self.burst = burst
        self.seconds = seconds
        self._left = float(burst)
        self._since = 0.0

    def take(self, now: float) -> float:
        """Use one time up and return 0. If no time is left, return the seconds until there is one.

        >>> limit = RateLimit(burst=1, seconds=60)
        >>> limit.take(now=0), limit.take(now=15), limit.take(now=60)
        (0.0, 45.0, 0.0)
        """
        self._left = min(self.burst, self._left + (now - self._since) / self.seconds)
        self._since = now
        if self._left < 1:
            return (1 - self._left) * self.seconds
        self._left -= 1
        return 0.0
