"""A rate limit for putting something back that another writer keeps changing."""


class RateLimit:
    """Allows ``burst`` times at once, and then one time every ``seconds``."""

    def __init__(self, burst: int, seconds: float) -> None:
        self.burst = burst
        self.seconds = seconds
        self._left = float(burst)
        self._since = 0.0

    def take(self, now: float) -> float:
        """Use one time up and return 0; or, when none is left, return the seconds until there is.

        >>> patience = RateLimit(burst=1, seconds=60)
        >>> patience.take(now=0), patience.take(now=15), patience.take(now=60)
        (0.0, 45.0, 0.0)
        """
        self._left = min(self.burst, self._left + (now - self._since) / self.seconds)
        self._since = now
        if self._left < 1:
            return (1 - self._left) * self.seconds
        self._left -= 1
        return 0.0
