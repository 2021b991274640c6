"""What rounds have shown, and what is made of that."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median


@dataclass(frozen=True, slots=True)
class Figures:
    """One round against one server.

    ``cpu`` is the server's processor time per request, ``p50``, ``p99`` and ``longest`` are times until the answer,
    all in microseconds; ``rate`` is in requests per second, ``busy`` the share of its core that the client used.
    """

    count: int
    cpu: float
    rate: float
    p50: float
    p99: float
    longest: float
    busy: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The median of each figure over the rounds; ``spread`` is that of ``cpu``, ``least`` its smallest one."""

    cpu: float
    rate: float
    p50: float
    p99: float
    longest: float
    busy: float
    spread: float
    least: float

    @property
    def per_core(self) -> float:
        """The requests per second for which one core of the server is enough."""
        return 1e6 / self.cpu


def summary(rounds: Sequence[Figures]) -> Summary:
    """Return the medians of some rounds, of which there is at least one."""
    return Summary(
        cpu=median(one.cpu for one in rounds),
        rate=median(one.rate for one in rounds),
        p50=median(one.p50 for one in rounds),
        p99=median(one.p99 for one in rounds),
        longest=median(one.longest for one in rounds),
        busy=median(one.busy for one in rounds),
        spread=spread([one.cpu for one in rounds]),
        least=min(one.cpu for one in rounds),
    )


def spread(values: Sequence[float]) -> float:
    """Return how far the middle half of the values reaches, as a share of their median.

    >>> spread([9.0, 10.0, 10.0, 11.0, 50.0])
    0.1
    """
    ordered, outside = sorted(values), len(values) // 4
    return (ordered[-1 - outside] - ordered[outside]) / median(ordered)


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that this share of all values does not exceed.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5)
    3.0
    """
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def mean_cpu(several: Iterable[Summary]) -> float:
    """Return the mean of the processor times, for requests that are equally frequent."""
    return fmean(one.cpu for one in several)
