"""Looking at a server's workers from outside, as the operating system has them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.server.client import PATIENCE, Client
from tests.server.process import Process

_WORKER = b"karta_interpreter.server.workers.process"
_ESTABLISHED = "01"


def workers(pid: int) -> list[int]:
    """The ids of the workers that a process has started and that have not ended."""
    return [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _is_worker(stat, pid)]


def descendants(pid: int) -> list[int]:
    """The ids of all processes below a process."""
    found = [pid]
    for parent in found:
        for children in Path("/proc").glob(f"{parent}/task/*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found[1:]


def is_there(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has asked for its status has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def connections(pid: int, port: int) -> Counter[int]:
    """How many connections to a port each worker of a process has."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    of_port = {row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == _ESTABLISHED}
    return Counter({worker: len(of_port & _sockets(worker)) for worker in workers(pid)})


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)


async def connected(server: Process, count: int) -> list[Client]:
    return [await server.connect() for _ in range(count)]


async def close_all(clients: Sequence[Client]) -> None:
    for client in clients:
        await client.close()


def _is_worker(stat: Path, parent: int) -> bool:
    try:
        state, ppid = stat.read_text().rpartition(")")[2].split()[:2]
        command = (stat.parent / "cmdline").read_bytes()
    except OSError:
        return False
    return state != "Z" and int(ppid) == parent and _WORKER in command


def _sockets(pid: int) -> set[str]:
    found = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.add(str(handle.readlink()).removeprefix("socket:[").removesuffix("]"))
    return found
