"""The memory of a container, by files as the kernel has them, and real child processes."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox import Pool, Process, Program, container
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from tests.support.settling import processes_of
from tests.support.waiting import HANG

ECHO = str(Path(__file__).parent / "echo.py")
LIMIT = 2**30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "memory.max").write_text(f"{LIMIT}\n")
    monkeypatch.setattr(container, "VERSIONS", (container.Files(str(tmp_path), "memory.max", "anon"),))
    return tmp_path


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(lambda: Process(Program(ECHO, 2**30, packages=False)), 3)
    yield pool
    pool.close()


def take(folder: Path, share: float, *processes: int) -> None:
    """Have the container use that share of its memory, by these processes."""
    (folder / "cgroup.procs").write_text("".join(f"{process}\n" for process in processes))
    (folder / "memory.stat").write_text(f"anon {int(share * LIMIT)}\nfile {LIMIT}\n")


async def grow(processes: AsyncPool, large: asyncio.Event) -> None:
    """Have a child process grow, and wait for more of its answer, which never comes."""
    async with processes.process("large", HANG) as (process, _):
        await process.send(b"g", b"", HANG)
        await process.receive()
        large.set()
        await process.receive()


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="only Linux has these files")
async def test_largest_child_ends_when_container_runs_out_of_memory(
    folder: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither this process nor one that has not become larger ends."""
    processes = AsyncPool(pool)
    take(folder, 0.8)
    monkeypatch.setattr("karta_interpreter.base.sandbox.awaiting._MEMORY", container.ContainerMemory())
    large, kill = asyncio.Event(), os.kill

    def end(pid: int, number: int) -> None:
        kill(pid, number)
        take(folder, 0.8)

    monkeypatch.setattr("os.kill", end)
    with pool.process("small", HANG) as (small, _):
        growing = asyncio.create_task(grow(processes, large))
        async with asyncio.timeout(HANG):
            await large.wait()
            take(folder, 0.9, *processes_of(pool), os.getpid(), sys.maxsize)
            with pytest.raises(SandboxError, match="for want of memory") as caught:
                await growing
        assert small.is_alive
    assert caught.value.cause is StopCause.KILLED
    await processes.close()


async def test_next_child_ends_only_once_the_memory_of_the_last_one_is_free(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, ended = {"7": 10}, list[container.Files]()

    def end(files: container.Files) -> str:
        ended.append(files)
        return "7"

    monkeypatch.setattr(container, "_end_largest", end)
    monkeypatch.setattr(container, "_size", lambda pid: pages.get(pid, 0))
    take(folder, 0.9)
    memory = container.ContainerMemory()
    later = asyncio.get_running_loop().call_later
    with memory.watched(later):
        for _ in range(3):
            memory._look(later)  # noqa: SLF001
        assert len(ended) == 1
        pages.clear()
        memory._look(later)  # noqa: SLF001
        assert len(ended) == 2


async def test_container_without_memory_limit_is_not_looked_at(folder: Path) -> None:
    (folder / "memory.max").write_text("max\n")
    memory = container.ContainerMemory()
    with memory.watched(asyncio.get_running_loop().call_later):
        assert memory._timer is None  # noqa: SLF001 - a look takes time of every call
    assert container.container_memory() == sys.maxsize


@pytest.mark.usefixtures("folder")
async def test_nobody_looks_while_no_child_works() -> None:
    memory = container.ContainerMemory()
    later = asyncio.get_running_loop().call_later
    with memory.watched(later), memory.watched(later):
        assert memory._timer  # noqa: SLF001
    memory._look(later)  # noqa: SLF001
    assert memory._timer is None  # noqa: SLF001


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="only Linux has these files")
def test_server_never_ends_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path("/proc/self/oom_score_adj").read_text().strip()
    monkeypatch.setattr("karta_interpreter.base.sandbox.child.FIRST_TO_END", own)
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("it ends itself"))
    take(folder, 0.9, os.getpid(), os.getppid())
    assert container._end_largest(container.VERSIONS[0]) == ""  # noqa: SLF001


@pytest.mark.parametrize(
    "text", ["", "anon", "anon many", "anon 1 2", "file 1"], ids=["empty", "cut", "no number", "three words", "no anon"]
)
async def test_memory_that_cannot_be_read_ends_no_process(
    folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "_end_largest", lambda _: pytest.fail("a process ends"))
    (folder / "memory.stat").write_text(text)
    memory = container.ContainerMemory()
    later = asyncio.get_running_loop().call_later
    with memory.watched(later):
        memory._look(later)  # noqa: SLF001
        assert memory._timer, "it looks again"  # noqa: SLF001
