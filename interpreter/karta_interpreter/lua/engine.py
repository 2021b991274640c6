"""Running a script: in this process as long as it is quick, and in a process that can be killed when it is not.

A run that takes more than a slice of time or memory is abandoned and done again from its start under the real limits.
That changes nothing but the time it takes: scripts change nothing outside of themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

from karta_interpreter.errors import LuaWaitError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine.host import Own
from karta_interpreter.lua.machine.inside import compile_inside, run_inside
from karta_interpreter.lua.machine.runtime import Call, StoppedError
from karta_interpreter.lua.machine.worker import close_workers, run_outside
from karta_interpreter.lua.script import Script

__all__ = ["Own", "close_workers", "compile_script", "run", "without_waiting"]

_may_wait: Final[ContextVar[bool]] = ContextVar("may_wait", default=True)


def run(
    script: Script,
    arguments: Sequence[JSON],
    *,
    own: Own | None = None,
    said: Callable[[str], None] | None = None,
) -> tuple[JSON, ...]:
    """The results that count of the function that answers a script's operation, called with JSON arguments.

    They are written as JSON the way gopher-json does it: an empty table is ``[]``; a function is `FUNCTION`. A part of
    an argument that the script did not touch may come back as the same object, without its nulls. ``own`` is what
    ``require("karta")`` offers; ``said`` gets every line that the script prints.

    Raises LuaSyntaxError, LuaRunError with the line of the script, LuaLimitError, and LuaWaitError `without_waiting`.

    >>> run(Script("InterpretHealth", "function InterpretHealth(obj) return obj.ok end", "demo"), [{"ok": True}])
    (True,)
    """
    lines: list[str] = []
    say = lines.append if said else None
    owner = f"{script.source}:{script.name}"
    call = Call(
        script.text,
        script.function,
        arguments,
        own or {},
        say,
        script.results,
        owner,
        script.is_typed,
        script.prepared,
    )
    try:
        return tuple(_run(call, lines))
    finally:
        if said:
            for line in lines:
                said(line)


def _run(call: Call, lines: list[str]) -> list[JSON]:
    try:
        return run_inside(call)
    except StoppedError as stopped:
        lines.clear()  # it starts again, or nobody gets to know that it was tried
        if not _may_wait.get():
            raise LuaWaitError(f"it needs a process of its own: too much {stopped} for this one") from stopped
    return run_outside(call)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Have a run that needs a process of its own raise LuaWaitError instead, inside of the block."""
    token = _may_wait.set(False)
    try:
        yield
    finally:
        _may_wait.reset(token)


def compile_script(text: str) -> None:
    """See whether text is a script; raises LuaSyntaxError with the line. One that takes long to compile may be none.

    >>> compile_script("function GetReplicas(obj) return 1 end")
    """
    with suppress(StoppedError):
        compile_inside(text)
