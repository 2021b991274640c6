"""Standard error, for who cannot wait until somebody reads it."""

import os
import select
import sys
import threading
from queue import SimpleQueue
from typing import Final

_MOST_WAITING: Final = 1000
_FLUSH_SECONDS: Final = 1.0


class Stderr:
    """Writes lines in a thread of its own; ``lost`` are those for which there was no room.

    A pipe that nobody reads, or a log driver that is stuck, holds up whoever writes. A server must go on then.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._handle = _handle()
        self._waiting = SimpleQueue[bytes | threading.Event | None]()
        if self._handle is not None:
            threading.Thread(target=self._write_all, args=(self._handle,), name="log", daemon=True).start()

    @property
    def has_room(self) -> bool:
        """Whether another line can wait to be written."""
        return self._waiting.qsize() < _MOST_WAITING

    def write(self, line: bytes) -> None:
        """Write a line soon; it is lost when too many wait already."""
        if not self.has_room:
            self.lost += 1
        elif self._handle is not None:
            self._waiting.put(line)

    def flush(self) -> None:
        """Return when everything is written, or after a second."""
        if self._handle is not None:
            written = threading.Event()
            self._waiting.put(written)
            written.wait(_FLUSH_SECONDS)

    def close(self) -> None:
        """Write no more than what is waiting."""
        self._waiting.put(None)

    def _write_all(self, handle: int) -> None:
        while (waiting := self._waiting.get()) is not None:
            if isinstance(waiting, threading.Event):
                waiting.set()
            else:
                _write(handle, waiting)


def _handle() -> int | None:
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # it was closed when Python started, or is no file
        return None


def _write(handle: int, line: bytes) -> None:
    # Not by `sys.stderr`: its lock would be held for as long as nobody reads, and Python needs it to end.
    while line:
        try:
            line = line[os.write(handle, line) :]
        except BlockingIOError:  # whoever shares it has said that it should not wait
            select.select([], [handle], [])
        except OSError:  # nobody will ever read it
            return
