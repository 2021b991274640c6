"""Servers that take turns, round after round, so that whatever else the machine does meets all of them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.proofs.benchmarks.day import sample
from tests.proofs.benchmarks.figures import Turns
from tests.proofs.benchmarks.load import Load
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.servers import Server


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: rounds, calls to each server in each, calls for the figure of memory, and starts."""

    rounds: int
    calls: int
    memory: int
    starts: int

    @property
    def quarter(self) -> "Effort":
        """A quarter of the calls, where there are many figures."""
        return replace(self, calls=self.calls // 4)

    def __str__(self) -> str:
        return f"median of {self.rounds} rounds of {self.calls:,} calls"


THOROUGH = Effort(rounds=5, calls=2_400, memory=40_000, starts=5)
REHEARSAL = Effort(rounds=1, calls=80, memory=400, starts=1)
QUICK = Effort(rounds=9, calls=400, memory=0, starts=0)


def measure(
    servers: Iterable[Server], load: Load, recorded: Sequence[bytes], objects: int, effort: Effort, rate: float
) -> list[Turns]:
    """Call every server about the same sample of so many objects twice in each round; return a result for each one.

    A round in which a call fails does not count. Raises MeasurementError if none is left.
    """
    several = [(server, Turns()) for server in servers]
    for number in range(effort.rounds):
        with sampled(recorded, objects, effort.calls, number) as files:
            found = {}
            try:
                for server, turns in several[:: 1 if number % 2 == 0 else -1]:
                    found[server.name] = turns, load.run(server, files, rate), load.run(server, files, rate)
            except MeasurementError as error:
                sys.stderr.write(f"round {number} does not count: {error}\n")
                continue
        for turns, cold, warm in found.values():
            turns.cold.append(cold)
            turns.warm.append(warm)
    if not several[0][1].cold:
        raise MeasurementError("no round was answered to its end")
    return [turns for _, turns in several]


@contextmanager
def sampled(recorded: Sequence[bytes], objects: int, count: int, number: int) -> Iterator[list[Path]]:
    """Write the bodies of a sample into files, which are there inside of the block."""
    with written(sample(recorded, objects, count, number)) as files:
        yield files


@contextmanager
def written(bodies: Iterable[bytes]) -> Iterator[list[Path]]:
    """Write bodies into files, which are there inside of the block."""
    with TemporaryDirectory() as folder:
        files = []
        for place, body in enumerate(bodies):
            files.append(Path(folder) / str(place))
            files[-1].write_bytes(body)
        yield files
