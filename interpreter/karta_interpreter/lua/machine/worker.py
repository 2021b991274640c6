"""Processes for scripts that take longer, or use more, than the server itself can afford."""

from typing import Final

import orjson

from karta_interpreter.errors import InterpreterError, LuaLimitError, LuaRunError, SandboxError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine import service
from karta_interpreter.lua.machine.runtime import Call
from karta_interpreter.lua.machine.source import prepare
from karta_interpreter.lua.values import FUNCTION
from karta_interpreter.sandbox import Pool, Process, Program
from karta_interpreter.sandbox.deadline import remaining

SECONDS: Final = 1.0
"""The longest that one call may take, as in Karmada (``luavm/lua.go``)."""

PROCESSES: Final = 3
"""How many scripts run at a time."""

_GRACE_SECONDS: Final = 0.05
_PROCESS_MEMORY: Final = 768 * 2**20


def run_outside(call: Call) -> list[JSON]:
    """As `Runtime.run`, in another process; raises LuaLimitError for a run that had to be stopped there."""
    seconds = remaining(SECONDS)
    if not seconds:
        raise LuaLimitError("there is no time left")
    return run_in(WORKERS, call, seconds)


def run_in(pool: Pool, call: Call, seconds: float) -> list[JSON]:
    """The results of a call that count, from a process of a pool."""
    source = call.prepared or prepare(call.text)
    request = _json([source, call.function, call.arguments, [*call.own], call.results])
    try:
        with pool.process(call.owner, seconds) as (process, left):
            process.send(b"Q", request, left, grace=_GRACE_SECONDS)
            letter, value = _outcome(process, call)
    except SandboxError as err:
        raise LuaLimitError(str(err)) from err
    if letter == b"E":
        message, line = value
        raise LuaRunError(message, line=line)
    if letter == b"S":
        raise LuaLimitError(_stopped(value, left))
    return [_meant(word) if word else result for result, word in zip(*value, strict=True)]


def start() -> Process:
    """Start a process for scripts."""
    return Process(Program(service.__file__, _PROCESS_MEMORY))


def _outcome(process: Process, call: Call) -> tuple[bytes, JSON]:
    """The last message of a run; answers the calls of the Karta and passes on what is printed until then."""
    while True:
        letter, payload = process.receive()
        value = orjson.loads(payload)
        if letter == b"C":
            process.send(b"A", _reply(call, *value))
        elif letter != b"P":
            return letter, value
        elif call.say:
            call.say(value)


def _reply(call: Call, name: str, arguments: list[JSON]) -> bytes:
    """The reply to a script that asks for the Karta's own answer."""
    try:
        return _json([True, call.own[name](*arguments)])
    except InterpreterError as err:
        return _json([False, str(err)])


WORKERS: Final = Pool(start, PROCESSES)
"""The processes that scripts use."""


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
    reasons = {
        "time": f"it takes longer than {seconds:.3g} s",
        "memory": f"it needs more than {service.MEMORY >> 20} MiB of memory",
        "depth": "its calls are nested too deep",
    }
    return reasons.get(reason, "its results are too large")
