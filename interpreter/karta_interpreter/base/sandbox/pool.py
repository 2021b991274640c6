"""The processes of one program: started when they are needed, at most a few, shared fairly, used by one at a time."""

import atexit
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakSet

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox.process import Process

MOST_STOPPED: Final = 1000
"""The most owners that a pool remembers. Owners are definitions, which come and go."""

_pools: Final = WeakSet["Pool"]()


@atexit.register
def close_pools() -> None:
    """Stop all child processes. Requests in work fail, later ones start new processes."""
    for pool in list(_pools):
        pool.close()


class Slot:
    """A request of an owner for a place, and the place itself once the request is granted."""

    def __init__(self, owner: str, granted: Callable[[], object]) -> None:
        self.owner: Final = owner
        self.granted: Final = granted
        self.is_granted = False


class Slots:
    """A number of places, for owners that request one each time they need it.

    A free place goes to the waiting owner that has the fewest. Of several such owners it goes to the one that waits
    longest, and the owner that has just freed the place comes last of them. An owner that has a place gets a further
    one only if another place stays free. So next to one owner any other gets a place at once. Next to several it waits
    at most until a request of an owner with several places ends.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._used = Counter[str]()
        self._waiting: list[Slot] = []
        self._lock = threading.Lock()

    def request(self, owner: str, granted: Callable[[], object]) -> Slot:
        """Ask for a place. ``granted`` is called, in any thread, when the owner has it."""
        slot = Slot(owner, granted)
        with self._lock:
            self._waiting.append(slot)
            self._grant()
        return slot

    def release(self, slot: Slot) -> None:
        """Free a place, or withdraw the request for it."""
        with self._lock:
            if slot in self._waiting:
                # It was never granted: its owner gave up.
                self._waiting.remove(slot)
                return
            self._free += 1
            self._used[slot.owner] -= 1
            if not self._used[slot.owner]:
                # Owners are definitions, which come and go.
                del self._used[slot.owner]
            self._grant(slot.owner)

    def _grant(self, last_owner: str | None = None) -> None:
        while self._waiting and self._free:
            slot = min(self._waiting, key=lambda waiting: (self._used[waiting.owner], waiting.owner == last_owner))
            # The owner with the fewest has one already, so all that wait have.
            if self._used[slot.owner] and self._free == 1:
                return
            self._waiting.remove(slot)
            self._used[slot.owner] += 1
            self._free -= 1
            slot.is_granted = True
            # Under the lock: the callback only wakes the waiting owner.
            slot.granted()


class Pool:
    """Shares at most ``size`` processes among any number of threads. ``start`` starts one.

    A process ends if no request has used it for ``idle_seconds``. With None, every process is kept. If the last request
    of an owner had to be stopped, the owner starts a process of its own, as long as there are fewer than ``size``. The
    idle processes are left to the other owners, which would otherwise wait for a start each time.
    """

    def __init__(self, start: Callable[[], Process], size: int, *, idle_seconds: float | None = None) -> None:
        self.size: Final = size
        self._start = start
        self._idle_seconds = idle_seconds
        self.places: Final = Slots(size)
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._idle: dict[Process, float] = {}
        self._timer: threading.Timer | None = None
        self._all: set[Process] = set()
        self._starting = 0
        self._stopped: set[str] = set()
        """The owners with a last request that was stopped with its process."""
        _pools.add(self)

    @contextmanager
    def process(self, owner: str, seconds: float) -> Iterator[tuple[Process, float]]:
        """Yield a process for the block, and the remaining seconds. Waiting takes from them, starting does not.

        Raises SandboxError if no process gets free in time. An exception in the block stops the process.
        """
        end = time.monotonic() + seconds
        # A lock as an event that happens once: `threading.Event` makes a condition with a lock for each wait.
        waiting = threading.Lock()
        waiting.acquire()
        slot = self.places.request(owner, waiting.release)
        try:
            if not waiting.acquire(timeout=seconds):
                raise every_process_is_busy()
            seconds_left = max(end - time.monotonic(), 0.001)
            process = self.take(owner)
            try:
                yield process, seconds_left
            except BaseException:
                # Also Ctrl-C: the process is in the midst of an answer that is not read any more.
                self.drop(process, owner)
                raise
            self.put_back(process, owner)
        finally:
            self.places.release(slot)

    def close(self) -> None:
        """End every process, also those at work. Later requests start new ones."""
        with self._lock:
            # Only the lists change under the lock: to end a process takes time.
            idle, working = list(self._idle), self._all.difference(self._idle)
            if self._timer:
                self._timer.cancel()
                self._timer = None
            self._idle.clear()
            self._all.clear()
        for process in working:
            process.kill()  # the thread that uses it closes its socket
        for process in idle:
            process.stop()
        for process in working:
            process.wait()

    def take(self, owner: str) -> Process:
        """Return a process that is ready, for an owner that has a place. It is then put back or dropped.

        Waiting for one that is about to be idle takes less time than starting another one.
        """
        with self._lock:
            self._settled.wait_for(lambda: self._idle or not any(process.is_settling for process in self._all))
        if process := self.idle(owner):
            return process
        with self._lock:
            self._starting += 1
        started: set[Process] = set()
        try:
            started.add(process := self._start())
        finally:
            with self._lock:
                self._starting -= 1
                self._all |= started
        return process

    def idle(self, owner: str) -> Process | None:
        """Return the process that was used last of those that are idle and alive, so that the others can expire."""
        while True:
            with self._lock:
                is_to_start = owner in self._stopped and len(self._all) + self._starting < self.size
                if is_to_start or not self._idle:
                    return None
                process, _ = self._idle.popitem()
            if process.is_alive:
                return process
            self.drop(process)

    def put_back(self, process: Process, owner: str | None = None) -> None:
        """Let others use the process as soon as it is ready. The ``owner`` has had its answer from it."""
        process.is_settling = True
        is_fit = process.settle()
        with self._lock:
            process.is_settling = False
            # `close` may have killed it meanwhile.
            is_fit = is_fit and process in self._all
            if is_fit:
                self._stopped.discard(owner or "")
                self._idle[process] = time.monotonic()
                self._watch_idle()
            self._settled.notify_all()
        if not is_fit:
            self.drop(process, owner)

    def _watch_idle(self) -> None:
        """Look again when the process that is idle for longest expires."""
        if self._idle_seconds is not None and self._timer is None and self._idle:
            seconds_left = min(self._idle.values()) + self._idle_seconds - time.monotonic()
            self._timer = threading.Timer(max(seconds_left, 0.001), self._expire)
            self._timer.daemon = True
            self._timer.start()

    def _expire(self) -> None:
        with self._lock:
            begin = time.monotonic() - (self._idle_seconds or 0.0)
            expired = [process for process, since in self._idle.items() if since <= begin]
            for process in expired:
                del self._idle[process]
            self._timer = None
            self._watch_idle()
        for process in expired:
            self.drop(process)

    def drop(self, process: Process, owner: str | None = None) -> None:
        """End a process, as a request of the ``owner`` made necessary."""
        with self._lock:
            if owner is not None:
                if len(self._stopped) >= MOST_STOPPED:
                    self._stopped.clear()
                self._stopped.add(owner)
            self._all.discard(process)
            self._settled.notify_all()
        process.stop()


def every_process_is_busy() -> SandboxError:
    """Return the error of a request if no process gets free in time."""
    return SandboxError("every process is busy", StopCause.BUSY)
