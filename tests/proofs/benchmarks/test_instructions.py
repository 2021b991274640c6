"""Counting instructions: what is counted, and what the counted program does without Valgrind."""

import asyncio
import platform
import shutil

import pytest

from tests.proofs.benchmarks import counted as program
from tests.proofs.benchmarks.day import body, by_operation, recorded
from tests.proofs.benchmarks.instructions import counted
from tests.support.bodies import body_about

pytestmark = pytest.mark.catalogue

amd64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="requests of Valgrind are machine code of amd64")


@amd64
def test_calls_are_answered_at_once_outside_of_valgrind() -> None:
    calls = by_operation(recorded())
    looked_at = [body(calls["Retain"][0])]
    asyncio.run(program.count([[body(several[0])] for several in calls.values()], looked_at))  # ends if one is not
    assert len(calls) == 8


@amd64
def test_call_that_waits_for_another_process_is_not_counted() -> None:
    obj = {
        "apiVersion": "machinelearning.seldon.io/v1",
        "kind": "SeldonDeployment",
        "metadata": {"name": "a", "namespace": "b"},
    }
    scripted = body_about("InterpretReplica", obj)
    with pytest.raises(SystemExit, match="not answered at once"):
        asyncio.run(program.count([[scripted]]))


def test_floor_does_more_the_more_rounds_it_has() -> None:
    assert [program.floor(rounds) for rounds in (5, 11, 20)] == [0, 1, 10]


def test_nothing_is_counted_without_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert counted() == {}
