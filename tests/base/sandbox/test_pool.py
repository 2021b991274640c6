"""Processes for any number of threads, and for an event loop."""

import asyncio
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox import Pool, Process, Program
from karta_interpreter.base.sandbox.awaiting import AsyncPool, Exchange
from karta_interpreter.base.sandbox.pool import MOST_STOPPED
from tests.support.settling import processes_of
from tests.support.waiting import turns

ECHO = str(Path(__file__).parent / "echo.py")
LONG = 60.0


class Fake:
    """A process without a process."""

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        self.pid = next(self._numbers)
        self.is_alive = True
        self.is_in_step = True
        self.is_settling = False

    def settle(self) -> bool:
        return self.is_alive and self.is_in_step

    def kill(self) -> None:
        self.is_alive = False

    def stop(self) -> None:
        self.is_alive = False

    def wait(self) -> None:
        assert not self.is_alive


def fake() -> Process:
    return cast("Process", Fake())


def echo() -> Process:
    return Process(Program(ECHO, 2**30, packages=False))


@pytest.fixture
def pool() -> Pool:
    return Pool(fake, size=2)


@pytest.fixture
def real() -> Iterator[Pool]:
    pool = Pool(echo, size=2)
    yield pool
    pool.close()


def test_pool_reuses_process(pool: Pool) -> None:
    with pool.process("a", 1) as (first, left):
        assert 0 < left <= 1
    with pool.process("a", 1) as (second, _):
        assert second is first
    assert processes_of(pool) == {first.pid}


def test_owner_whose_request_was_stopped_starts_a_process_and_leaves_the_idle_one_to_others(pool: Pool) -> None:
    def answered(owner: str) -> Process:
        with pool.process(owner, 1) as (process, _):
            return process

    kept = answered("innocent")
    for _ in range(3):
        with suppress(ZeroDivisionError), pool.process("hostile", 1):
            raise ZeroDivisionError
        kept = answered("innocent")
    with pool.process("innocent", 1) as (used, _), pool.process("hostile", 1) as (own, _):
        assert used is kept
        assert own is not kept
    with pool.process("hostile", 1) as (again, _):
        assert again in (kept, own), "after an answer it takes what is idle"
    with pool.process("innocent", 1), pool.process("other", 1), suppress(SandboxError), pool.process("hostile", 0.01):
        raise AssertionError("there are never more processes than places")


def test_pool_forgets_stopped_owners_when_there_are_too_many(pool: Pool) -> None:
    with pool.process("innocent", 1) as (kept, _):
        pass
    for number in range(MOST_STOPPED + 1):
        pool.drop(fake(), f"owner {number}")
    assert pool.idle("owner 0") is kept, "definitions come and go, and their names do not stay"


@pytest.mark.parametrize(
    ("change", "when"),
    [
        pytest.param("is_alive", "before", id="it died at work"),
        pytest.param("is_alive", "after", id="it died while it was idle"),
        pytest.param("is_in_step", "before", id="it is out of step"),
    ],
)
def test_pool_replaces_unfit_process(pool: Pool, change: str, when: str) -> None:
    with pool.process("a", 1) as (first, _):
        if when == "before":
            setattr(first, change, False)
    if when == "after":
        setattr(first, change, False)
    with pool.process("a", 1) as (second, _):
        assert second is not first
    assert processes_of(pool) == {second.pid}
    assert not first.is_alive


def test_there_are_never_more_than_its_size(pool: Pool) -> None:
    with pool.process("a", 1), pool.process("b", 1):
        with pytest.raises(SandboxError, match="every process is busy") as caught, pool.process("c", 0.05):
            pytest.fail("a third process")
        assert caught.value.cause is StopCause.BUSY
    with pool.process("c", 0):
        assert len(processes_of(pool)) == 2


def test_pool_starts_process_only_if_none_is_idle() -> None:
    pool = Pool(fake, size=3)
    assert processes_of(pool) == frozenset()
    for owner in ("a", "b", "c", "a"):
        with pool.process(owner, 1):
            assert len(processes_of(pool)) == 1


def test_freed_process_goes_to_owner_without_one() -> None:
    pool, order = Pool(fake, size=1), list[str]()

    def work(owner: str) -> None:
        with pool.process(owner, LONG):
            order.append(owner)

    threads = []
    with pool.process("a", 1):
        for count, owner in enumerate(("b", "c"), start=1):
            threads.append(threading.Thread(target=work, args=(owner,)))
            threads[-1].start()
            while len(pool.places._waiting) < count:  # noqa: SLF001 - the order of requests is what is tested
                time.sleep(0.001)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == ["b", "c"]


def test_waiting_takes_from_the_seconds(pool: Pool) -> None:
    with pool.process("a", LONG) as (_, left):
        assert 0 < left <= LONG


def test_failure_frees_place_and_stops_process(pool: Pool) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), pool.process("a", 1) as (process, _):
            raise ZeroDivisionError
        assert not process.is_alive

    def fail() -> Process:
        raise SandboxError("none", StopCause.NOT_STARTED)

    broken = Pool(fail, size=1)
    for _ in range(3):
        with pytest.raises(SandboxError, match="none"), broken.process("a", 0.1):
            pytest.fail("a process that did not start")


