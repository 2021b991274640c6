"""Worker processes that run libjq where it can be stopped.

libjq cannot be interrupted and ends its whole process when memory runs out. So it runs in children with little
memory, no environment and a deadline; a child that does not answer in time is killed, and the next request starts
another one.
"""

import signal
import time
from importlib.util import find_spec
from typing import Final

import orjson

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError
from karta_interpreter.jq.bounded import child
from karta_interpreter.jq.bounded.complaint import reason
from karta_interpreter.k8s.values import JSON
from karta_interpreter.worker.process import Process

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
        try:
            self._process = Process(child.__file__, _library())
        except OSError as error:
            raise QueryEvaluationError("the process for jq does not start") from error

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there to answer."""
        return self._process.is_alive

    def evaluate(self, program: str, value: str, seconds: float) -> list[JSON]:
        """The outputs of a jq program for an input given as JSON text.

        Raises QueryEvaluationError for an error of the program, and QueryLimitError when it was stopped; where
        that took the process, the worker is not alive any more.
        """
        code, text = program.encode(), value.encode()
        end = time.monotonic() + seconds
        try:
            self._process.send(child.REQUEST.pack(seconds, len(code), len(text)) + code + text, end)
            letter, payload = self._receive(end)
        except TimeoutError as error:
            self.stop()
            raise QueryLimitError(f"it takes longer than {seconds:.3g} s") from error
        except OSError as error:
            status = self._process.cause_of_death()
            raise QueryLimitError(_DEATHS.get(status, f"its process ended with status {status}")) from error
        except BaseException:
            self.stop()  # its answer may still come, and is not one to the next request
            raise
        return _results(letter, payload)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.stop()

    def _receive(self, end: float) -> tuple[bytes, bytes]:
        return self._process.receive(end)


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
