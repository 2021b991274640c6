"""The result of one attack, and the bounds that it is held to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

FLOOR = 0.1 / 3
"""Seconds that a wait of the control counts for at least, so that three times as long is 100 ms on a quiet machine."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an attack tried, how the server answered, and figures by name, which bounds judge."""

    tries: int
    answers: Mapping[str, int]
    figures: Mapping[str, float] = field(default_factory=dict)

    def with_figures(self, figures: Mapping[str, float]) -> "Found":
        """Return the same with more figures."""
        return Found(self.tries, self.answers, {**self.figures, **figures})


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of one probe for its answers, in seconds; ``lost`` requests had none."""

    count: int
    lost: int
    p99: float
    worst: float

    @classmethod
    def of(cls, waits: Iterable[float], lost: int) -> "Waits":
        """Summarize single waits.

        >>> Waits.of([0.3, 0.1, 0.2], 0)
        Waits(count=3, lost=0, p99=0.3, worst=0.3)
        """
        ordered = sorted(waits)
        if not ordered:
            return cls(0, lost, 0.0, 0.0)
        return cls(len(ordered), lost, ordered[min(len(ordered) * 99 // 100, len(ordered) - 1)], ordered[-1])

    def over(self, control: "Waits") -> float:
        """Return the ratio of the worst waits, where the control's counts for `FLOOR` at least.

        >>> Waits(9, 0, 0.1, 0.2).over(Waits(9, 0, 0.001, 0.05))
        4.0
        """
        return self.worst / max(control.worst, FLOOR)


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest value that a figure may have, and why."""

    figure: str
    most: float
    reason: str

    def objection(self, figures: Mapping[str, float]) -> str | None:
        """Return what is wrong with a figure; a figure that is missing is wrong, too.

        >>> Bound("others wait", 20, "a call waits 100 ms").objection({"others wait": 41.0})
        'others wait is 41, at most 20: a call waits 100 ms'
        """
        found = figures.get(self.figure)
        if found is None:
            return f"{self.figure} was not measured: {self.reason}"
        if found <= self.most:
            return None
        return f"{self.figure} is {found:.3g}, at most {self.most:g}: {self.reason}"


def objections(found: Found, bounds: Iterable[Bound]) -> Sequence[str]:
    """Return what is wrong with a result, in the order of the bounds."""
    return [text for bound in bounds if (text := bound.objection(found.figures))]
