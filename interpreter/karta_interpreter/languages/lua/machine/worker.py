"""Processes that run scripts and lint them: a script never runs in this process."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import orjson

from karta_interpreter.base.errors import InterpreterError, LuaLimitError, LuaRunError, LuaSyntaxError, SandboxError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.sandbox import Pool, Process, Program, remaining
from karta_interpreter.languages.lua.script import Own, Script

SECONDS: Final = 1.0
"""The longest that one call may take, as in Karmada (``luavm/lua.go``)."""

LINT_SECONDS: Final = 10.0
"""The longest that linting one script may take: no call waits for it."""

PROCESSES: Final = 3

MEMORY: Final = 256 * 2**20
"""The memory of a process, in bytes. Python and the packages take 20 MiB of it."""

# How long after its time a script is stopped.
_GRACE_SECONDS: Final = 0.05

CALL, PRINT = b"C", b"P"
QUESTIONS: Final = (CALL, PRINT)
"""The messages before the last one: the script calls a function of the Karta, or prints."""

_NONE: Final[Own] = MappingProxyType({})
_SERVICE: Final = str(Path(__file__).with_name("service.py"))  # not imported: it loads lupa


class Job(NamedTuple):
    """A request as the service takes it, the functions its script may call, and the receiver of its printed text.

    Jobs with one ``owner`` share the limits on the runs of their scripts.
    """

    request: JSON
    owner: str
    is_lint: bool = False
    own: Own = _NONE
    on_print: Callable[[str], None] | None = None

    def encoded(self) -> bytes:
        """Return the bytes of the request. Raise LuaRunError for an object that is not JSON."""
        return _json(self.request)

    def reply(self, letter: bytes, payload: bytes) -> bytes:
        """Return the reply to a script that asks for the Karta's own answer, b"" to one that prints."""
        if letter == PRINT:
            if self.on_print:
                self.on_print(orjson.loads(payload))
            return b""
        name, arguments = orjson.loads(payload)
        try:
            return _json([True, self.own[name](*arguments)])
        except InterpreterError as err:
            return _json([False, str(err)])

    @staticmethod
    def result(letter: bytes, payload: bytes) -> JSON:
        """Return the result by the last message. Raise LuaSyntaxError, LuaRunError and LuaLimitError."""
        value = orjson.loads(payload)
        if letter == b"E":
            kind, message, line, hint = value
            raise (LuaSyntaxError if kind == "LuaSyntaxError" else LuaRunError)(message, line=line, hint=hint)
        if letter == b"S":
            raise LuaLimitError("its results are too large")
        return value


def script_job(
    script: Script, arguments: Sequence[JSON], own: Own = _NONE, on_print: Callable[[str], None] | None = None
) -> Job:
    """Return the job that a process does for a script.

    An argument can be an ``orjson.Fragment``, JSON text that is known to be valid. ``on_print`` gets every line that
    the script prints.
    """
    request = ["answer", script.text, script.operation, arguments, [*own], on_print is not None]
    return Job(request, f"{script.source}:{script.name}", own=own, on_print=on_print)


def run_job(job: Job) -> JSON:
    """Return the result of a job. Raise LuaSyntaxError, LuaRunError, and LuaLimitError for one that was stopped."""
    return run_in(WORKERS, job, remaining(LINT_SECONDS if job.is_lint else SECONDS))


def run_in(pool: Pool, job: Job, seconds: float) -> JSON:
    """Return the result of a job from a process of a pool. Raise as `run_job`."""
    request = job.encoded()
    with script_limits(seconds), pool.process(job.owner, seconds) as (process, seconds_left):
        process.send(b"Q", request, seconds_left)
        while (message := process.receive())[0] in QUESTIONS:
            if reply := job.reply(*message):
                process.send(b"A", reply)
    return job.result(*message)


@contextmanager
def script_limits(seconds: float) -> Iterator[None]:
    """Raise LuaLimitError for a script that is stopped, or that has no time left."""
    if seconds <= 0:
        raise LuaLimitError("there is no time left")
    try:
        yield
    except SandboxError as err:
        raise LuaLimitError(err.after(seconds)) from err


def start() -> Process:
    """Start a process for scripts."""
    return Process(Program(_SERVICE, MEMORY, grace=_GRACE_SECONDS))


WORKERS: Final = Pool(start, PROCESSES)


def _json(value: JSON) -> bytes:
    try:
        return orjson.dumps(value, default=dict)
    except TypeError as err:
        raise LuaRunError("its object is not JSON that a Go program reads") from err
