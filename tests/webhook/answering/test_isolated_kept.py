"""Processes that have answered a large call and are kept for further ones: which, for how long, and what they know."""

import asyncio
import json
import os
import resource
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.engine.operations import interpret
from karta_interpreter.webhook.answering import child_program
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import decode, encode_results
from tests.support.settling import processes_of, settled
from tests.support.waiting import HANG, until
from tests.webhook.answering import large
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS
from tests.webhook.process.processes import is_there

MIB = 2**20
SECONDS = HANG


@pytest.fixture
async def calls(shared: ChildLane) -> AsyncIterator[ChildLane]:
    """Calls with one process at most, which has answered others: it takes a while to start."""
    await until(lambda: is_done(shared) and len(processes_of(shared.pool)) < 2)
    yield shared
    await settled()


@pytest.fixture
def new_calls() -> Iterator[ChildLane]:
    made = ChildLane()
    yield made
    made.pool.close()


@pytest.fixture(scope="module")
def definitions() -> dict[str, Definition]:
    loaded = load_documents((KARTAS / "mill.yaml").read_text() + "\n---\n" + (KARTAS / "hostile.yaml").read_text(), "")
    return {each.definition.gvk.kind: each.definition for each in loaded if each.definition}


def mill(name: str, stones: int, **fields: Any) -> bytes:
    """Return the body of a call about a mill with so many stones."""
    obj = json.loads(question())["request"]["object"]
    obj |= {"metadata": {"name": name}, "spec": obj["spec"] | {"stones": stones}}
    return question(object=obj, name=name, uid=f"uid-{name}", **fields)


async def answered(calls: ChildLane, body: bytes, definition: Definition, seconds: float = SECONDS) -> tuple[int, Any]:
    """Return the id of the process that has answered a call, when it is done with it, and its answer."""
    async with calls.reading(body, seconds) as read:
        [pid] = processes_of(calls.pool)
        answer = await read.answer(PendingCall(0.0, body, read.request, definition), seconds)
    await until(lambda: is_done(calls))
    return pid, json.loads(answer)["response"]


def is_done(calls: ChildLane) -> bool:
    """Whether every process there is waits for its next request."""
    return len(calls.pool._idle) == len(processes_of(calls.pool))  # noqa: SLF001 - nothing else shows it


async def test_process_answers_successive_calls(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    definition, pids = definitions["GrainMill"], set()
    for stones in (3, 5, 0, 7):
        body = mill(f"mill-{stones}", stones)
        pid, answer = await answered(calls, body, definition)
        request = decode(body)
        assert request.call
        expected = json.loads(encode_results(request, interpret(definition, request.call)))["response"]
        assert answer == expected
        assert (answer["uid"], answer["replicas"]) == (f"uid-mill-{stones}", stones)
        pids.add(pid)
    assert len(pids) == 1


async def test_process_uses_definition_of_each_call(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    definition = definitions["GrainMill"]
    other = json.loads(json.dumps(definition.manifest).replace(".spec.stones", ".spec.sieves"))
    [loaded] = load_documents(json.dumps(other), "")
    assert loaded.definition
    obj = json.loads(question())["request"]["object"]
    body = question(object=obj | {"spec": obj["spec"] | {"sieves": 8}})
    assert definition.name == loaded.definition.name
    found = [await answered(calls, body, each) for each in (definition, loaded.definition, definition)]
    assert [answer["replicas"] for _, answer in found] == [3, 8, 3]
    assert len({pid for pid, _ in found}) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * 5000, id="no JSON"),
        pytest.param(b"{}" + b" " * 5000, id="no uid"),
        pytest.param(question("Windmill"), id="a kind that nobody asks it about"),
        pytest.param(question(operation="Prune"), id="no operation"),
    ],
)
async def test_unanswered_call_leaves_nothing_to_the_next(
    calls: ChildLane, definitions: dict[str, Definition], body: bytes
) -> None:
    first, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    with suppress(RequestError, InterpretationError):
        await large.answered(calls, body, None, SECONDS)
    second, answer = await answered(calls, mill("oats", 4), definitions["GrainMill"])
    assert (second, answer["uid"], answer["replicas"]) == (first, "uid-oats", 4)


