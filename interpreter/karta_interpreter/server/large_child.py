"""The program of a process that answers large calls, one at a time, for as long as it stays as it was.

It is run as a script, by path: so it imports what answers a call, and nothing of the server around it.

It is sent frames of the seconds that are left, a length and that many bytes: the body of a request, perhaps the
definition to answer it with, then an empty frame, which ends the call. It sends frames of a letter, a length and that
many bytes: what the request is about, then the answer, or instead of either why there is none, and at last that it is
ready for the next call. It ends instead when the calls have left something behind.
"""

import errno
import gc
import json
import math
import os
import resource
import struct
import sys
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Final

import orjson

from karta_interpreter import jq
from karta_interpreter.errors import InterpretationError, RequestError
from karta_interpreter.k8s.requirements import Counting
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.transfer import unpack, unpack_known
from karta_interpreter.operations import Call, Options, Results, interpret
from karta_interpreter.wire import Request, decode, encode_results

TO_CHILD: Final = struct.Struct(">dQ")
FROM_CHILD: Final = struct.Struct(">cQ")
ABOUT: Final = b"Q"
UNREADABLE: Final = b"U"
ANSWER: Final = b"A"
FAILURE: Final = b"F"
READY: Final = b"R"
BROKEN: Final = b"X"

NO_MEMORY: Final = errno.ENOMEM
"""The exit status when memory runs out, and a frame might take too much of it, too."""
MEMORY: Final = 2**30
LONGEST_ANSWER: Final = 16 * 2**20
"""Bytes; answers become parts of objects, of which etcd stores 1.5 MiB, and sending one must not take long either."""
TOO_DEEP: Final = "the object is nested too deeply"

MOST_CALLS: Final = 500
MOST_KEPT: Final = 80 * 2**20
"""Bytes of memory that a process may have after a call to get another one; 40 MiB are there at the start."""

_MOST_TAKEN_APART: Final = 160 * 2**20
_NICENESS: Final = 5
_DEFINITIONS: Final = 16


def main() -> None:
    """Answer the calls that come in."""
    _limit_resources()
    try:
        for number in range(1, MOST_CALLS + 1):
            _converse()
            gc.collect()
            if number == MOST_CALLS or _memory() > MOST_KEPT:
                break
            _send(READY, b"")
    except MemoryError:
        os._exit(NO_MEMORY)
    except Exception:  # noqa: BLE001 - the edge of the process
        _send(BROKEN, traceback.format_exc().encode(errors="replace"))
    os._exit(0)


def _limit_resources() -> None:
    gc.disable()  # requests are trees without cycles
    gc.freeze()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.nice(_NICENESS)  # the server has others to answer, perhaps on the same processor


def _converse() -> None:
    """Answer one call; nothing of it is left behind."""
    request = _read(*_receive())
    while (frame := _receive())[1]:
        if request is None or request.call is None:
            raise ValueError("there is no call to answer")
        _answer(request, request.call, *frame)
    if _memory() > _MOST_TAKEN_APART:
        # Taking a large object apart takes as long as making it did, and the kernel need not.
        os._exit(0)


def _read(seconds: float, body: bytes) -> Request | None:
    _limit_processor_time(seconds)
    try:
        request = decode(body)
    except RequestError as error:
        _send(UNREADABLE, orjson.dumps({"message": str(error), "status": error.status}))
        return None
    _send(ABOUT, _about(request))
    return request


def _answer(request: Request, call: Call, seconds: float, payload: bytes) -> None:
    try:
        _send_answer(encode_results(request, _interpret(call, seconds, payload)))
    except InterpretationError as error:
        _send_failure(error.code, str(error))
    except RecursionError:
        _send_failure(422, TOO_DEEP)


def _interpret(call: Call, seconds: float, payload: bytes) -> Results:
    said = json.loads(payload)
    counting = Counting(said["options"].pop("pod_requests"))
    definition, options = _definition(said["definition"]), Options(**said["options"], pod_requests=counting)
    with jq.deadline(seconds):
        return interpret(definition, call, options, reader=unpack_known(said["known"]))


@lru_cache(_DEFINITIONS)
def _definition(packed: str) -> Definition:
    """Compile a definition, unless one with the same content is there."""
    return unpack(json.loads(packed))


def _memory() -> float:
    """Return the bytes of memory that this process has at the moment, without end where nobody can tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    except OSError:
        return math.inf


def _about(request: Request) -> bytes:
    gvk, problem = request.gvk, request.problem
    return orjson.dumps(
        {
            "uid": request.uid,
            "gvk": gvk and [gvk.group, gvk.version, gvk.kind],
            "namespace": request.namespace,
            "name": request.name,
            "operation_name": request.operation_name,
            "problem": problem and {"message": str(problem), "code": problem.code},
        }
    )


def _limit_processor_time(seconds: float) -> None:
    """Have the kernel end this process if it runs on while nobody is there to stop it."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(spent.ru_utime + spent.ru_stime + seconds) + 1, most))


def _receive() -> tuple[float, bytes]:
    header = sys.stdin.buffer.read(TO_CHILD.size)
    if len(header) < TO_CHILD.size:
        os._exit(0)  # nobody is there any more
    seconds, length = TO_CHILD.unpack(header)
    return seconds, sys.stdin.buffer.read(length)


def _send_answer(answer: bytes) -> None:
    if len(answer) > LONGEST_ANSWER:
        raise InterpretationError(f"the answer has more than {LONGEST_ANSWER} bytes")
    _send(ANSWER, answer)


def _send_failure(code: int, message: str) -> None:
    _send(FAILURE, json.dumps({"message": message, "code": code}).encode())


def _send(letter: bytes, payload: bytes) -> None:
    sys.stdout.buffer.write(FROM_CHILD.pack(letter, len(payload)))
    sys.stdout.buffer.write(payload)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
