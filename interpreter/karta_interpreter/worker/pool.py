"""The workers of this process: started when they are needed, at most a few, used by one thread at a time."""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from karta_interpreter.worker.shares import Shares


class Worker(Protocol):
    """What a pool has to know of a worker."""

    @property
    def pid(self) -> int:
        """The id of its process."""

    @property
    def is_alive(self) -> bool:
        """Whether it can take another request."""

    def stop(self) -> None:
        """End its process."""


W = TypeVar("W", bound=Worker)


class WorkerPool(Generic[W]):
    """At most ``size`` workers, for any number of threads; they are stopped when this process ends.

    One owner of work has all but one of them at a time: whatever it does, one is there for all others.
    """

    def __init__(self, start: Callable[[], W], size: int) -> None:
        self._start = start
        self._shares = Shares(max(size - 1, 1))
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[W] = []
        self._all: set[W] = set()
        atexit.register(self.close)

    @contextmanager
    def worker(self, owner: str, seconds: float) -> Iterator[tuple[W, float]]:
        """The next worker that is free for an owner, for a block, and what is left of the seconds.

        Waiting for a worker takes from the seconds, starting one does not. Raises TimeoutError when all are busy.
        """
        end = time.monotonic() + seconds
        with self._shares.share(owner, seconds), self._place(end - time.monotonic()):
            left = max(end - time.monotonic(), 0.001)
            worker = self._take() or self._start()
            with self._lock:
                self._all.add(worker)
            try:
                yield worker, left
            finally:
                self._put_back(worker)

    @property
    def processes(self) -> frozenset[int]:
        """The ids of the processes that are there."""
        with self._lock:
            return frozenset(worker.pid for worker in self._all)

    def close(self) -> None:
        """Stop every worker, also those that are at work; later requests start new ones."""
        with self._lock:
            workers = list(self._all)
            self._all.clear()
            self._idle.clear()
        for worker in workers:
            worker.stop()

    @contextmanager
    def _place(self, seconds: float) -> Iterator[None]:
        if not self._places.acquire(timeout=seconds):
            raise TimeoutError
        try:
            yield
        finally:
            self._places.release()

    def _take(self) -> W | None:
        """An idle worker that is alive."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._all.discard(worker)
                worker.stop()
        return None

    def _put_back(self, worker: W) -> None:
        with self._lock:
            if worker in self._all and worker.is_alive:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.stop()
