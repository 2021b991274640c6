"""How often an API server is asked."""

import random
from dataclasses import dataclass

_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Pace:
    """Times in seconds.

    ``first`` and ``longest`` are the pauses after the first and after many failures in a row. ``absent`` is how long
    a collection must be missing before its objects are given up, or forbidden before the server stops to wait for it.
    ``watch`` is how long one watch lasts; for that long a connection that broke without a sign can go unnoticed.
    ``report`` is the time between two updates of conditions, ``forbidden`` that before another try.
    """

    first: float = 0.2
    longest: float = 30.0
    absent: float = 30.0
    watch: int = 30
    report: float = 15.0
    forbidden: float = 600.0

    def pause(self, failures: int) -> float:
        """The pause after that many failures in a row: doubled with each, and shortened by up to a half by chance.

        >>> 0.1 <= Pace().pause(1) <= 0.2
        True
        >>> 15 <= Pace().pause(1000) <= 30
        True
        """
        whole = min(self.first * 2.0 ** min(failures - 1, _DOUBLINGS), self.longest)
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - keeps replicas apart, hides nothing
