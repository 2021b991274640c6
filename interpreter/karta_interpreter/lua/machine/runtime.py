"""One Lua virtual machine, and a call of a function in a script.

The machine is PUC Lua 5.1 where Karmada's is gopher-lua v1.1.1. What its libraries do differently is made the same
in ``lua/``. These differences are left:

- ``pairs`` goes through the keys of objects that a script is given in the order of their hashes, which is the same in
  every process, where Karmada has a random order; tables that a script makes keep gopher-lua's order;
- ``#`` of an array with holes may be another of its borders, and ``table.remove`` never removes a hole;
- ``table.sort`` may put values that compare equal in another order where there are more than twelve;
- the operator ``%`` rounds what is left of fractions (``5.5 % 0.1``), and of numbers beyond 2^53;
- text with leading zeros or underscores in arithmetic (``"010" + 1``) is decimal, as in Lua;
- integers of more than 64 bits are written with an exponent, which means the same to readers of JSON;
- functions nest thousands of calls deep instead of 256;
- messages of runtime errors are those of PUC Lua, which name the variable.

A machine has no limit on its allocator: an allocation that fails while Python pushes a value would leave Python's
code by a long jump. ``lua/limits.lua`` watches the memory instead.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import getrandbits
from typing import Any, Final, NamedTuple, NoReturn

from lupa import lua51

from karta_interpreter.errors import LuaRunError, LuaSyntaxError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.machine.exchange import Exchange, Token, TooLargeError
from karta_interpreter.lua.machine.host import Host, Kube, Own, Say
from karta_interpreter.lua.machine.source import placed, prepare
from karta_interpreter.lua.machine.spelling import decoded

_PARTS: Final = (
    *(
        "errors",
        "limits",
        "numbers",
        "lending",
        "ordering",
        "encoding",
        "arguments",
        "base",
        "modules",
        "patterns",
        "matching",
    ),
    *("strings", "tables", "environment", "main"),
)
_LOAD: Final = "local text, machine, host = ... assert(loadstring(text, '=[library]'))(machine, host)"
_EMPTY: Final = "local globals = _G for name in pairs(globals) do globals[name] = nil end"
_MOST_CHUNKS: Final = 200
_COMPILE_SECONDS: Final = 1.0
_SEED_BITS: Final = 30


class StoppedError(Exception):
    """A run that was stopped because of its ``time``, ``memory`` or ``depth``, or the ``size`` of a value."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What runs in a machine may use.

    KiB of memory, characters of a string, tokens that are lent, and bytes of all strings that are handed over at once.
    """

    memory: float
    longest: float
    tokens: float
    passed: float = 16 * 2**20


class Call(NamedTuple):
    """A function of a script, what it is called with, what it may call, who hears it, and how many results count.

    Calls with one ``owner`` share what runs of their scripts may take; ``typed`` results may be `Requirements`;
    ``prepared`` is the text as `prepare` gives it, where that is known.
    """

    text: str
    function: str
    arguments: Sequence[JSON]
    own: Own
    say: Say | None
    results: int
    owner: str = ""
    typed: bool = False
    prepared: str = ""


class Runtime:
    """A virtual machine for one thread at a time; not to be used again after StoppedError."""

    def __init__(self, limits: Limits, kube: Kube) -> None:
        self._limits = limits
        self._exchange = Exchange(limits.longest, limits.tokens)
        self._host = Host(self._exchange, kube)
        self._machine = _start(self._host, limits)
        self._run, self._rest = self._machine.run, self._machine.rest
        self._chunks: dict[str, Any] = {}

    @property
    def memory(self) -> float:
        """The KiB of memory that the machine holds."""
        return float(self._machine.memory())

    def compile(self, text: str) -> None:
        """See whether a script can be run; raises LuaSyntaxError."""
        self._chunk(prepare(text), _COMPILE_SECONDS)

    def run(self, call: Call, seconds: float) -> list[JSON]:
        """The results of a call that count; raises LuaSyntaxError, LuaRunError and StoppedError."""
        chunk = self._chunk(call.prepared or prepare(call.text), seconds)
        self._host.own, self._host.say, self._host.end = call.own, call.say, time.monotonic() + seconds
        try:
            return self._exchange.read(self._tokens(chunk, call, seconds), list, typed=call.typed)
        except UnicodeError as err:
            raise LuaRunError("a string that it passes on is not UTF-8 text") from err
        except RecursionError as err:
            raise LuaRunError("its arguments or results are nested too deep") from err
        except TooLargeError as err:
            raise StoppedError("result") from err
        except lua51.LuaMemoryError as err:
            raise StoppedError("memory") from err
        finally:
            self._host.clear()

    def _tokens(self, chunk: Any, call: Call, seconds: float) -> list[Token]:  # noqa: ANN401 - a function of Lua
        """The tokens of the results of a call."""
        lent = self._exchange.lend(call.arguments)
        try:
            outcome, left, *rest = self._run(
                chunk, call.function, call.results, seconds, self._limits.memory, bool(call.own), _seed(), *lent
            )
            if outcome == "results":
                return self._all(left, rest)
        except UnicodeDecodeError:
            return self._spelled()
        return _fail(outcome, left, rest, call.function)

    def _spelled(self) -> list[Token]:
        """The tokens of results some of whose strings are not UTF-8; raises the error with such a message."""
        message, line = self._machine.failed()
        if message is not None:
            raise _run_error(decoded(message), line)
        first = self._machine.first_spelled()
        if first is None:
            raise StoppedError("result")
        left, *rest = first
        decode = cache(decoded)  # they may be few strings, many times
        return [decode(token) if isinstance(token, str) else token for token in self._all(left, rest)]

    def _all(self, left: int, tokens: list[Token]) -> list[Token]:
        """Tokens that a run gave, with those that it has left."""
        while left:
            left, *more = self._rest()
            tokens += more
        return tokens

    def _chunk(self, prepared: str, seconds: float) -> Any:  # noqa: ANN401 - a function of Lua
        chunk = self._chunks.get(prepared)
        if chunk is None:
            chunk, problem = self._machine.load(prepared, seconds)
            if chunk is None:
                if problem is None:
                    raise StoppedError("time")
                message, line = placed(decoded(problem))
                raise LuaSyntaxError(message, line=line)
            if len(self._chunks) >= _MOST_CHUNKS:
                self._chunks.clear()
            self._chunks[prepared] = chunk
        return chunk


def _start(host: Host, limits: Limits) -> Any:  # noqa: ANN401 - a table of Lua
    """The half of a new machine that is written in Lua."""
    lua = lua51.LuaRuntime(
        register_eval=False,
        register_builtins=False,
        unpack_returned_tuples=True,
        attribute_filter=_refuse,
        overflow_handler=_as_float,
    )
    as_function = lua.eval("python.as_function")
    machine, functions = lua.table(), lua.table(longest=limits.longest, passed=limits.passed)
    for name, function in host.functions():
        functions[name] = as_function(function)
    functions.kube, functions.kube_about = lua.table(), lua.table()
    for name, call, about in host.kube():
        functions.kube[name], functions.kube_about[name] = as_function(call), as_function(about)
    for part in _PARTS:
        lua.execute(_LOAD, _text(part), machine, functions)
    lua.execute(_EMPTY)
    return machine


@cache
def _text(part: str) -> str:
    return files(__package__).joinpath("lua", f"{part}.lua").read_text()


def _fail(outcome: str, cause: Any, details: list[Token], function: str) -> NoReturn:  # noqa: ANN401 - by the outcome
    if outcome == "stopped":
        raise StoppedError(cause)
    if outcome == "python" and isinstance(cause, BaseException):
        raise cause
    if outcome == "missing":
        missing = f"not found function {function}" if cause == "nil" else f"{function} is not a function: {cause}"
        raise LuaRunError(missing)
    raise _run_error(cause, details[0])


def _run_error(problem: str, noted: int) -> LuaRunError:
    """The error with the line that its message names, or else the one that was noted."""
    message, line = placed(problem)
    return LuaRunError(message, line=line or noted)


def _seed() -> int:
    return getrandbits(_SEED_BITS) or 1


def _refuse(*_: object) -> NoReturn:
    """No attribute of anything in Python may be seen or changed from Lua."""
    raise AttributeError("not for scripts")


def _as_float(number: int) -> float:
    """An integer beyond 64 bits, as JSON readers of Go have it."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
