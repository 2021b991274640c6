"""Workers for any number of threads."""

import itertools
import threading
import time

import pytest

from karta_interpreter.worker.pool import WorkerPool


class Worker:
    """A worker without a process."""

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        self.pid = next(self._numbers)
        self.is_alive = True

    def stop(self) -> None:
        self.is_alive = False


@pytest.fixture
def pool() -> WorkerPool[Worker]:
    return WorkerPool(Worker, size=2)


def test_a_worker_is_used_again(pool: WorkerPool[Worker]) -> None:
    with pool.worker("a", 1) as (first, left):
        assert 0 < left <= 1
    with pool.worker("a", 1) as (second, _):
        assert second is first
    assert pool.processes == {first.pid}


def test_a_worker_that_died_is_replaced(pool: WorkerPool[Worker]) -> None:
    with pool.worker("a", 1) as (first, _):
        first.is_alive = False
    with pool.worker("a", 1) as (second, _):
        assert second is not first
    second.is_alive = False
    with pool.worker("a", 1) as (third, _):
        assert third is not second
    assert pool.processes == {third.pid}


def test_there_are_never_more_than_its_size(pool: WorkerPool[Worker]) -> None:
    with pool.worker("a", 1), pool.worker("b", 1):
        before = time.monotonic()
        with pytest.raises(TimeoutError), pool.worker("c", 0.05):
            pytest.fail("a third worker")
        assert time.monotonic() - before >= 0.05
    with pool.worker("c", 0):
        assert len(pool.processes) == 2


def test_one_owner_leaves_one_worker_to_all_others() -> None:
    pool = WorkerPool(Worker, size=3)
    with pool.worker("a", 1), pool.worker("a", 1):
        with pytest.raises(TimeoutError), pool.worker("a", 0.01):
            pytest.fail("the last worker")
        with pool.worker("b", 0) as (other, _):
            assert len(pool.processes) == 3
        with pool.worker("c", 0) as (same, _):
            assert same is other
    with pool.worker("a", 0), pool.worker("a", 0):
        assert len(pool.processes) == 3


def test_a_worker_is_only_started_when_none_is_idle() -> None:
    pool = WorkerPool(Worker, size=3)
    assert pool.processes == frozenset()
    for owner in ("a", "b", "c", "a"):
        with pool.worker(owner, 1):
            assert len(pool.processes) == 1


def test_waiting_takes_from_the_seconds() -> None:
    pool = WorkerPool(Worker, size=1)
    taken, waited = threading.Event(), []

    def wait() -> None:
        taken.wait()
        with pool.worker("a", 5) as (_, left):
            waited.append(left)

    waiter = threading.Thread(target=wait)
    waiter.start()
    with pool.worker("a", 1):
        taken.set()
        time.sleep(0.1)
    waiter.join()
    assert 4 < waited[0] < 5


def test_a_failure_gives_the_place_back(pool: WorkerPool[Worker]) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), pool.worker("a", 1):
            raise ZeroDivisionError

    def fail() -> Worker:
        raise OSError

    broken: WorkerPool[Worker] = WorkerPool(fail, size=1)
    for _ in range(3):
        with pytest.raises(OSError), broken.worker("a", 0.1):  # noqa: PT011 - ours
            pytest.fail("a worker that did not start")


def test_closing_stops_all_of_them(pool: WorkerPool[Worker]) -> None:
    with pool.worker("a", 1) as (first, _):
        pool.close()
        assert not first.is_alive
    assert pool.processes == frozenset()
    with pool.worker("a", 1) as (second, _):
        assert second.is_alive
