"""Processes that run scripts and lint them: a script never runs in this process."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from karta_interpreter.errors import InterpreterError, LuaLimitError, LuaRunError, LuaSyntaxError, SandboxError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.sandbox import Pool, Process, Program
from karta_interpreter.sandbox.deadline import remaining

SECONDS: Final = 1.0
"""The longest that one call may take, as in Karmada (``luavm/lua.go``)."""

LINT_SECONDS: Final = 10.0
"""The longest that linting one script may take: no call waits for it."""

PROCESSES: Final = 3
"""How many scripts run at a time."""

MEMORY: Final = 256 * 2**20
"""The memory of a script, in bytes."""

_OVERHEAD: Final = 128 * 2**20
"""The address space of Python and the packages, in bytes."""

_GRACE_SECONDS: Final = 0.05
_SERVICE: Final = str(Path(__file__).with_name("service.py"))  # not imported: it loads lupa


class Job(NamedTuple):
    """A request as `Service` takes it, what its script may call, and who hears what it prints.

    Jobs with one ``owner`` share what runs of their scripts may take.
    """

    request: JSON
    owner: str
    is_lint: bool = False
    own: Mapping[str, Callable[..., tuple[JSON, ...]]] = {}
    on_print: Callable[[str], None] | None = None


def run_job(job: Job) -> JSON:
    """Return the result of a job; raises LuaSyntaxError, LuaRunError, and LuaLimitError for one that was stopped."""
    seconds = remaining(LINT_SECONDS if job.is_lint else SECONDS)
    if not seconds:
        raise LuaLimitError("there is no time left")
    return run_in(WORKERS, job, seconds)


def run_in(pool: Pool, job: Job, seconds: float) -> JSON:
    """Return the result of a job from a process of a pool; raises as `run_job`."""
    request = _json(job.request)
    try:
        with pool.process(job.owner, seconds) as (process, left):
            process.send(b"Q", request, left, grace=_GRACE_SECONDS)
            letter, value = _outcome(process, job)
    except SandboxError as err:
        raise LuaLimitError(str(err)) from err
    if letter == b"E":
        kind, message, line = value
        raise (LuaSyntaxError if kind == "LuaSyntaxError" else LuaRunError)(message, line=line)
    if letter == b"S":
        raise LuaLimitError("its results are too large")
    return value


def start() -> Process:
    """Start a process for scripts."""
    return Process(Program(_SERVICE, MEMORY, overhead=_OVERHEAD))


def _outcome(process: Process, job: Job) -> tuple[bytes, JSON]:
    """The last message of a job; answers the calls of the Karta and passes on what is printed until then."""
    while True:
        letter, payload = process.receive()
        value = orjson.loads(payload)
        if letter == b"C":
            process.send(b"A", _reply(job, *value))
        elif letter != b"P":
            return letter, value
        elif job.on_print:
            job.on_print(value)


def _reply(job: Job, name: str, arguments: list[JSON]) -> bytes:
    """The reply to a script that asks for the Karta's own answer."""
    try:
        return _json([True, job.own[name](*arguments)])
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
