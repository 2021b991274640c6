"""Definitions that a thread reads again while the event loop answers calls."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.k8s import manifest
from karta_interpreter.definitions.karta import loading
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.webhook.process.reading import wait_for_calls
from tests.proofs.audit.definitions import definition
from tests.support.waiting import HANG

_MANY = 40
_TEXT = yaml.safe_dump_all(definition(number, ".spec.n[0]") for number in range(_MANY))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "definitions.yaml").write_text(_TEXT)
    return Store([tmp_path], catalogue=False)


@pytest.fixture
def _threads_go_on() -> Iterator[None]:
    """No thread is interrupted: the others go on when it waits."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(HANG)
    yield
    sys.setswitchinterval(before)


class _Turns:
    """The turns of the event loop while a task runs, and what a thread sees of them."""

    def __init__(self) -> None:
        self.count = 0
        self.seen: list[int] = []

    async def go_on(self, task: asyncio.Task[None], work: int = 0) -> None:
        async with asyncio.timeout(HANG):
            while not task.done():
                sha256(bytes(work))
                await asyncio.sleep(0)
                self.count += 1
        await task

    def note(self, wrapped: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*given: Any) -> Any:
            self.seen.append(self.count)
            return wrapped(*given)

        return noting


@pytest.mark.usefixtures("_threads_go_on")
async def test_event_loop_goes_on_before_each_object_and_each_definition(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = _Turns()
    monkeypatch.setattr(manifest, "Assembly", turns.note(manifest.Assembly))
    monkeypatch.setattr(loading, "load_object", turns.note(loading.load_object))
    wait_for_calls()

    await turns.go_on(asyncio.create_task(store.reload()))

    assert len(store.snapshot.kinds()) == _MANY
    assert len(turns.seen) == 2 * _MANY
    assert turns.seen == sorted({*turns.seen}), "nothing is read in one turn with what is before it"


async def test_definitions_are_read_beside_calls_that_never_end(store: Store) -> None:
    wait_for_calls()

    await _Turns().go_on(asyncio.create_task(store.reload()), work=2**19)

    assert len(store.snapshot.kinds()) == _MANY


async def test_event_loop_itself_does_not_wait() -> None:
    wait_for_calls()

    assert len(loading.load_documents(_TEXT, "definitions.yaml")) == _MANY
