"""The program of a child process for jq (`karta_interpreter.base.sandbox.child`): libjq, loaded without its package.

It imports nothing but the standard library and the ``jq`` extension. A request is the length of the program, the most
results, the program, and the input as JSON text. The answer is the results as a JSON array, the message of an error, or
empty for results beyond a limit.
"""

import json
import struct
from collections.abc import Callable
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import jq

    from karta_interpreter.base.sandbox.child import Answer, Channel

HEAD: Final = struct.Struct(">II")
RESULTS: Final = b"R"
FAILED: Final = b"E"
TOO_MANY: Final = b"N"
TOO_LARGE: Final = b"L"

MOST_RESULTS: Final = 999
"""Karta's own limit, for the expressions that its admission and its library know."""
MOST_OUTPUTS: Final = 10_000
"""The limit of expressions in annotations, which nobody else evaluates: as many as elements that one goes through."""
MEMORY: Final = 512 * 2**20

_LONGEST_ANSWER: Final = 16 * 2**20
_MOST_PROGRAMS: Final = 256


def start(library: str) -> "Answer":
    """Load libjq from the file of the extension."""
    loader = ExtensionFileLoader("jq", library)
    libjq = module_from_spec(ModuleSpec("jq", loader, origin=library))
    loader.exec_module(libjq)
    # To compile takes 0.75 ms: libjq binds all of its built-ins again.
    compiled = lru_cache(_MOST_PROGRAMS)(libjq.compile)

    def answer(channel: "Channel", _: bytes, request: bytes) -> None:
        channel.send(*_evaluate(compiled, request))

    return answer


def _evaluate(compiled: Callable[[str], "jq._Program"], request: bytes) -> tuple[bytes, bytes]:
    length, most = HEAD.unpack_from(request)
    end = HEAD.size + length
    program, value = request[HEAD.size : end].decode(), request[end:].decode()
    try:
        # As text, which libjq parses: of a value the package would first make text.
        results = list(islice(compiled(program).input_text(value), most + 1))
    except ValueError as error:
        return FAILED, str(error).encode()
    if len(results) > most:
        return TOO_MANY, b""
    payload = json.dumps(results).encode()
    return (TOO_LARGE, b"") if len(payload) > _LONGEST_ANSWER else (RESULTS, payload)
