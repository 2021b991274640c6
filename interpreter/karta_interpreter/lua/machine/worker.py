"""Worker processes for scripts that take longer, or use more, than the server itself can afford."""

import signal
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import orjson

from karta_interpreter.errors import InterpreterError, LuaLimitError, LuaRunError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine import child
from karta_interpreter.lua.machine.runtime import Call
from karta_interpreter.lua.machine.service import ANSWER, MEMORY, REQUEST
from karta_interpreter.lua.machine.source import prepare
from karta_interpreter.lua.values import FUNCTION
from karta_interpreter.worker.deadline import remaining
from karta_interpreter.worker.pool import WorkerPool
from karta_interpreter.worker.process import Process

SECONDS: Final = 1.0
"""The longest that one call may take, as in Karmada (``luavm/lua.go``)."""

PROCESSES: Final = 3
"""How many scripts run at a time; those of one customization leave one process to all others, whatever they do."""

_GRACE_SECONDS: Final = 0.05
_MEMORY: Final = f"it needs more than {MEMORY >> 20} MiB of memory"
_DEATHS: Final = {
    -signal.SIGABRT: _MEMORY,
    -signal.SIGSEGV: _MEMORY,
    -signal.SIGKILL: "its process was killed, perhaps for want of memory",
    -signal.SIGXCPU: "it takes too much processor time",
}


def run_outside(call: Call) -> list[JSON]:
    """As `Runtime.run`, in a worker process; raises LuaLimitError for a run that had to be stopped there."""
    seconds = remaining(SECONDS)
    if not seconds:
        raise LuaLimitError("there is no time left")
    try:
        with WORKERS.worker(call.owner, seconds) as (worker, left):
            return worker.run(call, left)
    except TimeoutError as err:
        raise LuaLimitError("every process for scripts is busy") from err


class Worker:
    """One child process; not for two threads at once."""

    def __init__(self) -> None:
        try:
            self._process = Process(child.__file__, *_folders())
        except OSError as err:
            raise LuaRunError("the process for scripts does not start") from err

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there to answer."""
        return self._process.is_alive

    def run(self, call: Call, seconds: float) -> list[JSON]:
        """The results of a call that count; where stopping it took the process, the worker is not alive any more."""
        end = time.monotonic() + seconds + _GRACE_SECONDS
        source = call.prepared or prepare(call.text)
        request = _json([source, call.function, call.arguments, [*call.own], call.results])
        try:
            self._process.send(REQUEST.pack(seconds, len(request)) + request, end)
            return self._answer(call, seconds, end)
        except TimeoutError as err:
            self.stop()
            raise LuaLimitError(_too_long(seconds)) from err
        except OSError as err:
            status = self._process.cause_of_death()
            raise LuaLimitError(_DEATHS.get(status, f"its process ended with status {status}")) from err
        except (LuaRunError, LuaLimitError):
            raise
        except BaseException:
            self.stop()  # its answer may still come, and is not one to the next request
            raise

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.stop()

    def _answer(self, call: Call, seconds: float, end: float) -> list[JSON]:
        while True:
            letter, payload = self._process.receive(end)
            value = orjson.loads(payload)
            if letter == b"R":
                return [_meant(word) if word else result for result, word in zip(*value, strict=True)]
            if letter == b"E":
                message, line = value
                raise LuaRunError(message, line=line)
            if letter == b"S":
                raise LuaLimitError(_stopped(value, seconds))
            if letter == b"C":
                self._reply(call, *value, end=end)
            elif call.say:
                call.say(value)

    def _reply(self, call: Call, name: str, arguments: list[JSON], *, end: float) -> None:
        """Answer a script that asks for the Karta's own answer."""
        try:
            answer = _json([True, call.own[name](*arguments)])
        except InterpreterError as err:
            answer = _json([False, str(err)])
        self._process.send(ANSWER.pack(len(answer)) + answer, end)


WORKERS: Final = WorkerPool(Worker, PROCESSES)
"""The pool that scripts use."""


def close_workers() -> None:
    """Stop the processes of all scripts; those that run fail, later ones start new processes."""
    WORKERS.close()


def _json(value: JSON) -> bytes:
    try:
        return orjson.dumps(value, default=dict)
    except TypeError as err:
        raise LuaRunError("its object is not JSON that a Go program reads") from err


def _meant(word: str) -> JSON:
    return FUNCTION if word == "function" else float(word)


def _stopped(reason: str, seconds: float) -> str:
    reasons = {"time": _too_long(seconds), "memory": _MEMORY, "depth": "its calls are nested too deep"}
    return reasons.get(reason, "its results are too large")


def _too_long(seconds: float) -> str:
    return f"it takes longer than {seconds:.3g} s"


def _folders() -> list[str]:
    """Where the packages are that the program of a worker needs."""
    names = ("karta_interpreter", "lupa", "msgspec", "orjson")
    origins = [spec.origin for name in names if (spec := find_spec(name)) and spec.origin]
    return [*dict.fromkeys(str(Path(origin).parent.parent) for origin in origins)]
