"""Calls that take too long, need too much, or go wrong in ways that nobody foresaw."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.languages.jq import Query
from karta_interpreter.webhook.answering import calls, lanes
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG, until
from tests.webhook.process.client import Answer, Client, as_karmada, as_others, get, post, question
from tests.webhook.process.process import KARTAS, Process, running

MANY = 20
"""Answers to others while hostile calls are in work: a server that made others wait would give one after each."""
SEVERAL = 4
"""Hostile calls at once: a definition has one process less at most, and the last call waits."""


async def ask(server: Process, data: bytes) -> Answer:
    client = await server.connect()
    answer = await client.ask(data)
    await client.close()
    return answer


@pytest.mark.parametrize(("kind", "spell"), [("Treadmill", as_karmada), ("Balloon", as_others)])
async def test_hostile_definition_delays_no_other_call(
    server: Process, kind: str, spell: Callable[[bytes], bytes]
) -> None:
    client = await server.connect(spell)
    hostile = post(question(kind, "InterpretHealth"), "/interpret?timeout=1s")
    async with asyncio.timeout(HANG):
        answered = 0
        while answered < MANY:  # a busy machine gives fewer answers in the same time
            attacks = [asyncio.create_task(ask(server, hostile)) for _ in range(SEVERAL)]
            answered = 0
            while not all(attack.done() for attack in attacks):
                assert (await client.ask(post(question()))).response["successful"]
                answered += 1
            for attack in attacks:
                assert not attack.result().response["successful"]
    await client.close()


@pytest.mark.slow
async def test_hostile_definition_leaves_a_process_to_others(tmp_path: Path) -> None:
    treadmill, _ = (KARTAS / "hostile.yaml").read_text().split("\n---\n")
    quick = treadmill.replace("treadmill", "gristmill").replace("Treadmill", "Gristmill").replace("false", "true")
    (tmp_path / "mills.yaml").write_text(f"{treadmill}\n---\n{quick}")
    with running(tmp_path, plain_http=True) as server:
        client = await server.connect()
        hostile, other = (post(question(kind, "InterpretHealth")) for kind in ("Treadmill", "Gristmill"))
        async with asyncio.timeout(HANG):
            answered = 0
            while answered < MANY / 2:  # nor does it wait until one of the other's is stopped
                attacks = [asyncio.create_task(ask(server, hostile)) for _ in range(SEVERAL)]
                answered = 0
                while not all(attack.done() for attack in attacks):
                    answered += (await client.ask(other)).response["successful"]
        await client.close()
    assert not any(attack.result().response["successful"] for attack in attacks)


async def test_call_ends_before_karmada_gives_up(server: Process) -> None:
    call = post(question("Treadmill", "InterpretHealth"), "/interpret?timeout=700ms")
    client = await server.connect()
    await client.ask_until(call, lambda answer: answer.response["status"]["code"] != 503)  # its process has started
    answer = await client.ask(call)
    await client.close()
    assert answer.response["status"]["code"] == 504
    assert "treadmill: InterpretHealth took longer than 0.35 s" in answer.response["status"]["message"]


async def test_other_operations_of_a_hostile_definition_work(server: Process) -> None:
    answer = await ask(server, post(question("Treadmill", "InterpretStatus")))
    assert answer.response["rawStatus"] == {}


@pytest.fixture
async def local(spell: Callable[[bytes], bytes]) -> AsyncIterator[Client]:
    """A connection to a server in this process, into which a test can reach."""
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True)
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None, spell)
        yield client
        await client.close()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(KeyError("the object's secret"), 500, "internal error", id="an unexpected error"),
        pytest.param(MemoryError(), 500, "internal error", id="no memory"),
        pytest.param(RecursionError(), 422, "the object is nested too deeply", id="recursion"),
    ],
)
async def test_unforeseen_error_is_a_failure_without_details(
    local: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, said: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(lanes, "interpret", fail)
    answer = await local.ask(post(question()))
    assert (answer.status, answer.response["successful"]) == (200, False)
    assert answer.response["status"] == {"code": code, "message": said}
    monkeypatch.undo()
    assert (await local.ask(post(question()))).response["successful"]


async def test_error_before_uid_is_internal_error(local: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> None:
        raise KeyError("the object's secret")

    monkeypatch.setattr(calls, "decode", fail)
    answer = await local.ask(post(question()))
    assert (answer.status, answer.json["message"]) == (500, "internal error")
    assert await local.remainder() == b""


async def test_new_definition_is_used_without_restart(tmp_path: Path) -> None:
    settings = Settings(port=0, folders=(tmp_path,), catalogue=False, plain_http=True)
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        assert (await client.ask(get("/readyz"))).status == 503
        assert (await client.ask(post(question()))).response["status"]["code"] == 404
        (tmp_path / "mill.yaml").write_text((KARTAS / "mill.yaml").read_text())
        await client.ask_until(get("/readyz"), lambda answer: answer.status == 200)
        assert (await client.ask(post(question()))).response["successful"]
        await client.close()


async def test_processes_of_expressions_and_scripts_end_with_the_server() -> None:
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True)
    async with Server(settings):
        pass  # it ends what other tests have started in this process
    before = _children()
    async with Server(settings):
        assert Query.compile("[limit(2; until(true; .))] | length").evaluate({}) == [1]  # not for this process to run
        started = _children() - before
        assert started
    await until(lambda: not started & _children())


def _children() -> set[str]:
    found = set[str]()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may have ended meanwhile
            found |= set((task / "children").read_text().split())
    return found
