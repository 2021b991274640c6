"""The memory limit of a container around a server: a cgroup, which the server finds where a container finds its own."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

MEMORY: Final = 512
"""The limit in MiB: that of a small container."""
_SECOND, _FIRST = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
_ENDING = 5.0


@dataclass(frozen=True, slots=True)
class Container:
    """A cgroup; ``seen_at`` is where the processes in it see its files."""

    folder: Path
    seen_at: Path

    @property
    def entered(self) -> tuple[str, ...]:
        """The start of a command line whose rest runs inside, with the same process id."""
        inside = f'echo $$ > {self.folder}/cgroup.procs && mount --bind {self.folder} {self.seen_at} && exec "$@"'
        return "unshare", "--mount", "sh", "-c", inside, "sh"

    def kills(self) -> int:
        """Return how many processes the kernel has killed for the memory of all of them."""
        for name in ("memory.events", "memory.oom_control"):
            with suppress(OSError):
                counts = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(counts["oom_kill"])
        return 0


@contextmanager
def container(name: str) -> Iterator[Container | None]:
    """Make a cgroup for the block; None where that is not possible."""
    if not (root := _root()):
        yield None
        return
    made = Container(root / f"karta-interpreter-audit-{os.getpid()}-{name}", root)
    _make(made.folder)
    try:
        yield made
    finally:
        _remove(made.folder)


@cache
def _root() -> Path | None:
    """Return where cgroups can be made, and say it once where they cannot."""
    root = _SECOND if (_SECOND / "cgroup.controllers").exists() else _FIRST
    probe = root / f"karta-interpreter-audit-{os.getpid()}"
    try:
        _make(probe)
        probe.rmdir()
    except OSError as error:
        with suppress(OSError):
            probe.rmdir()
        sys.stderr.write(
            f"no cgroup can be made here ({error.strerror}): a limit of {MEMORY} MiB is compared with the peak\n"
        )
        return None
    return root


def _make(folder: Path) -> None:
    folder.mkdir()
    name = "memory.max" if (folder / "cgroup.controllers").exists() else "memory.limit_in_bytes"
    # Opened as it is: a file that is not there would be made in another kind of file system.
    with (folder / name).open("r+") as file:
        file.write(str(MEMORY * 2**20))


def _remove(folder: Path) -> None:
    """Remove it as soon as the last process in it has ended."""
    until = time.monotonic() + _ENDING
    while folder.exists() and time.monotonic() < until:
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.05)
