"""What a worker process does: it runs scripts for the process at the other end of a stream.

A request is the processor time it may take in seconds, a length, and that many bytes of JSON: the prepared script, the
function, its arguments, the names that ``require("karta")`` offers, how many results count. A message back is a letter,
a length, and JSON: ``R`` the results, and for each a word where JSON has none for it; ``E`` the message and the line of
an error; ``S`` why it was stopped; ``P`` text that it printed; ``C`` a function of ``karta`` and its arguments, which
is answered by a length and JSON: whether it succeeded, its results or message.
"""

import math
import resource
import struct
from functools import partial
from typing import BinaryIO, Final

import orjson

from karta_interpreter.errors import LuaError, LuaRunError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.kube import KUBE
from karta_interpreter.lua.machine.runtime import Call, Limits, Runtime, StoppedError
from karta_interpreter.lua.values import FUNCTION
from karta_interpreter.worker.process import FRAME

REQUEST: Final = struct.Struct(">dI")
ANSWER: Final = struct.Struct(">I")
MEMORY: Final = 256 * 2**20
LONGEST: Final = 16 * 2**20

_LIMITS: Final = Limits(memory=MEMORY / 1024, longest=math.inf, tokens=math.inf)


class Service:
    """One machine after the other; a machine is not used again when a script was stopped in it."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers

    def serve(self) -> None:
        """Say that everything is there, and answer requests until there are no more."""
        runtime = Runtime(_LIMITS, KUBE)
        self._send(b"R", [])
        while header := self._requests.read(REQUEST.size):
            seconds, length = REQUEST.unpack(header)
            _limit_processor_time(seconds)
            request = orjson.loads(self._requests.read(length))
            if not self._answer(runtime, request, seconds):
                del runtime  # before there is another one
                runtime = Runtime(_LIMITS, KUBE)

    def _answer(self, runtime: Runtime, request: list[JSON], seconds: float) -> bool:
        """Answer one request; whether the machine can be used again."""
        source, function, arguments, names, wanted = request
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
        (length,) = ANSWER.unpack(self._requests.read(ANSWER.size))
        succeeded, results = orjson.loads(self._requests.read(length))
        if not succeeded:
            raise LuaRunError(results)
        return tuple(results)

    def _send(self, letter: bytes, value: JSON) -> None:
        data = orjson.dumps(value)
        if len(data) > LONGEST:
            raise StoppedError("result")
        self._answers.write(FRAME.pack(letter, len(data)) + data)
        self._answers.flush()


def _word(result: JSON) -> str:
    """What says a result that JSON has no word for: a function, infinity, or no number."""
    if result is FUNCTION:
        return "function"
    return str(result) if type(result) is float and not math.isfinite(result) else ""


def _limit_processor_time(seconds: float) -> None:
    """Have the kernel end this process if a request runs on while nobody is there to stop it."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = math.ceil(spent.ru_utime + spent.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, most))
