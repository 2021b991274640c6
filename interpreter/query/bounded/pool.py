"""The workers of this process: started when they are needed, at most a few, used by one thread at a time."""

import atexit
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from interpreter.errors import QueryLimitError
from interpreter.k8s.values import JSON
from interpreter.query.bounded.worker import Worker


class WorkerPool:
    """At most ``size`` workers, for any number of threads."""

    def __init__(self, size: int = 2) -> None:
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    def evaluate(self, program: str, value: str, seconds: float) -> list[JSON]:
        """Run a program in the next free worker; waiting for it is part of the time, starting it is not."""
        end = time.monotonic() + seconds
        if not self._places.acquire(timeout=seconds):
            raise QueryLimitError("every process for jq is busy")
        try:
            left = end - time.monotonic()
            with self._worker() as worker:
                return worker.evaluate(program, value, max(left, 0.001))
        finally:
            self._places.release()

    @property
    def processes(self) -> frozenset[int]:
        """The ids of the processes that are there."""
        with self._lock:
            return frozenset(worker.pid for worker in self._all)

    def close(self) -> None:
        """Stop every worker, also those that are at work; a later evaluation starts new ones."""
        with self._lock:
            workers = list(self._all)
            self._all.clear()
            self._idle.clear()
        for worker in workers:
            worker.stop()

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._take() or Worker()
        with self._lock:
            self._all.add(worker)
        try:
            yield worker
        finally:
            self._put_back(worker)

    def _take(self) -> Worker | None:
        """An idle worker that is alive."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._all.discard(worker)
                worker.stop()
        return None

    def _put_back(self, worker: Worker) -> None:
        with self._lock:
            if worker in self._all and worker.is_alive:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.stop()


WORKERS: Final = WorkerPool()
"""The pool that expressions use."""


@atexit.register
def close_workers() -> None:
    """Stop the processes of all expressions; those that run fail, later ones start new processes."""
    WORKERS.close()
