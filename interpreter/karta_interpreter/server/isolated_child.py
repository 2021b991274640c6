"""The program of a child process for large calls and reviews (`karta_interpreter.sandbox.child`).

A request is the body of a call or of a review. The first message back is what the body is about, or why it cannot be
read. Then a call is answered with the definition and the options that it is sent; a review needs no more.
"""

import gc
import json
import math
import os
import resource
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from karta_interpreter import admission
from karta_interpreter.errors import InterpretationError, RequestError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.requirements import Counting
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.serialize import unpack, unpack_known
from karta_interpreter.operations import Call, Options, Results, interpret
from karta_interpreter.sandbox.deadline import deadline
from karta_interpreter.wire import Request, decode, encode_results

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Answer, Channel

CALL: Final = b"C"
ANSWER_CALL: Final = b"D"
DROP_CALL: Final = b"N"
VALIDATE: Final = b"V"
MUTATE: Final = b"M"

ABOUT: Final = b"Q"
UNREADABLE: Final = b"U"
ANSWER: Final = b"A"
FAILURE: Final = b"F"

MEMORY: Final = 2**30
NICENESS: Final = 5
"""The server has others to answer, perhaps on the same processor."""
LONGEST_ANSWER: Final = 16 * 2**20
"""Bytes; answers become parts of objects, of which etcd stores 1.5 MiB, and sending one must not take long either."""
TOO_DEEP: Final = "the object is nested too deeply"

MOST_REQUESTS: Final = 500
MOST_KEPT: Final = 80 * 2**20
"""Bytes of memory that a process may have after a request to get another one; it starts with 40 MiB."""

_MOST_FREED: Final = 160 * 2**20
_DEFINITIONS: Final = 16


def start() -> "Answer":
    """Prepare for requests, which are trees without cycles."""
    gc.disable()
    return Requests().answer


class Requests:
    """Answers requests, as many as a process may."""

    def __init__(self) -> None:
        self._left = MOST_REQUESTS

    def answer(self, channel: "Channel", letter: bytes, payload: bytes) -> None:
        """Answer one request; nothing of it is left behind, or the process ends."""
        if letter == CALL:
            _call(channel, payload)
        else:
            _review(channel, letter, payload)
        channel.flush()
        self._left -= 1
        gc.collect()
        if not self._left or _memory() > MOST_KEPT:
            os._exit(0)


def _review(channel: "Channel", letter: bytes, kinds: bytes) -> None:
    _, body = channel.receive()
    try:
        review = admission.read(body)
    except RequestError as error:
        _send_unreadable(channel, error)
        return
    try:
        subject = admission.subject(review)
    except RecursionError:
        subject = admission.Subject(review.uid, review.kind, is_settled=False)
    channel.send(ABOUT, orjson.dumps(asdict(subject)))
    channel.flush()
    try:
        answer = admission.mutate(review) if letter == MUTATE else admission.validate(review, _taken(kinds))
    except RecursionError:
        answer = admission.unjudged(subject, TOO_DEEP)
    channel.send(ANSWER, answer)


def _taken(kinds: bytes) -> dict[GVK, str]:
    return {GVK(group, version, kind): name for group, version, kind, name in orjson.loads(kinds)}


def _call(channel: "Channel", body: bytes) -> None:
    try:
        request = decode(body)
    except RequestError as error:
        _send_unreadable(channel, error)
        return
    channel.send(ABOUT, _about(request))
    letter, payload = channel.receive()
    if letter == ANSWER_CALL:
        if request.call is None:
            raise ValueError("there is no call to answer")
        _answer(channel, request, request.call, payload)
        channel.flush()
    if _memory() > _MOST_FREED:
        # To free a large tree takes as long as to make it, and the kernel frees it at once.
        os._exit(0)


def _answer(channel: "Channel", request: Request, call: Call, payload: bytes) -> None:
    try:
        answer = encode_results(request, _interpret(call, payload))
    except InterpretationError as error:
        _send_failure(channel, error.code, str(error))
    except RecursionError:
        _send_failure(channel, 422, TOO_DEEP)
    else:
        if len(answer) > LONGEST_ANSWER:
            _send_failure(channel, 422, f"the answer has more than {LONGEST_ANSWER} bytes")
        else:
            channel.send(ANSWER, answer)


def _interpret(call: Call, payload: bytes) -> Results:
    needed = json.loads(payload)
    counting = Counting(needed["options"].pop("pod_requests"))
    definition, options = _definition(needed["definition"]), Options(**needed["options"], pod_requests=counting)
    with deadline(needed["seconds"]):
        return interpret(definition, call, options, reader=unpack_known(needed["known"]))


@lru_cache(_DEFINITIONS)
def _definition(packed: str) -> Definition:
    """Compile a definition, unless one with the same content is there."""
    return unpack(json.loads(packed))


def _memory() -> float:
    """Return the bytes of memory that this process has, infinity on a system without ``/proc``."""
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


def _send_unreadable(channel: "Channel", error: RequestError) -> None:
    channel.send(UNREADABLE, orjson.dumps({"message": str(error), "status": error.status}))


def _send_failure(channel: "Channel", code: int, message: str) -> None:
    channel.send(FAILURE, json.dumps({"message": message, "code": code}).encode())