async def test_wrong_answer_keeps_its_process(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    first, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    with pytest.raises(InterpretationError, match="negative"):
        await answered(calls, mill("broken", -1), definitions["GrainMill"])
    assert (await answered(calls, mill("oats", 4), definitions["GrainMill"]))[0] == first


async def test_stopped_expression_leaves_process_to_next_call(
    calls: ChildLane, definitions: dict[str, Definition]
) -> None:
    first, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    with pytest.raises(InterpretationError, match="longer than"):
        await answered(calls, question("Treadmill", "InterpretHealth"), definitions["Treadmill"])
    second, answer = await answered(calls, mill("oats", 4), definitions["GrainMill"])
    assert (second, answer["replicas"]) == (first, 4)


@pytest.mark.slow
async def test_cancelled_call_ends_its_process(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    first, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    os.kill(first, signal.SIGSTOP)
    call = asyncio.create_task(answered(calls, mill("barley", 3), definitions["GrainMill"]))
    await until(lambda: not is_done(calls))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    second, answer = await answered(calls, mill("oats", 4), definitions["GrainMill"])
    assert (second != first, answer["uid"], answer["replicas"]) == (True, "uid-oats", 4)
    await until(lambda: is_reaped(first))


@pytest.mark.slow
async def test_hostile_body_ends_its_process(
    new_calls: ChildLane, definitions: dict[str, Definition], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_program, "MEMORY", 128 * MIB)  # in production it takes more, and longer
    first, _ = await answered(new_calls, mill("rye", 2), definitions["GrainMill"])
    body = b'{"request":[' + b"[[]]," * 1_000_000 + b"1]}"
    with pytest.raises(RequestError, match="128 MiB of memory"):
        await large.answered(new_calls, body, None, SECONDS)
    second, answer = await answered(new_calls, mill("oats", 4), definitions["GrainMill"])
    assert (second != first, answer["replicas"]) == (True, 4)


@pytest.mark.slow
async def test_grown_process_is_not_kept(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    obj = json.loads(mill("rye", 2))["request"]["object"]
    body = question(object=obj | {"ballast": "@"}).replace(b'"@"', b"[%b0]" % (b"[0.5]," * 1_500_000))
    first, _ = await answered(calls, body, definitions["GrainMill"])
    assert (await answered(calls, mill("oats", 4), definitions["GrainMill"]))[0] != first


@pytest.mark.slow
async def test_process_that_remembers_much_is_not_kept(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    manifest = definitions["GrainMill"].manifest
    metadata = {**manifest["metadata"], "annotations": {"note": "x" * 25 * MIB}}
    long = replace(definitions["GrainMill"], manifest={**manifest, "metadata": metadata})
    first, _ = await answered(calls, mill("rye", 2), long)
    assert (await answered(calls, mill("oats", 4), definitions["GrainMill"]))[0] != first


@pytest.mark.slow
async def test_killed_process_gets_no_call(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    first, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    os.kill(first, signal.SIGKILL)
    await until(lambda: not is_there(first))
    second, answer = await answered(calls, mill("oats", 4), definitions["GrainMill"])
    assert (second != first, answer["replicas"]) == (True, 4)


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def is_reaped(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


async def test_process_of_a_call_has_little_memory(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    pid, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"], 5.0)
    # Its memory, and the address space that takes none.
    assert 2**30 <= resource.prlimit(pid, resource.RLIMIT_AS)[0] < 2**31


async def test_next_call_waits_for_process_that_settles(calls: ChildLane, definitions: dict[str, Definition]) -> None:
    obj = json.loads(question())["request"]["object"]
    body = question(object=obj | {"ballast": [[number] for number in range(200_000)]})
    pids = set[frozenset[int]]()
    for _ in range(4):
        await large.answered(calls, body, definitions["GrainMill"], SECONDS)
        pids.add(processes_of(calls.pool))
    assert len(pids) == 1


@pytest.mark.slow
async def test_idle_process_ends_without_leaking_descriptors(definitions: dict[str, Definition]) -> None:
    before = descriptors()
    calls = ChildLane(idle_seconds=0.2)
    pid, _ = await answered(calls, mill("rye", 2), definitions["GrainMill"])
    await until(lambda: is_reaped(pid))
    assert not processes_of(calls.pool)
    await asyncio.gather(*(answer(calls, definitions["GrainMill"]) for _ in range(2)))
    await until(lambda: not processes_of(calls.pool))
    await until(lambda: descriptors() <= before)
    calls.pool.close()


async def answer(calls: ChildLane, definition: Definition) -> bytes:
    return await large.answered(calls, mill("rye", 2), definition, SECONDS)
