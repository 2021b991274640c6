"""The meter writes what a long turn of the event loop costs, and nothing for one that waits."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.proofs.audit.turns import LEAST, MeteredLoop, dearest


def test_meter_writes_processor_time_of_long_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeteredLoop, "path", tmp_path / "turns")

    async def work() -> None:
        time.sleep(0.1)  # noqa: ASYNC251 - a turn that waits
        await asyncio.sleep(0)
        until = time.thread_time() + 3 * LEAST
        while time.thread_time() < until:
            pass

    with asyncio.Runner(loop_factory=MeteredLoop) as runner:
        runner.run(work())
    (turn,) = map(float, MeteredLoop.path.read_text().split())
    assert 3 * LEAST <= turn == dearest(MeteredLoop.path, 0)
    assert dearest(MeteredLoop.path, MeteredLoop.path.stat().st_size) == 0
