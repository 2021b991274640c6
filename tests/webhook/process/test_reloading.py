"""What a reload leaves behind."""

import asyncio
import gc
import json
import sys
import time
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.webhook.answering.load import TURN_SECONDS
from karta_interpreter.webhook.process import server as module
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG
from tests.webhook.process.client import Client, post, question
from tests.webhook.process.process import KARTAS

_RELOADS = 6


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
async def test_replaced_snapshot_is_freed_at_next_reload(tmp_path: Path) -> None:
    """The collector of a server looks so seldom for cyclic garbage that each reload has to do it."""
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
            counts.append(_classes())
            reloaded.clear()
            write(version)
            await asyncio.wait_for(reloaded.wait(), HANG)
        await client.close()
    assert counts[-1] <= counts[1], counts


async def test_memory_is_given_back_in_next_turn_whose_calls_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn of the event loop that has answered calls does not visit many objects as well."""
    async with Server(Settings(port=0, plain_http=True, catalogue=False, folders=(tmp_path,))) as server:
        load = server._calls.load  # noqa: SLF001 - its turn is the subject
        was_spent = []

        def release() -> None:
            was_spent.append(load.is_spent)
            time.sleep(2 * TURN_SECONDS)

        monkeypatch.setattr(module, "release_memory", release)
        server._show(server._store.snapshot)  # noqa: SLF001
        assert not was_spent
        await asyncio.sleep(0)
        assert (was_spent, load.is_spent) == ([False], True)
        await asyncio.sleep(0)
        assert not load.is_spent
