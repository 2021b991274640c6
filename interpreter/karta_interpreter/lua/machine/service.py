"""What a process for scripts runs (`karta_interpreter.sandbox.child`).

A request is JSON: the prepared script, the function, its arguments, the names that ``require("karta")`` offers, and
how many results count. A message back is JSON, too: ``R`` the results, and for each a word where JSON has none for it;
``E`` the message and the line of an error; ``S`` why it was stopped; ``P`` text that it printed; ``C`` a function of
``karta`` and its arguments, to which the reply is whether it succeeded, and its results or message.
"""

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import orjson

from karta_interpreter.errors import LuaError, LuaRunError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.kube import KUBE
from karta_interpreter.lua.machine.runtime import Call, Limits, Runtime, StoppedError
from karta_interpreter.lua.values import FUNCTION

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Answer, Channel

MEMORY: Final = 256 * 2**20
LONGEST: Final = 16 * 2**20

_LIMITS: Final = Limits(memory=MEMORY / 1024, longest=math.inf, tokens=math.inf)


class Service:
    """One machine after the other; a machine is not used again when a script was stopped in it."""

    def __init__(self) -> None:
        self._runtime = Runtime(_LIMITS, KUBE)

    def answer(self, channel: "Channel", _: bytes, payload: bytes) -> None:
        """Run a script."""
        if not _Run(channel).answer(self._runtime, orjson.loads(payload)):
            del self._runtime  # before there is another one
            self._runtime = Runtime(_LIMITS, KUBE)


class _Run:
    def __init__(self, channel: "Channel") -> None:
        self._channel = channel

    def answer(self, runtime: Runtime, request: list[JSON]) -> bool:
        """Answer one request; whether the machine can be used again."""
        source, function, arguments, names, wanted = request
        seconds = self._channel.seconds
        own = {name: partial(self._ask, name) for name in names}
        try:
            say = partial(self._send, b"P")
            results = runtime.run(Call("", function, arguments, own, say, wanted, prepared=source), seconds)
            words = [_word(result) for result in results]
            self._send(b"R", [[None if word else result for result, word in zip(results, words, strict=True)], words])
        except LuaError as error:
            self._send(b"E", [str(error), error.line])
        except (StoppedError, MemoryError) as error:
            self._send(b"S", "memory" if isinstance(error, MemoryError) else str(error))
            return False
        return True

    def _ask(self, name: str, *arguments: JSON) -> tuple[JSON, ...]:
        """The results of a function of ``karta``, which the other process has."""
        self._send(b"C", [name, arguments])
        _, reply = self._channel.receive()
        succeeded, results = orjson.loads(reply)
        if not succeeded:
            raise LuaRunError(results)
        return tuple(results)

    def _send(self, letter: bytes, value: JSON) -> None:
        data = orjson.dumps(value)
        if len(data) > LONGEST:
            raise StoppedError("result")
        self._channel.send(letter, data)
        if letter == b"P":
            self._channel.flush()  # what was printed is there even if the process is killed


def _word(result: JSON) -> str:
    """What says a result that JSON has no word for: a function, infinity, or no number."""
    if result is FUNCTION:
        return "function"
    return str(result) if type(result) is float and not math.isfinite(result) else ""


def start() -> "Answer":
    """Make the first machine."""
    return Service().answer
