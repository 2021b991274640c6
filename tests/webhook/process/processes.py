"""The processes of a server, as the operating system has them."""

from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The ids of all processes below a process."""
    found = [pid]
    for parent in found:
        for children in Path("/proc").glob(f"{parent}/task/*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found[1:]


def is_there(pid: int) -> bool:
    """Whether a process has not ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
