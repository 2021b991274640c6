"""The memory of the container that this process runs in: its limit, and how much of it child processes may take."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from karta_interpreter.base.sandbox import child

# The share of the container's memory at which a child process ends. Files that are mapped take memory, too.
_TAKEN: Final = 0.85
SECONDS: Final = 0.01
"""The time between two checks. A process allocates at most 10 MiB in it."""

Later = Callable[[float, Callable[[], None]], object]
"""`call_later` of an event loop. `asyncio` takes a tenth of the start of a child process, which has none."""


class Files(NamedTuple):
    """Where a container finds its limit, and the memory that it uses without cached files."""

    folder: str
    limit: str
    taken: str


VERSIONS: Final = (
    Files("/sys/fs/cgroup", "memory.max", "anon"),
    Files("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "total_rss"),
)
"""By the version of cgroups, 2 and 1."""


def container_memory() -> int:
    """Return the bytes that this container may use, `sys.maxsize` without a limit."""
    return min((limit for files in VERSIONS if (limit := _limit(files))), default=sys.maxsize)


def _limit(files: Files) -> int:
    file = Path(files.folder, files.limit)
    text = file.read_text(encoding="ascii").strip() if file.is_file() else ""
    return int(text) if text.isdigit() else 0


class ContainerMemory:
    """Ends the largest child process when the container runs out of memory.

    Each child process has a limit of its own, but all of them together may exceed the container. The kernel would then
    end any process, and Kubernetes all of them. Limits that fit in the container together would be a fourteenth of it,
    too little for a large object. Only requests that take longer than a look are looked at.
    """

    def __init__(self) -> None:
        self._files = [files for files in VERSIONS if 0 < _limit(files) < 2**50]
        self._requests = 0
        self._timer: object = None
        self._ending = ""
        """The process that was ended last. Its memory is taken until it is gone."""

    @contextmanager
    def watched(self, later: Later) -> Iterator[None]:
        """Look at the memory while a child process works in the block."""
        self._requests += 1
        if not self._timer and self._files:
            self._timer = later(SECONDS, lambda: self._look(later))
        try:
            yield
        finally:
            self._requests -= 1

    def _look(self, later: Later) -> None:
        self._timer = None
        if not self._requests:
            return
        self._timer = later(SECONDS, lambda: self._look(later))
        for files in self._files:
            # A container that is shut down can lose its files, and their content.
            with suppress(OSError, KeyError, ValueError):
                if not _size(self._ending) and _taken(files) > _TAKEN * _limit(files):
                    self._ending = _end_largest(files)


def _taken(files: Files) -> int:
    lines = Path(files.folder, "memory.stat").read_text(encoding="ascii").splitlines()
    return int(dict(line.split() for line in lines)[files.taken])


def _end_largest(files: Files) -> str:
    """End the child process with most memory, and return its id, if any. A child process of a child is one, too."""
    processes = Path(files.folder, "cgroup.procs").read_text(encoding="ascii").split()
    sizes = {pid: size for pid in processes if (size := _size(pid))}
    if not sizes:
        return ""
    largest = max(sizes, key=lambda pid: sizes[pid])
    with suppress(ProcessLookupError):
        os.kill(int(largest), signal.SIGKILL)
    return largest


def _size(pid: str) -> int:
    """Return the pages that a child process has for itself, 0 for any other process.

    In a container without requests of memory the server is itself one of the first to end for the kernel.
    """
    if pid in map(str, (os.getpid(), os.getppid())):
        return 0
    try:
        if Path("/proc", pid, "oom_score_adj").read_text(encoding="ascii").strip() != child.FIRST_TO_END:
            return 0
        _, resident, shared, *_ = Path("/proc", pid, "statm").read_text(encoding="ascii").split()
    except OSError:  # it has ended
        return 0
    return int(resident) - int(shared)
