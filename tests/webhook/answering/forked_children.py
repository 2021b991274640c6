"""Child processes for calls that are forked from a process with the server: they start in a tenth of the time.

A test of how such a process starts uses a real one.
"""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import pytest

from karta_interpreter.base.sandbox import child, process
from tests.webhook.process.forked import FORKS
from tests.webhook.process.processes import is_there


@contextmanager
def forked_children() -> Iterator[None]:
    """Fork the processes of all pools in the block."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(process, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": _Forked}))
        yield


class _Forked:
    """What a sandbox uses of `subprocess.Popen`."""

    def __init__(self, command: list[str], *, stdin: int, **_: Any) -> None:
        with Connection(os.dup(stdin)) as theirs:
            self._process = FORKS.Process(target=_answer, args=(theirs, command[-1]), daemon=True)
            self._process.start()
        assert self._process.pid
        self.pid = self._process.pid
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        # Its status comes a moment after its end.
        return self._end(0 if is_there(self.pid) else None)

    def wait(self, timeout: float | None = None) -> int:
        status = self._end(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("child", timeout or 0.0)
        return status

    def kill(self) -> None:
        if self.poll() is None:
            self._process.kill()

    def _end(self, seconds: float | None) -> int | None:
        with self._lock:  # its status can be read once
            self._process.join(seconds)
            return self._process.exitcode


def _answer(theirs: "Connection[Any, Any]", setup: str) -> None:
    os.setsid()
    os.chdir("/")
    os.environ.clear()
    os.dup2(theirs.fileno(), 0)
    os.dup2(theirs.fileno(), 1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    theirs.close()
    child.main(*json.loads(setup))