def test_closing_stops_all_of_them(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with pool.process("a", 1) as (first, _):
        pool.close()
        assert not first.is_alive
    assert processes_of(pool) == frozenset()
    with pool.process("a", 1) as (second, _):
        assert second.is_alive
        pool.close()
        monkeypatch.setattr(second, "settle", lambda: True)  # it was ready just before it was killed
    assert not pool._idle  # noqa: SLF001 - nothing else shows it


def test_closing_ends_a_request_at_work(real: Pool) -> None:
    with real.process("a", 1) as (process, _):
        process.send(b"s", b"", LONG)
        closing = threading.Thread(target=real.close)
        closing.start()
        with pytest.raises(SandboxError):
            process.receive()
        closing.join()
    assert not Path(f"/proc/{process.pid}").exists()


def test_idle_process_ends_after_its_time() -> None:
    pool = Pool(echo, size=1, idle_seconds=0.05)
    with pool.process("a", 1) as (process, _):
        pass
    while processes_of(pool):
        time.sleep(0.01)
    process.wait()
    with pool.process("a", 1) as (other, _):
        assert other is not process
    pool.close()


def test_only_processes_that_are_idle_for_long_enough_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("karta_interpreter.base.sandbox.pool.time.monotonic", lambda: now[0])
    monkeypatch.setattr("karta_interpreter.base.sandbox.pool.threading.Timer", Timer)
    pool = Pool(fake, size=3, idle_seconds=30)
    with pool.process("a", 1) as (first, _), pool.process("b", 1) as (second, _), pool.process("c", 1) as (third, _):
        pass
    assert Timer.last.seconds == 30
    now[0] = 20
    with pool.process("a", 1), pool.process("b", 1):
        pass
    with pool.process("a", 1):
        now[0] = 30
        Timer.last.fire()
        assert [process.is_alive for process in (first, second, third)].count(True) == 2
        assert Timer.last.seconds == 20, "the one that was used at 20"
    now[0] = 50
    Timer.last.fire()
    assert len(processes_of(pool)) == 1, "the one that was used at 30"
    pool.close()
    with pool.process("a", 1):
        pass
    assert Timer.last.seconds == 30, "processes of a closed pool expire, too"


class Timer:
    """A timer whose time comes when a test says so."""

    last: "Timer"

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        self.seconds, self.fire = seconds, function
        self.daemon = False
        Timer.last = self

    def start(self) -> None:
        """Nothing runs."""

    def cancel(self) -> None:
        """Nothing runs."""


def test_processes_start_with_their_first_request_and_end_with_this_process() -> None:
    program = f"""
from tests.support.settling import processes_of
from karta_interpreter.base.sandbox import Pool, Process, Program
pool = Pool(lambda: Process(Program({ECHO!r}, {2**30})), 1)
assert not processes_of(pool)
with pool.process("a", 9): pass
print(*processes_of(pool))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert not Path(f"/proc/{int(done.stdout)}").exists()
    assert done.stderr == ""


async def say(pool: AsyncPool, owner: str, word: bytes, seconds: float = LONG) -> bytes:
    async with pool.process(owner, seconds) as (process, left):
        await process.send(b"?", word, left)
        return (await process.receive())[1]


async def sleep(pool: AsyncPool, owner: str, begun: list[str]) -> None:
    async with pool.process(owner, LONG) as (process, left):
        await process.send(b"s", b"", left)
        begun.append(owner)  # a process that is still unused when its request is cancelled is kept
        await process.receive()


async def until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 - it happens in another process
        await asyncio.sleep(0.01)


async def test_async_pool_runs_exchanges(real: Pool) -> None:
    pool = AsyncPool(real)
    words = [str(number).encode() * 100_000 for number in range(20)]
    assert await asyncio.gather(*(say(pool, str(number), word) for number, word in enumerate(words))) == words
    assert len(processes_of(real)) <= 2


async def test_async_exchange_that_fails_raises_and_ends_its_process(real: Pool) -> None:
    pool, pids = AsyncPool(real), set[int]()

    async def fail() -> None:
        async with pool.process("a", LONG):
            pids.update(processes_of(real))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    [pid] = pids
    await until(lambda: not Path(f"/proc/{pid}").exists())
    assert await say(pool, "a", b"word") == b"word"


async def test_socket_that_a_thread_closes_ends_its_process_without_another_error(
    real: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, loop, errors = AsyncPool(real), asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _, context: errors.append(context))
    assert await say(pool, "a", b"word") == b"word"
    await until(lambda: not pool._settling)  # noqa: SLF001 - nothing else tells of it
    [pid] = processes_of(real)

    async def receive(*_: object) -> bytes:
        raise ValueError("Invalid file descriptor: -1")

    with monkeypatch.context() as patch:
        patch.setattr(loop, "sock_recv", receive)
        with pytest.raises(SandboxError):
            await say(pool, "a", b"word")
        process = echo()
        slot = real.places.request("a", lambda: None)
        pool._settling.add(task := asyncio.create_task(pool._settle(process, Exchange(process, _in_thread), slot)))  # noqa: SLF001
        await task
    await until(lambda: not Path(f"/proc/{pid}").exists() and not Path(f"/proc/{process.pid}").exists())
    assert await say(pool, "a", b"word") == b"word"
    gc.collect()
    assert not errors


async def _in_thread(act: Callable[..., SandboxError], *arguments: object) -> SandboxError:
    return await asyncio.to_thread(act, *arguments)


async def test_cancelled_exchange_ends_its_process_and_frees_its_place(real: Pool) -> None:
    pool, begun = AsyncPool(real), list[str]()
    exchanges = [asyncio.create_task(sleep(pool, owner, begun)) for owner in ("a", "b")]
    waiting = asyncio.create_task(say(pool, "c", b"word"))
    await until(lambda: len(begun) == 2)
    pids = processes_of(real)
    assert not waiting.done()
    for task in exchanges:
        task.cancel()
    assert await waiting == b"word"
    assert await asyncio.gather(*exchanges, return_exceptions=True)
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


async def test_exchange_cancelled_while_waiting_frees_its_place(real: Pool) -> None:
    pool, begun = AsyncPool(real), list[str]()
    exchanges = [asyncio.create_task(sleep(pool, owner, begun)) for owner in ("a", "b")]
    waiting = asyncio.create_task(say(pool, "c", b"never"))
    await until(lambda: len(begun) == 2)
    waiting.cancel()
    exchanges[0].cancel()
    assert await say(pool, "d", b"word") == b"word"
    exchanges[1].cancel()
    found = await asyncio.gather(waiting, *exchanges, return_exceptions=True)
    assert [type(each) for each in found] == [asyncio.CancelledError] * 3


async def test_process_that_starts_too_late_serves_next_exchange() -> None:
    may_start, started = threading.Event(), list[Process]()

    def late() -> Process:
        assert may_start.wait(LONG)
        started.append(echo())
        return started[-1]

    pool = AsyncPool(Pool(late, size=2))
    with pytest.raises(SandboxError) as error:
        async with pool.process("a", 0.01, with_start=True):
            pass
    may_start.set()

    assert (error.value.cause, await say(pool, "a", b"word")) == (StopCause.TIME, b"word")
    assert len(started) == 1
    await pool.close()


async def test_starts_that_are_cancelled_leave_a_thread_to_end_the_process_they_wait_for(real: Pool) -> None:
    pool = AsyncPool(real)
    async with pool.process("a", LONG) as (process, left):
        await process.send(b"w", b"word", left)
        await process.receive()
        [pid] = processes_of(real)
    # It has answered and is never ready again: who comes now waits for it in a thread.
    cancelled = asyncio.create_task(say(pool, "b", b"never"))
    await turns()
    cancelled.cancel()
    waiting = asyncio.create_task(say(pool, "c", b"word"))
    await turns()
    os.kill(pid, signal.SIGKILL)
    assert await waiting == b"word"
    await pool.close()


async def test_exchange_that_fails_without_threads_frees_its_place(real: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    pool = AsyncPool(real)
    for owner in "abc":
        with real.process(owner, LONG):
            pass  # a process that no thread of the asynchronous pool has started
        with monkeypatch.context() as exhausted:
            exhausted.setattr(threading.Thread, "start", fail)
            with pytest.raises(ValueError, match="the client's"):
                async with pool.process(owner, LONG):
                    raise ValueError("the client's")
    await pool.close()


async def test_process_killed_while_it_settles_without_threads_frees_its_place(
    real: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    pool = AsyncPool(real)
    with real.process("a", LONG):
        pass  # a process that no thread of the asynchronous pool has started
    with monkeypatch.context() as exhausted:
        exhausted.setattr(threading.Thread, "start", fail)
        async with pool.process("a", LONG) as (process, left):
            await process.send(b"w", b"word", left)
            await process.receive()
            [pid] = processes_of(real)
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not pool._settling)  # noqa: SLF001 - the task that nobody waits for
    assert (reported, await say(pool, "b", b"word")) == ([], b"word")
    await pool.close()


async def test_exchange_without_free_process_is_refused(real: Pool) -> None:
    pool = AsyncPool(real)
    with real.process("a", 1), real.process("b", 1), pytest.raises(SandboxError, match="every process is busy"):
        await say(pool, "c", b"word", 0.05)
    assert await say(pool, "c", b"word") == b"word"


async def test_next_exchange_waits_for_process_that_settles(real: Pool) -> None:
    pool = AsyncPool(real)
    for _ in range(20):
        assert await say(pool, "a", b"word") == b"word"
    assert len(processes_of(real)) == 1


async def test_closing_leaves_no_process_and_no_open_socket(real: Pool) -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    pool, before = AsyncPool(real), files()
    assert await say(pool, "a", b"word") == b"word"
    await pool.close()  # while its process is not ready for another request yet
    assert (processes_of(real), files()) == (frozenset(), before)
