"""The processes of a server, as the operating system has them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.server.client import PATIENCE


def descendants(pid: int) -> list[int]:
    """The ids of all processes below a process."""
    found = [pid]
    for parent in found:
        for children in Path("/proc").glob(f"{parent}/task/*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found[1:]


def is_there(pid: int) -> bool:
    """Whether a process has not ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)
