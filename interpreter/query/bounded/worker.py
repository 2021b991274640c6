"""Worker processes that run libjq where it can be stopped.

libjq cannot be interrupted and ends its whole process when memory runs out. So it runs in children with little
memory, no environment and a deadline; a child that does not answer in time is killed, and the next request starts
another one. A child ends by itself when this process does.
"""

import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Final

import orjson

from interpreter.errors import QueryEvaluationError, QueryLimitError
from interpreter.k8s.values import JSON
from interpreter.query.bounded import child
from interpreter.query.bounded.complaint import reason

_START_SECONDS: Final = 10.0
_LIMITS: Final = {
    b"memory": f"it needs more than {child.MEMORY >> 20} MiB of memory",
    b"results": f"it gives more than {child.MOST_RESULTS} results",
    b"size": "its results are too large",
}
_DEATHS: Final = {
    -signal.SIGABRT: _LIMITS[b"memory"],
    -signal.SIGKILL: "its process was killed, perhaps for want of memory",
    -signal.SIGXCPU: "it takes too much processor time",
}


class Worker:
    """One child process; not for two threads at once."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, and no shell
                [sys.executable, "-I", "-S", child.__file__, _library()],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,  # Ctrl-C in a terminal is for the server, which still needs its workers
            )
        try:
            self._receive(time.monotonic() + _START_SECONDS)
        except OSError as error:
            self.stop()
            raise QueryEvaluationError("the process for jq does not start") from error

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there to answer."""
        return self._process.poll() is None

    def evaluate(self, program: str, value: str, seconds: float) -> list[JSON]:
        """The outputs of a jq program for an input given as JSON text.

        Raises QueryEvaluationError for an error of the program, and QueryLimitError when it was stopped; where
        that took the process, the worker is not alive any more.
        """
        code, text = program.encode(), value.encode()
        end = time.monotonic() + seconds
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(child.REQUEST.pack(seconds, len(code), len(text)) + code + text)
            letter, payload = self._receive(end)
        except TimeoutError as error:
            self.stop()
            raise QueryLimitError(f"it takes longer than {seconds:.3g} s") from error
        except OSError as error:
            raise QueryLimitError(self._cause_of_death()) from error
        except BaseException:
            self.stop()  # its answer may still come, and is not one to the next request
            raise
        return _results(letter, payload)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def _receive(self, end: float) -> tuple[bytes, bytes]:
        letter, length = child.ANSWER.unpack(self._read(child.ANSWER.size, end))
        return letter, self._read(length, end)

    def _read(self, length: int, end: float) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            chunk = self._socket.recv(min(length - len(data), 1 << 20))
            if not chunk:
                raise ConnectionResetError
            data += chunk
        return bytes(data)

    def _cause_of_death(self) -> str:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            status = 0
        self.stop()
        return _DEATHS.get(status, f"its process ended with status {status}")


def _library() -> str:
    """The file of the ``jq`` extension, which this process itself does not load."""
    spec = find_spec("jq")
    if spec is None or spec.origin is None:
        raise QueryEvaluationError("the package jq is not installed")
    return spec.origin


def _results(letter: bytes, payload: bytes) -> list[JSON]:
    if letter == b"L":
        raise QueryLimitError(_LIMITS[payload])
    if letter == b"E":
        raise QueryEvaluationError(reason(payload.decode(errors="replace")))
    results: list[JSON] = orjson.loads(payload)
    return results
