"""What a reload leaves behind."""

import asyncio
import gc
import json
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.webhook.memory import release_memory
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG
from tests.webhook.process.client import Client, post, question
from tests.webhook.process.process import KARTAS

_RELOADS = 6
MILL = GVK("mill.example.org", "v1", "GrainMill")


@pytest.fixture
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def _classes() -> int:
    """Count the classes there are, without those that only the bounded caches of `typing` hold."""
    for clear in typing._cleanups:  # type: ignore[attr-defined]  # noqa: SLF001 - as Python's own tests do
        clear()
    return sum(isinstance(each, type) for each in gc.get_objects())


@pytest.mark.xfail(sys.version_info >= (3, 14), reason="msgspec 0.22 keeps the unions of a decoder there", strict=True)
@pytest.mark.usefixtures("_no_collector")
async def test_replaced_snapshot_is_freed_when_memory_is_released(tmp_path: Path) -> None:
    folder = tmp_path / "kartas"
    folder.mkdir()
    text = (KARTAS / "mill.yaml").read_text()

    def write(version: int) -> None:
        new = tmp_path / "new"
        new.write_text(text.replace("name: grain-mill\n", f"name: grain-mill-{version}\n"))
        new.rename(folder / "mill.yaml")

    write(0)
    # Without spaces, as Karmada writes: the reader of such a body is made for the definition.
    call = post(json.dumps(json.loads(question()), separators=(",", ":")).encode() + b"\n")
    counts = []
    async with Server(Settings(port=0, plain_http=True, catalogue=False, folders=(folder,))) as server:
        reloaded = asyncio.Event()
        server._store.subscribe(lambda _: reloaded.set())  # noqa: SLF001 - the event to wait for
        client = await Client.connect(server.started.port, None)
        for version in range(1, _RELOADS):
            assert (await client.ask(call)).status == 200
            release_memory()
            counts.append(_classes())
            reloaded.clear()
            write(version)
            await asyncio.wait_for(reloaded.wait(), HANG)
        await client.close()
    assert counts[-1] <= counts[1], counts


async def test_nobody_keeps_replaced_definition(tmp_path: Path) -> None:
    """Who lets go of it last frees all of its definitions in one turn."""
    text = (KARTAS / "mill.yaml").read_text()
    (tmp_path / "mill.yaml").write_text(text)
    small, large = post(question()), post(question() + b" " * 3 * 2**20)
    async with Server(Settings(port=0, plain_http=True, catalogue=False, folders=(tmp_path,))) as server:
        client = await Client.connect(server.started.port, None)
        for call in (small, large):
            assert (await client.ask(call)).status == 200
        (tmp_path / "mill.yaml").write_text(text.replace("name: grain-mill\n", "name: another\n"))
        await server._store.reload()  # noqa: SLF001 - as the watch does
        server._gaps.look()  # noqa: SLF001 - it keeps the latest call for a second
        found = [each for each in gc.get_objects() if isinstance(each, Definition)]
        await client.close()
    assert {each.name for each in found if each.source.startswith(str(tmp_path)) and each.gvk == MILL} == {"another"}
