"""The program of a process for scripts (`karta_interpreter.base.sandbox.child`).

A request is JSON. ``["answer", script, operation, arguments, names, prints]`` has the names that ``require("karta")``
offers and whether its printed text is used. The other request is ``["lint", script, operation]``. A message back is
JSON, too:

- ``R`` the result.
- ``E`` the kind, the message, the line and the hint of an error.
- ``S`` that its result is too large.
- ``P`` text that it printed.
- ``C`` a function of ``karta`` and its arguments. The reply is whether it succeeded, and its results or message.
"""

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from karta_interpreter.base.errors import LuaError, LuaRunError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.lint import lint
from karta_interpreter.languages.lua.machine.runtime import Runtime, ScriptCall, TooLargeError
from karta_interpreter.languages.lua.results import dropped, read_results

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Answer, Channel

# How many of the arguments decide which empty tables of the result are lists.
_REFERENCES: Final = {"Retain": 2, "ReviseReplica": 1, "ReviseComponents": 1}

LONGEST: Final = 16 * 2**20
"""The longest message, in bytes."""

MOST_KEPT: Final = 64 * 2**20
"""A process with more bytes of memory after a request does not get another one. It starts with 20 MiB."""


class _Request(msgspec.Struct, array_like=True):
    """A request. The arguments are not decoded here, and a request to lint has none."""

    kind: str
    text: str
    operation: str
    # msgspec makes a new list for each request.
    arguments: list[msgspec.Raw] = []
    names: list[str] = []
    prints: bool = False


_REQUEST: Final = msgspec.json.Decoder(_Request)


class _Conversation:
    """The messages of one request."""

    def __init__(self, channel: "Channel") -> None:
        self._channel = channel

    def answer(self, runtime: Runtime, request: bytes) -> None:
        """Run or lint a script, and send the result or the error."""
        try:
            self.send(b"R", self._result(runtime, _REQUEST.decode(request)))
        except LuaError as error:
            self.send(b"E", [type(error).__name__, str(error), error.line, error.hint])
        except RecursionError:
            self.send(b"E", ["LuaRunError", "its arguments or results are nested too deeply", 0, ""])
        except (orjson.JSONDecodeError, msgspec.MsgspecError):
            self.send(b"E", ["LuaRunError", "its object is not JSON that a Go program reads", 0, ""])
        except TooLargeError:
            self.send(b"S", None)

    def _result(self, runtime: Runtime, request: _Request) -> JSON:
        operation = request.operation
        if request.kind == "lint":
            return [list(finding) for finding in lint(operation, request.text, runtime.names)]
        functions = {name: partial(self._ask, name) for name in request.names}
        slot, arguments = SLOTS[operation], list(map(bytes, request.arguments))
        on_print = partial(self.send, b"P") if request.prints else None
        call = ScriptCall(request.text, slot.function, arguments, len(slot.results), functions, on_print)
        references = map(orjson.loads, arguments[: _REFERENCES.get(operation, 0)])
        returned = runtime.run(call)
        results = read_results(operation, returned, list(references))
        # Only a person who asks for the printed text reads what Karmada leaves out.
        if request.prints:
            for path in sorted(dropped(dict(zip(results, returned, strict=False)), results)):
                self.send(b"P", f"warning: Karmada drops {path}")
        return results

    def _ask(self, name: str, *arguments: JSON) -> tuple[JSON, ...]:
        """Return the results of a function of ``karta``, which the other process has."""
        self.send(b"C", [name, arguments])
        _, reply = self._channel.receive()
        succeeded, results = orjson.loads(reply)
        if not succeeded:
            raise LuaRunError(results)
        return tuple(results)

    def send(self, letter: bytes, value: JSON) -> None:
        """Send a message."""
        # Sorted: the order of keys in a table of Lua differs between processes, and replicas have to answer alike.
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if len(data) > LONGEST:
            raise TooLargeError
        self._channel.send(letter, data)
        if letter == b"P":
            self._channel.flush()  # printed text arrives even if the process is killed


def start() -> "Answer":
    """Make the machine. Its process ends when a script has used all of its memory."""
    runtime = Runtime(KUBE)

    def answer(channel: "Channel", _: bytes, request: bytes) -> None:
        _Conversation(channel).answer(runtime, request)
        channel.end_above(MOST_KEPT)

    return answer
