"""Counting instructions: what is counted, and what the counted program does without Valgrind."""

import asyncio
import platform
import shutil

import pytest

from tests.proofs.benchmarks import counted as program
from tests.proofs.benchmarks.day import body, by_operation, gvk_of, recorded
from tests.proofs.benchmarks.instructions import SCRIPTED, counted

amd64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="requests of Valgrind are machine code of amd64")


@amd64
def test_calls_are_answered_at_once_outside_of_valgrind() -> None:
    calls = by_operation([call for call in recorded() if gvk_of(call)[2] != SCRIPTED])
    asyncio.run(program.count([[body(several[0])] for several in calls.values()]))  # ends if one is not
    assert len(calls) == 8


@amd64
def test_call_that_waits_for_another_process_is_not_counted() -> None:
    scripted = next(call for call in recorded() if gvk_of(call)[2] == SCRIPTED and b"InterpretReplica" in call)
    with pytest.raises(SystemExit, match="not answered at once"):
        asyncio.run(program.count([[body(scripted)]]))


def test_floor_does_more_the_more_rounds_it_has() -> None:
    assert [program.floor(rounds) for rounds in (5, 11, 20)] == [0, 1, 10]


def test_nothing_is_counted_without_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert counted() == {}
