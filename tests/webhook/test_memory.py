"""Collections visit few objects, find the garbage among them, and free memory goes back to the system."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from karta_interpreter.webhook import memory
from karta_interpreter.webhook.process.server import every
from tests.support.waiting import HANG


async def test_work_in_background_is_done_repeatedly() -> None:
    released = asyncio.Queue[bool]()
    releasing = asyncio.create_task(every(0.0, lambda: released.put_nowait(True)))
    async with asyncio.timeout(HANG):
        for _ in range(3):
            await released.get()
    releasing.cancel()


class _Circle:
    """As the readers of a definition: garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def _settled() -> Iterator[None]:
    thresholds = gc.get_threshold()
    memory.settle_garbage()
    yield
    gc.set_threshold(*thresholds)  # all stays frozen, as between files: to look at it again takes seconds


@pytest.mark.usefixtures("_settled")
def test_garbage_among_few_new_objects_is_found() -> None:
    gone = weakref.ref(_Circle())
    memory.release_memory()
    assert gone() is None


@pytest.mark.slow
@pytest.mark.usefixtures("_settled")
@pytest.mark.parametrize("collector", [gc.enable, gc.disable])
def test_many_new_objects_are_visited_no_more(collector: Callable[[], None]) -> None:
    visited = []

    def see(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            visited.append(len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1)))

    gc.callbacks.append(see)
    collector()
    try:
        kept = [[number] for number in range(200_000)]
        memory.release_memory()
        assert len(gc.get_objects()) < 1000 < len(kept)
    finally:
        gc.enable()
        gc.callbacks.remove(see)
    assert max(visited, default=0) <= 2 * memory._MANY  # noqa: SLF001 - what a collection may cost
