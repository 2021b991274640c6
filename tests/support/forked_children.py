"""The processes of the sandbox, forked from one that has imported their programs, which takes longest of their start.

The programs are those of the package. What a test has made up starts as a new Python, and so does any program that may
import no packages. A server in a process of its own starts its children itself.
"""

import json
import multiprocessing
import os
import socket
import subprocess
import threading
from multiprocessing import process as processes
from types import SimpleNamespace
from typing import Any

import karta_interpreter
from karta_interpreter.base.sandbox import child, process
from tests.webhook.process.processes import is_there

_NAMES = (
    "languages.lua.machine.service",
    "web.console.questions",
    "web.types_api.judge",
    "webhook.answering.child_program",
)
_PROGRAMS = {f"{karta_interpreter.__path__[0]}/{name.replace('.', '/')}.py" for name in _NAMES}
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([f"karta_interpreter.{name}" for name in ("cli.serve", *_NAMES)])


def fork_children() -> None:
    """Have the sandbox start its processes from here."""
    vars(process).update(subprocess=SimpleNamespace(**vars(subprocess) | {"Popen": _start}))


def _start(command: list[str], stdin: int, **others: Any) -> "ForkedChild | subprocess.Popen[bytes]":
    program, *_ = json.loads(command[-1])
    if program in _PROGRAMS:
        return ForkedChild(command[-1], stdin)
    return subprocess.Popen(command, stdin=stdin, **others)


class ForkedChild:
    """What a process of the sandbox uses of `subprocess.Popen`."""

    def __init__(self, setup: str, stream: int) -> None:
        with socket.socket(fileno=os.dup(stream)) as theirs:
            self._process = FORKS.Process(target=_run, args=(setup, theirs))
            self._process.start()
        # One thread after the other asks how it has ended. The start of another one would ask, too.
        processes._children.discard(self._process)  # type: ignore[attr-defined]  # noqa: SLF001
        self._waiting = threading.Lock()
        assert self._process.pid
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return None if is_there(self.pid) else self.wait()

    def wait(self, timeout: float | None = None) -> int:
        with self._waiting:
            self._process.join(timeout)
            if (status := self._process.exitcode) is None:
                raise subprocess.TimeoutExpired("a child", timeout or 0.0)
            return status

    def kill(self) -> None:
        self._process.kill()


def _run(setup: str, stream: socket.socket) -> None:
    os.setsid()
    os.chdir("/")
    os.environ.clear()
    for number, file in enumerate((stream.fileno(), stream.fileno(), os.open(os.devnull, os.O_WRONLY))):
        os.dup2(file, number)
    child.main(*json.loads(setup))
