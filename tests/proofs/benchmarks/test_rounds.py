"""Who is called in a round, and which rounds count."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from tests.proofs.benchmarks import rounds as module
from tests.proofs.benchmarks.figures import Figures
from tests.proofs.benchmarks.load import Load
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.rounds import Effort, measure
from tests.proofs.benchmarks.servers import Server

OURS, FLOOR = (Server(name, 1, 1, "/", 0.0, Path()) for name in ("ours", "floor"))


class Recorder:
    """A load that notes who is called, and fails some calls."""

    def __init__(self, *failing: int) -> None:
        self.called: list[str] = []
        self._failing = failing

    def run(self, server: Server, _: Sequence[Path], __: float) -> Figures:
        self.called.append(server.name)
        if len(self.called) in self._failing:
            raise MeasurementError("not a success")
        return Figures(float(len(self.called)), 1.0, 1.0, 1.0)


@pytest.fixture(autouse=True)
def _no_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "sample", lambda *_: [b"body"])


def _measured(load: Recorder, rounds: int) -> list[list[float]]:
    effort = Effort(rounds=rounds, calls=1, memory=0, starts=0)
    turns = measure((FLOOR, OURS), cast("Load", load), [], 200, effort, 0)
    return [[one.cpu for one in several.both] for several in turns]


def test_servers_take_turns_in_the_other_direction_in_every_second_round() -> None:
    load = Recorder()
    assert _measured(load, 2) == [[1.0, 2.0, 7.0, 8.0], [3.0, 4.0, 5.0, 6.0]]
    assert load.called == ["floor", "floor", "ours", "ours", "ours", "ours", "floor", "floor"]


def test_round_with_an_error_counts_for_nobody() -> None:
    assert _measured(Recorder(3), 2) == [[6.0, 7.0], [4.0, 5.0]]


def test_measurement_without_a_round_is_an_error() -> None:
    with pytest.raises(MeasurementError, match="no round"):
        _measured(Recorder(1), 1)
