"""The program of a worker process: libjq behind a stream.

It is run as a script, by path, without the environment and the packages of the server: so it imports nothing but
the standard library and, by the path it is given, the ``jq`` extension.

A request is the time it may take in seconds, the lengths of the program and of the input, the program and the
input as JSON text. An answer is one letter, a length and that many bytes: ``R`` results as a JSON array, ``E`` the
message of an error, ``L`` the name of a limit.
"""

import json
import math
import resource
import struct
import sys
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import islice
from types import ModuleType
from typing import Final

REQUEST: Final = struct.Struct(">dII")
ANSWER: Final = struct.Struct(">cI")  # the frame that karta_interpreter.worker.process reads
MOST_RESULTS: Final = 999
MEMORY: Final = 512 * 2**20

_LONGEST_ANSWER: Final = 16 * 2**20
_MOST_PROGRAMS: Final = 256


def main(library: str) -> None:
    """Answer requests until the other side is gone."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    compiled = lru_cache(_MOST_PROGRAMS)(_load(library).compile)
    _send(b"R", b"")
    while header := sys.stdin.buffer.read(REQUEST.size):
        seconds, program_length, input_length = REQUEST.unpack(header)
        program = sys.stdin.buffer.read(program_length).decode()
        value = sys.stdin.buffer.read(input_length).decode()
        _limit_processor_time(seconds)
        try:
            results = list(islice(compiled(program).input_text(value), MOST_RESULTS + 1))
        except ValueError as error:
            _send(b"E", str(error).encode())
        except MemoryError:
            _send(b"L", b"memory")
        else:
            _send_results(results)


def _load(library: str) -> ModuleType:
    loader = ExtensionFileLoader("jq", library)
    spec = spec_from_loader("jq", loader)
    if spec is None:
        raise ImportError(library)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _limit_processor_time(seconds: float) -> None:
    """Have the kernel end this process if a request runs on while nobody is there to stop it."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = math.ceil(spent.ru_utime + spent.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, most))


def _send_results(results: list[object]) -> None:
    if len(results) > MOST_RESULTS:
        return _send(b"L", b"results")
    payload = json.dumps(results).encode()
    if len(payload) > _LONGEST_ANSWER:
        return _send(b"L", b"size")
    return _send(b"R", payload)


def _send(letter: bytes, payload: bytes) -> None:
    sys.stdout.buffer.write(ANSWER.pack(letter, len(payload)) + payload)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
