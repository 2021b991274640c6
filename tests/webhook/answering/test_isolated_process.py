"""The process of a large call that ends without an answer, and how many there are at once."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.definitions.karta.packing import pack, unpack
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.webhook.answering import child_program
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import MIB, Settings
from tests.support.examples import few
from tests.support.settling import processes_of
from tests.support.waiting import HANG, until
from tests.webhook.answering import large
from tests.webhook.process.client import Answer, Client, post, question
from tests.webhook.process.process import KARTAS

MILL = Definition("mill", GVK("mill.example.org", "v1", "GrainMill"), (ComponentRules("mill", "mill"),))
LARGE = question("GrainMill", "Retain") + b" " * 3 * MIB
ABOUT: dict[str, Any] = {"uid": "u", "gvk": ["mill.example.org", "v1", "GrainMill"], "namespace": "", "name": "rye"}
ABOUT |= {"operation_name": "Retain", "problem": None}
STARTS = """
import os, signal, time
seen = []
def start():
    return answer
def answer(channel, letter, payload):
"""
READS = f"{STARTS}    "
KNOWS = f"""{STARTS}    channel.send({child_program.ABOUT!r}, {json.dumps(ABOUT).encode()!r})
    channel.receive()
    """


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """A function that sets the program which runs instead of the one that answers calls."""
    path = tmp_path / "child.py"
    monkeypatch.setattr(child_program, "__file__", str(path))
    return path.write_text


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        pytest.param("import os; os.abort()", 413, "more than 1024 MiB of memory", id="no memory while it starts"),
        pytest.param(f"{READS}os.abort()", 413, "more than 1024 MiB of memory", id="no memory"),
        pytest.param(f"{READS}os.kill(os.getpid(), 9)", 503, "was killed", id="killed"),
        pytest.param(f"{READS}time.sleep(600)", 503, "it takes longer than", id="too slow", marks=pytest.mark.slow),
        pytest.param(f"{READS}os._exit(3)", 500, "internal error", id="a bug"),
        pytest.param(f"{READS}raise ValueError('secret')", 500, "internal error", id="a bug that has a name"),
    ],
)
async def test_process_that_ends_before_uid_is_http_error(
    program: Callable[[str], object], source: str, code: int, said: str
) -> None:
    program(source)
    answer = await ask_locally("sleep" in source)
    assert (answer.status, answer.json["kind"]) == (code, "Status")
    assert said in answer.json["message"]


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        pytest.param(f"{KNOWS}os.abort()", 422, "more than 1024 MiB of memory", id="no memory"),
        pytest.param(f"{KNOWS}raise MemoryError", 422, "more than 1024 MiB of memory", id="no memory, in Python"),
        pytest.param(f"{KNOWS}raise SystemError from MemoryError()", 422, "more than 1024 MiB",
            id="no memory, in a library", marks=pytest.mark.slow),
        pytest.param(f"{KNOWS}os.kill(os.getpid(), 9)", 503, "was killed", id="killed"),
        pytest.param(f"{KNOWS}os._exit(3)", 500, "internal error", id="a bug"),
        pytest.param(f"{KNOWS}raise ValueError('secret')", 500, "internal error", id="a bug that has a name"),
    ],
)  # fmt: skip
async def test_process_that_ends_before_answer_is_failure(
    program: Callable[[str], object], source: str, code: int, said: str
) -> None:
    program(source)
    answer = await ask_locally("sleep" in source)
    assert (answer.status, answer.response["uid"]) == (200, "u")
    assert answer.response["status"]["code"] == code
    assert said in answer.response["status"]["message"]


async def test_process_that_answers_too_late_is_stopped(program: Callable[[str], object]) -> None:
    """The process has answered one call before, so that its start takes nothing from the time of the other."""
    program(
        f"{KNOWS}seen.append(1); channel.send({child_program.ANSWER!r}, b'{{}}') if len(seen) < 2 else time.sleep(600)"
    )
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True, webhook_timeout=int(HANG))
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        assert (await client.ask(post(LARGE, f"/interpret?timeout={HANG:.0f}s"))).json == {}
        answer = await client.ask(post(LARGE, "/interpret?timeout=1s"))
        await client.close()
    assert answer.response["status"]["code"] == 504
    assert "Retain took longer than 0.5 s" in answer.response["status"]["message"]


async def ask_locally(in_vain: bool) -> Answer:
    """Ask a server in this process, into which a test can reach, and be patient if there is something to wait for."""
    path = "/interpret?timeout=3s" if in_vain else f"/interpret?timeout={HANG:.0f}s"
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True, webhook_timeout=int(HANG))
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        answer = await client.ask(post(LARGE, path))
        await client.close()
    return answer


async def test_process_that_starts_too_late_is_kept(program: Callable[[str], object], tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    waits = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    program(f"{waits}{KNOWS}channel.send({child_program.ANSWER!r}, str(os.getpid()).encode())")
    calls = ChildLane()
    with pytest.raises(RequestError, match="takes long to start"):
        await large.answered(calls, LARGE, MILL, 0.01)
    gate.touch()
    await until(lambda: processes_of(calls.pool))
    late = processes_of(calls.pool)

    answered = int(await large.answered(calls, LARGE, MILL, HANG))

    assert {answered, *late} == processes_of(calls.pool), "none was stopped"
    calls.pool.close()


async def test_large_calls_and_reviews_leave_one_process_to_each_other(program: Callable[[str], object]) -> None:
    """Two large calls are answered at a time, a third waits, and a review does not wait for any of them."""
    program(f"{STARTS}    time.sleep(600) if letter == {child_program.CALL!r} else review(channel)\n" + REVIEWS)
    calls = ChildLane()
    tasks = [asyncio.create_task(large.answered(calls, LARGE, MILL, HANG)) for _ in range(3)]
    await until(lambda: len(processes_of(calls.pool)) == 2)
    assert await calls.review(b"{}", HANG, {}) == b"judged"
    assert len(processes_of(calls.pool)) == 3
    with pytest.raises(RequestError, match="every process is busy") as caught:
        await large.answered(calls, LARGE, MILL, 0.1)
    assert caught.value.status == 503
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    calls.pool.close()


SUBJECT = json.dumps({"uid": "u", "name": "mine", "is_settled": False}).encode()
REVIEWS = f"""
def review(channel):
    channel.send({child_program.ABOUT!r}, {SUBJECT!r})
    channel.receive()
    channel.send({child_program.ANSWER!r}, b"judged")
"""


@pytest.mark.slow
@pytest.mark.sweep
def test_definitions_of_catalogue_can_be_unpacked() -> None:
    definitions = [entry.definition for entry in load_catalogue().entries]
    for definition in (*few(definitions, "unpacked"), *(each for each in definitions if each.scripts)):
        made = unpack(pack(definition))
        # The scripts of an annotation are among all others.
        annotations = structs.replace(made.annotations, lua=definition.annotations.lua)
        there = replace(made, findings=definition.findings, source=definition.source, annotations=annotations)
        assert replace(there, manifest=definition.manifest) == definition
