"""The processes of one program: started when they are needed, at most a few, shared fairly, used by one at a time."""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakSet

from karta_interpreter.errors import SandboxError, StopCause
from karta_interpreter.sandbox.places import Places
from karta_interpreter.sandbox.process import Process

_pools: Final = WeakSet["Pool"]()


@atexit.register
def close_pools() -> None:
    """Stop all child processes; requests in work fail, later ones start new processes."""
    for pool in list(_pools):
        pool.close()


class Pool:
    """At most ``size`` processes, which ``start`` starts, for any number of threads.

    A process that no request has used for ``idle_seconds`` ends; with None each is kept.
    """

    def __init__(self, start: Callable[[], Process], size: int, *, idle_seconds: float | None = None) -> None:
        self.size: Final = size
        self._start = start
        self._idle_seconds = idle_seconds
        self._places = Places(size)
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._idle: dict[Process, threading.Timer | None] = {}
        self._all: set[Process] = set()
        _pools.add(self)

    @contextmanager
    def process(self, owner: str, seconds: float) -> Iterator[tuple[Process, float]]:
        """A process for the block, and what is left of the seconds; waiting takes from them, starting does not.

        Raises SandboxError when no process gets free in time. An exception in the block stops the process.
        """
        end = time.monotonic() + seconds
        granted = threading.Event()
        with self.place(owner, granted.set):
            if not granted.wait(seconds):
                raise every_process_is_busy()
            left = max(end - time.monotonic(), 0.001)
            with self.held() as process:
                yield process, left

    @contextmanager
    def place(self, owner: str, granted: Callable[[], object]) -> Iterator[None]:
        """Ask for a place among the ``size``; the owner has it from the call of ``granted`` to the end of the block."""
        place = self._places.request(owner, granted)
        try:
            yield
        finally:
            self._places.release(place)

    @contextmanager
    def held(self) -> Iterator[Process]:
        """A process for an owner that has a place; after the block it is ready for another request, or has ended."""
        process = self._take() or self._new()
        try:
            yield process
        except BaseException:
            self._drop(process)
            raise
        self._put_back(process)

    @property
    def processes(self) -> frozenset[int]:
        """The ids of the processes that there are."""
        with self._lock:
            return frozenset(process.pid for process in self._all)

    def close(self) -> None:
        """End every process, also those that are at work; later requests start new ones."""
        with self._lock:
            idle, working = dict(self._idle), self._all.difference(self._idle)
            self._idle.clear()
            self._all.clear()
        for process in working:
            process.kill()  # the thread that uses it closes its socket
        for process, timer in idle.items():
            _cancel(timer)
            process.stop()
        for process in working:
            process.wait()

    def _take(self) -> Process | None:
        """The process that was used last of those that are idle and alive, so that the others can expire.

        To wait for one that is about to be idle takes less than to start another one.
        """
        while True:
            with self._lock:
                self._settled.wait_for(lambda: self._idle or not any(process.is_settling for process in self._all))
                if not self._idle:
                    return None
                process, timer = self._idle.popitem()
            _cancel(timer)
            if process.is_alive:
                return process
            self._drop(process)

    def _new(self) -> Process:
        process = self._start()
        with self._lock:
            self._all.add(process)
        return process

    def _put_back(self, process: Process) -> None:
        process.is_settling = True
        is_fit = process.settle()
        with self._lock:
            process.is_settling = False
            is_fit = is_fit and process in self._all
            if is_fit:
                self._idle[process] = self._timer(process)
            self._settled.notify_all()
        if not is_fit:
            self._drop(process)

    def _timer(self, process: Process) -> threading.Timer | None:
        if self._idle_seconds is None:
            return None
        timer = threading.Timer(self._idle_seconds, self._expire, (process,))
        timer.daemon = True
        timer.start()
        return timer

    def _expire(self, process: Process) -> None:
        with self._lock:
            if self._idle.get(process) is not threading.current_thread():
                return
            del self._idle[process]
        self._drop(process)

    def _drop(self, process: Process) -> None:
        with self._lock:
            self._all.discard(process)
            self._settled.notify_all()
        process.stop()


def every_process_is_busy() -> SandboxError:
    """The error of a request for which no process gets free in time."""
    return SandboxError("every process is busy", StopCause.BUSY)


def _cancel(timer: threading.Timer | None) -> None:
    if timer:
        timer.cancel()
