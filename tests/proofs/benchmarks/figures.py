"""What rounds have shown, and what is made of that."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Figures:
    """One round against one server.

    ``cpu`` is the server's processor time per call, ``p50`` and ``p99`` are times until the answer, all in
    microseconds. ``rate`` is in calls per second.
    """

    cpu: float
    rate: float
    p50: float
    p99: float


@dataclass(slots=True)
class Turns:
    """The rounds of one server: the first time that it got the calls, and the second time."""

    cold: list[Figures] = field(default_factory=list)
    warm: list[Figures] = field(default_factory=list)

    @property
    def both(self) -> list[Figures]:
        """All of them, those of one round side by side."""
        return [figures for pair in zip(self.cold, self.warm, strict=True) for figures in pair]


def cpu(rounds: Sequence[Figures]) -> float:
    """Return the median processor time of a call."""
    return median(one.cpu for one in rounds)


def rate(rounds: Sequence[Figures]) -> float:
    """Return the median of the calls in a second."""
    return median(one.rate for one in rounds)


def times(rounds: Sequence[Figures], others: Sequence[Figures]) -> float:
    """Return how many times as dear as others these are: the median over the rounds, each compared with its own."""
    return median(one.cpu / other.cpu for one, other in zip(rounds, others, strict=True))


def spread(values: Sequence[float]) -> float:
    """Return how far the middle half of the values reaches, as a share of their median.

    >>> spread([9.0, 10.0, 10.0, 11.0, 50.0])
    0.1
    """
    ordered, outside = sorted(values), len(values) // 4
    return (ordered[-1 - outside] - ordered[outside]) / median(ordered)
