"""When to read folders again."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from watchfiles import Change, awatch

from karta_interpreter.sources.file_scan import list_files

_DEBOUNCE_MILLISECONDS = 200
"""An editor's save and a mounted ConfigMap's update are several changes; how long to collect them."""

_PAUSE_SECONDS = 0.5


async def changes(roots: Sequence[Path], *, rescan: float) -> AsyncGenerator[None]:
    """Yield once at the start, and then whenever something may have changed below the roots.

    A change while the caller is busy leads to another turn, so nothing is missed. Every ``rescan`` seconds
    there is a turn anyway: for file systems without notifications, and for links whose far end changes.

    Each turn watches afresh. So a root may be deleted, created again or be a link that is turned to another folder.
    """
    absolute = [root.absolute() for root in roots]
    places = await asyncio.to_thread(_places, absolute)
    while True:
        watching = asyncio.create_task(_next_change(absolute, places))
        try:
            await asyncio.sleep(0)  # lets the task take up its watch, before the caller reads
            yield
            now = await asyncio.to_thread(_places, absolute)
            if now == places:
                await asyncio.wait({watching}, timeout=rescan)
                now = await asyncio.to_thread(_places, absolute)
            places = now
        finally:
            watching.cancel()
            await asyncio.wait({watching})


async def _next_change(roots: Sequence[Path], places: frozenset[Path]) -> None:
    """Return at the first change; never, where the file system cannot be watched."""

    def concerns(_: Change, changed: str) -> bool:
        path = Path(changed)
        return path.parent in inside or any(root.is_relative_to(path) for root in roots)

    inside = {place for place in places if any(place.is_relative_to(root) for root in roots)}
    try:
        async for _ in awatch(*places, watch_filter=concerns, debounce=_DEBOUNCE_MILLISECONDS, recursive=False):
            return
    except FileNotFoundError:
        await asyncio.sleep(_PAUSE_SECONDS)  # a folder went away before the watch began: look again
    except (OSError, RuntimeError):
        await asyncio.Event().wait()  # no notifications here, or no more of them: the rescan has to do


def _places(roots: Sequence[Path]) -> frozenset[Path]:
    """The folders to watch: all that may hold definitions, and where each root would appear anew."""
    inside = {folder for root in roots for folder in list_files(root).folders}
    above = {next(place for place in (root.parent, *root.parents) if place.is_dir()) for root in roots}
    return frozenset(inside | above)
