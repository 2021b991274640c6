"""Cases measured in turn, round after round, so that whatever else the machine does meets all of them."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.proofs.benchmarks.figures import Figures, Summary, summary
from tests.proofs.benchmarks.load import Load, Way
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.servers import Server


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: rounds, the seconds that each case gets in each, and what else takes time when it grows.

    Not ``whole`` is only what ratios are made of, and one figure of each other kind.
    """

    whole: bool
    rounds: int
    seconds: float
    sizes: dict[str, int]
    definitions: tuple[int, ...]
    owners: tuple[int, ...]
    requests: int
    starts: int
    limit: int

    def __str__(self) -> str:
        return f"median of {self.rounds} interleaved rounds of {self.seconds:g} s"


THOROUGH = Effort(
    whole=True,
    rounds=5,
    seconds=0.4,
    sizes={"5 KB": 5 * 1024, "24 KB": 24 * 1024, "100 KB": 100 * 1024, "1 MB": 1_000_000},
    definitions=(10, 100, 1000, 10_000),
    owners=(0, 1, 4, 16, 64),
    requests=1_000_000,
    starts=5,
    limit=45 * 60,
)
REHEARSAL = replace(
    THOROUGH, rounds=1, seconds=0.05, definitions=(10, 1000), owners=(0, 4), requests=2000, starts=1, limit=10 * 60
)
QUICK = Effort(
    whole=False,
    rounds=5,
    seconds=0.15,
    sizes={"5 KB": 5 * 1024, "24 KB": 24 * 1024},
    definitions=(10, 1000),
    owners=(0, 16),
    requests=20_000,
    starts=1,
    limit=240,
)
QUICKEST = replace(QUICK, rounds=6, seconds=0.1, limit=55)


_FORGIVEN: Final = 1


@dataclass(slots=True)
class Case:
    """Requests to one server; bodies take turns. ``failures`` says why rounds are missing; one of them is forgiven."""

    server: Server
    bodies: tuple[Path, ...]
    connections: int = 8
    way: Way = "first"
    rounds: list[Figures] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def found(self) -> Summary:
        """The medians of the rounds; raises MeasurementError when the case has failed."""
        if not self.worked:
            raise MeasurementError(next(iter(self.failures), "this was not measured"))
        return summary(self.rounds)

    @property
    def worked(self) -> bool:
        """Whether there is something to be told."""
        return bool(self.rounds) and len(self.failures) <= _FORGIVEN


def measure(cases: Iterable[Case], load: Load, rounds: int, seconds: float) -> None:
    """Run every case once per round, in the other direction in every second one."""
    several = list(cases)
    for number in range(rounds):
        for case in several if number % 2 == 0 else reversed(several):
            if len(case.failures) <= _FORGIVEN:
                _measure(case, load, seconds)


def _measure(case: Case, load: Load, seconds: float) -> None:
    try:
        figures = load.run(case.server, case.bodies, seconds, connections=case.connections, way=case.way)
    except MeasurementError as error:
        case.failures.append(str(error))
        sys.stderr.write(f"{case.server.name}, {case.bodies[0].name}: {error}\n")
        return
    case.rounds.append(figures)
