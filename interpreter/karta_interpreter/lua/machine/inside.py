"""Machines of this process, for scripts that take no longer than the event loop can wait."""

from typing import Final

from karta_interpreter.errors import LuaError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.kube import KUBE
from karta_interpreter.lua.machine.runtime import Call, Limits, Runtime, StoppedError

SECONDS: Final = 0.025
LIMITS: Final = Limits(memory=32 * 1024, longest=64 * 1024, tokens=50_000, passed=4 * 2**20)

_IDLE_MEMORY: Final = 4 * 1024
_MOST_IDLE: Final = 4

_idle: Final[list[Runtime]] = []


def run_inside(call: Call) -> list[JSON]:
    """As `Runtime.run`, within a slice of time and memory."""
    runtime = _take()
    try:
        results = runtime.run(call, SECONDS)
    except StoppedError as stopped:
        reason = str(stopped)
    except LuaError:
        _keep(runtime)
        raise
    else:
        _keep(runtime)
        return results
    del runtime  # an exception from above would hold the machine, and all of its memory, for as long as it lives itself
    raise StoppedError(reason)


def compile_inside(text: str) -> None:
    """As `Runtime.compile`."""
    runtime = _take()
    try:
        runtime.compile(text)
    finally:
        _keep(runtime)


def _take() -> Runtime:
    try:
        return _idle.pop()
    except IndexError:
        return Runtime(LIMITS, KUBE)


def _keep(runtime: Runtime) -> None:
    """Use a machine again, unless it has grown."""
    if len(_idle) < _MOST_IDLE and runtime.memory < _IDLE_MEMORY:
        _idle.append(runtime)
