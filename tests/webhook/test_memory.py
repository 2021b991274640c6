"""Garbage among settled objects is found in time, and free memory goes back to the system."""

import asyncio
import gc
import weakref

import pytest

from karta_interpreter.webhook import memory
from tests.support.waiting import HANG


async def test_memory_is_given_back_repeatedly(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed = asyncio.Queue[bool]()
    monkeypatch.setattr(memory, "trim_memory", lambda: trimmed.put_nowait(True))
    monkeypatch.setattr(memory, "_TRIM_SECONDS", 0.0)
    keeping = asyncio.create_task(memory.keep_memory_trimmed())
    async with asyncio.timeout(HANG):
        for _ in range(3):
            await trimmed.get()
    keeping.cancel()


class _Circle:
    """As the readers of a definition: garbage that only the collector finds."""

    itself: "_Circle"


def test_new_objects_are_settled_and_garbage_among_them_is_found_when_half_as_many_have_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_settled", memory._Settled())  # noqa: SLF001 - that of a server
    monkeypatch.setattr(memory, "_MANY_VISITED", 0)
    definitions = [[number] for number in range(200_000)]
    gc.collect()
    gc.freeze()
    try:
        settled = gc.get_freeze_count()
        memory.release_memory()
        assert gc.get_freeze_count() <= settled, "a few objects are visited by each collection"

        circle = _Circle()
        circle.itself = circle
        gone = weakref.ref(circle)
        kept = [[number] for number in range(20_000)]
        memory.release_memory()
        assert len(gc.get_objects()) < 1000 < len(kept)
        del circle

        kept += [[number] for number in range(settled // 4)]
        memory.release_memory()
        assert gone() is not None, "nobody waits for a visit to all objects"
        monkeypatch.setattr(memory, "_MANY_VISITED", 2 * settled)
        kept += [[number] for number in range(settled // 3)]
        memory.release_memory()
        assert len(gc.get_objects()) > settled // 3, "a reload soon replaces as few as that"
        monkeypatch.setattr(memory, "_MANY_VISITED", 0)
        memory.release_memory()
        assert gone() is None
        assert definitions
    finally:
        gc.unfreeze()
