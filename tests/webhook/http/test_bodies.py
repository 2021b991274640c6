"""Bodies that have begun to come: what they take of memory together, and who gives up its place."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import pytest

from karta_interpreter.base.sandbox import Program, container, process
from karta_interpreter.languages.jq.bounded import libjq
from karta_interpreter.languages.lua.machine import worker
from karta_interpreter.webhook.answering import child_program
from karta_interpreter.webhook.http import bodies
from karta_interpreter.webhook.http.bodies import Bodies, most_bytes
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import MIB, Settings
from tests.support.waiting import HANG, Clock, until
from tests.webhook.process.client import Client, as_karmada, as_others, post, question
from tests.webhook.process.process import KARTAS

ROOM = 400_000
LARGE = question(object={"kind": "Job", "apiVersion": "batch/v1", "spec": {"note": "x" * 300_000}})


class Connection:
    def __init__(self, bodies: Bodies, *, is_receiving: bool = True) -> None:
        self._bodies = bodies
        self.is_receiving = is_receiving
        self.is_closed = False

    def has_room(self, size: int) -> bool:
        return self._bodies.take(self, size)

    def disconnect(self) -> None:
        self.is_closed = True


async def test_body_of_a_client_that_stands_still_gives_up_its_room(clock: Clock) -> None:
    bodies = Bodies(100)
    first, second, third = (Connection(bodies) for _ in range(3))
    assert first.has_room(40)
    await clock.advance(0.5)
    assert second.has_room(40)
    await clock.advance(0.6)
    assert third.has_room(40), "the first one has sent nothing for a second"
    assert [each.is_closed for each in (first, second, third)] == [True, False, False]


async def test_body_that_goes_on_keeps_its_room(clock: Clock) -> None:
    bodies = Bodies(100)
    first, second, third = (Connection(bodies) for _ in range(3))
    assert first.has_room(40)
    assert second.has_room(40)
    await clock.advance(2.0)
    assert first.has_room(1)
    assert third.has_room(40)
    assert [each.is_closed for each in (first, second, third)] == [False, True, False]


async def test_body_that_has_come_keeps_its_room_until_the_answer(clock: Clock) -> None:
    bodies = Bodies(100)
    whole, other = Connection(bodies, is_receiving=False), Connection(bodies)
    assert whole.has_room(80)
    await clock.advance(60.0)
    assert not other.has_room(40)
    assert not whole.is_closed
    bodies.drop(whole)
    assert other.has_room(40)


async def test_own_body_makes_no_room_for_itself(clock: Clock) -> None:
    bodies = Bodies(100)
    alone = Connection(bodies)
    assert alone.has_room(80)
    await clock.advance(2.0)
    assert not alone.has_room(40)
    assert not alone.is_closed, "the client gets an answer that says why"


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True, body_limit=ROOM)
    with mock.patch.object(bodies, "_MOST", ROOM):
        server = Server(settings)
    async with server:
        yield server


@pytest.mark.parametrize("spell", [as_karmada, as_others])
async def test_unfinished_bodies_keep_no_other_client_out(spell: object, clock: Clock) -> None:
    request = post(LARGE)
    async with serving() as server:
        bodies = server._listener._connections._bodies  # noqa: SLF001 - nothing outside shows it
        silent = [await Client.connect(server.started.port, None, spell) for _ in range(5)]  # type: ignore[arg-type]
        for each in silent:
            each.writer.write(each.spell(request[:-1]))
        await until(lambda: bodies._total > ROOM // 2)  # noqa: SLF001
        assert bodies._total <= ROOM  # noqa: SLF001
        await clock.advance(1.5)
        client = await Client.connect(server.started.port, None)
        assert (await client.ask(post(question()))).status == 200, "a small one needs no room"
        assert (await client.ask(request)).status == 200, "a large one gets that of one that stands still"
        for each in (*silent, client):
            await each.close()
        await until(lambda: not bodies._total)  # noqa: SLF001


async def test_large_body_without_room_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a slow machine, the first body stands still for longer than the second that it may.
    monkeypatch.setattr("karta_interpreter.webhook.http.bodies._STILL", HANG)
    request = post(LARGE)
    async with serving() as server:
        bodies = server._listener._connections._bodies  # noqa: SLF001
        sending = await Client.connect(server.started.port, None)
        sending.writer.write(request[:-1])
        # With a smaller part, the two bodies would race for the room, and either could be told to come again.
        await until(lambda: bodies._total == len(request) - 1)  # noqa: SLF001
        client = await Client.connect(server.started.port, None)
        # A body whose last part finds no room is answered at once and takes no room.
        await client.send(request[:-1])
        answer = await client.receive()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json["message"] == "too many bytes of requests at once; try again in a second"
        sending.writer.write(request[-1:])
        assert (await sending.receive()).status == 200
        for each in (sending, client):
            await each.close()


@pytest.mark.parametrize(
    ("text", "body_limit", "expected"),
    [
        pytest.param("536870912", 32 * MIB, 64 * MIB, id="an eighth of a container"),
        pytest.param("max", 32 * MIB, 128 * MIB, id="a container without a limit"),
        pytest.param("34359738368", 32 * MIB, 128 * MIB, id="a large container"),
        pytest.param("134217728", 32 * MIB, 32 * MIB, id="room for one body in any case"),
    ],
)
def test_room_follows_the_memory_of_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, body_limit: int, expected: int
) -> None:
    (tmp_path / "memory.max").write_text(f"{text}\n")
    versions = container.Files(str(tmp_path), "memory.max", "anon"), container.Files(str(tmp_path), "missing", "")
    monkeypatch.setattr(container, "VERSIONS", versions)
    assert most_bytes(body_limit) == expected


def test_table_of_bounds_is_what_the_server_derives(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[3] / "docs" / "server.md").read_text()
    rows = re.findall(r"^\| (\d GiB|512 MiB)[^|]*" + r"\| (\d+ [MG]iB) " * 4, text, re.MULTILINE)
    units = {"MiB": 2**20, "GiB": 2**30}
    assert len(rows) == 5
    for row in rows:
        memory, *shown = (int(number) * units[unit] for number, unit in map(str.split, row))
        monkeypatch.setattr(bodies, "container_memory", lambda memory=memory: memory)
        monkeypatch.setattr(process, "container_memory", lambda memory=memory: memory)
        programs = [Program("", most) for most in (child_program.MEMORY, libjq.MEMORY, worker.MEMORY)]
        assert shown == [most_bytes(32 * MIB), *(program.bound for program in programs)]


async def test_memory_is_given_back_after_many_bytes_of_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed = asyncio.Event()
    monkeypatch.setattr(bodies, "trim_memory", trimmed.set)
    monkeypatch.setattr(bodies, "_STILL", 0.0)
    counted = Bodies(100 * MIB)
    first, second = Connection(counted), Connection(counted)
    first.has_room(40 * MIB)
    second.has_room(40 * MIB)
    counted.drop(first)
    assert not trimmed.is_set()
    counted.drop(second)
    async with asyncio.timeout(HANG):
        await trimmed.wait()
