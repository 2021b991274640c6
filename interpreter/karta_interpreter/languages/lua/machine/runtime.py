"""One Lua virtual machine, and a call of a function in a script.

The machine is PUC Lua 5.2. Karmada's is gopher-lua v1.1.1. Differences of its libraries are made equal in ``lua/``,
differences of its language in `source`, and differences of its compiler in `bytecode`. These differences are left:

- ``pairs`` goes through the keys of objects that a script is given in alphabetical order, where Karmada has them in
  random order. Tables that a script makes keep gopher-lua's order.
- ``#`` of an array with holes may be another of its borders, and ``table.remove`` never removes a hole.
- ``table.sort`` may put values that compare equal in another order if there are more than twelve.
- The operator ``%`` rounds the remainder of fractions (``5.5 % 0.1``), and of numbers beyond 2^53.
- Text with leading zeros or underscores in arithmetic (``"010" + 1``) is decimal, as in Lua.
- Integers of more than 64 bits are written with an exponent, which means the same to readers of JSON.
- Functions nest thousands of calls deep instead of 256, and a chain of ``..`` has at most 95 parts instead of 200.
- Messages of runtime errors and of the compiler are PUC Lua's, which name the variable.
- ``x = not f() and y`` and ``x, z = f() and y, 1`` set a local x to the value of the left side. gopher-lua leaves it as
  it is.

Nothing here limits a script: a machine runs in a process that has limits of its own, and can be killed.
"""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pkgutil import get_data
from random import getrandbits
from typing import Any, Final, NamedTuple, NoReturn

from lupa import lua52

from karta_interpreter.base.errors import LuaRunError, LuaSyntaxError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.lua.machine.bytecode import kept_locals
from karta_interpreter.languages.lua.machine.host import Host, Kube, OnPrint, as_latin1, decoded
from karta_interpreter.languages.lua.machine.names import Mention, Names, names_of
from karta_interpreter.languages.lua.machine.source import placed, readable, rewrite
from karta_interpreter.languages.lua.script import Own

_PARTS: Final = (
    *("errors", "numbers", "lazy_tables", "ordering", "json", "arguments", "base", "modules", "patterns", "matching"),
    *("strings", "tables", "environment", "main"),
)
_LOAD: Final = "local text, machine, host = ... assert(load(text, '=[library]'))(machine, host)"
_EMPTY: Final = "local globals = _G for name in next, globals do globals[name] = nil end"
_MOST_CHUNKS: Final = 200
_SEED_BITS: Final = 30


class TooLargeError(Exception):
    """A value that is handed over is too large."""


class ScriptCall(NamedTuple):
    """A function of a script, its arguments as JSON text, how many results count, and the functions it may call."""

    text: str
    function: str
    arguments: Sequence[bytes]
    results: int
    own: Own
    on_print: OnPrint | None = None


class Runtime:
    """A virtual machine for one thread. It must not be used again after MemoryError."""

    def __init__(self, kube: Kube) -> None:
        # Lua 5.2 reads everything that gopher-lua reads, `goto` too, and the `_ENV` of a chunk can be set for each run.
        self._lua = lua52.LuaRuntime(
            encoding="latin-1",
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_refuse,
            overflow_handler=_as_float,
        )
        self._host = Host(kube, partial(self._lua.table_from, recursive=True))
        # The half of the machine that is written in Lua. Without `as_function` Lua has userdata for our functions, and
        # lupa would look up attributes on it.
        as_function = self._lua.eval("python.as_function")
        self._machine, functions = self._lua.table(), self._lua.table()
        for name, function in self._host.functions():
            functions[name] = as_function(function)
        for module in _PARTS:
            text = (get_data(__package__, f"lua/{module}.lua") or b"").decode()
            self._lua.execute(_LOAD, text, self._machine, functions)
        # The parts hold on to everything they need. Nothing else of Lua or lupa is left for a script to find.
        self._lua.execute(_EMPTY)
        self._chunk = lru_cache(_MOST_CHUNKS)(self._load)

    def run(self, call: ScriptCall) -> list[JSON]:
        """Return the results of a call that count.

        An empty table is ``[]``, as gopher-json has it. A function is `FUNCTION`. Raises LuaSyntaxError, LuaRunError,
        TooLargeError, RecursionError and MemoryError.
        """
        chunk = self._chunk(call.text)
        self._host.begin(call.own, call.on_print)
        outcome, *details = self._machine.run(
            chunk,
            call.function,
            call.results,
            bool(call.own),
            # The generator in `environment.lua` multiplies its state: of 0 it makes nothing but 0.
            getrandbits(_SEED_BITS) or 1,
            *(text for argument in call.arguments for text in self._host.give_text(argument)),
        )
        if outcome != "results":
            raise _error(outcome, details, call.function)
        return self._host.given_values(details[1:], [])

    def names(self, text: str) -> Names:
        """Return the names of a script. Raise LuaSyntaxError."""
        self._chunk(text)
        bytecode, problem = _pair(self._machine.compiled(as_latin1(readable(text))))
        if bytecode is None:
            raise _syntax_error(problem)
        names = names_of(text)
        names.kept = [Mention(*kept) for kept in kept_locals(bytecode.encode("latin-1"))]
        return names

    def _load(self, text: str) -> Any:  # noqa: ANN401 - a function of Lua
        chunk, problem = _pair(self._machine.load(as_latin1(rewrite(text))))
        if chunk is None:
            # The message quotes the text near the error: the author's text, not the output of `rewrite`.
            _, own_problem = _pair(self._machine.load(as_latin1(readable(text))))
            raise _syntax_error(own_problem or problem)
        return chunk


def _pair(result: Any) -> tuple[Any, str | None]:  # noqa: ANN401 - a function of Lua, or nil and a message
    return result if isinstance(result, tuple) else (result, None)


def _error(outcome: str, details: Sequence[Any], function: str) -> BaseException:
    match outcome, details[0]:
        case "memory", _:
            return MemoryError()
        case "python", BaseException() as cause:
            return cause
        case "missing", "nil":
            return LuaRunError(f"not found function {function}")
        case "missing", kind:
            return LuaRunError(f"{function} is not a function: {kind}")
    message, line = placed(decoded(str(details[0])))
    return LuaRunError(message, line=line or details[1])


def _syntax_error(problem: str | None) -> LuaSyntaxError:
    message, line = placed(decoded(problem or ""))
    return LuaSyntaxError(message, line=line)


def _refuse(*_: object) -> NoReturn:
    """No attribute of anything in Python may be seen or changed from Lua."""
    raise AttributeError("not for scripts")


def _as_float(number: int) -> float:
    """Return an integer beyond 64 bits, as JSON readers of Go have it."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
