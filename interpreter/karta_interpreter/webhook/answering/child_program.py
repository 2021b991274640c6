"""The program of a child process for calls and reviews (`karta_interpreter.base.sandbox.child`).

A request is the body of a call or of a review. The first message back says what the body is about, or why it cannot be
read. The next message has the data for the answer: the definition and the options for a call, and the kinds that are
taken for a review. It is empty if there will be no answer. Before it answers, this process may ask for objects to which
the definition refers.
"""

import gc
import json
import time
from collections.abc import Sequence
from typing import Any, Final

import orjson
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError, QueryReferenceError, RequestError
from karta_interpreter.base.k8s import GVK, JSON, NewObject, Object
from karta_interpreter.base.sandbox import deadline
from karta_interpreter.base.sandbox.child import Answer, Channel
from karta_interpreter.definitions.karta import ReferenceReader
from karta_interpreter.definitions.karta.packing import unpack
from karta_interpreter.engine.operations import Options, interpret
from karta_interpreter.webhook import admission
from karta_interpreter.webhook.wire import Request, decode, encode_results

CALL: Final = b"C"
REVIEW: Final = b"R"

ABOUT: Final = b"Q"
LOOK_UP: Final = b"L"
UNREADABLE: Final = b"U"
ANSWER: Final = b"A"
FAILURE: Final = b"F"
ABSENT: Final = b"N"

MEMORY: Final = 2**30
NICENESS: Final = 5
"""The server has other calls to answer, perhaps on the same processor."""
LONGEST_ANSWER: Final = 16 * 2**20
"""Bytes. Answers become parts of objects, and etcd stores 1.5 MiB. Sending one must not take long either."""
TOO_DEEP: Final = "the object is nested too deeply"

MOST_KEPT: Final = 80 * 2**20
"""A process with more bytes of memory after a request does not get another one. It starts with 40 MiB."""


_MOST_FREED: Final = 160 * 2**20
_SMALL: Final = 2**16
"""Bytes of a body. Below that, so little is left behind that the answer can wait until it is freed."""


def start() -> Answer:
    """Prepare for requests, which are trees without cycles. Return the function that answers one."""
    gc.disable()

    def answer(channel: Channel, letter: bytes, payload: bytes) -> None:
        _exchange(channel, letter, payload)
        # Nothing of a request is left behind, or the process ends. A definition that is kept is not looked at again.
        gc.collect()
        gc.freeze()
        channel.end_above(MOST_KEPT)

    return answer


def _exchange(channel: Channel, letter: bytes, body: bytes) -> None:
    until = time.monotonic() + channel.seconds
    try:
        review = admission.read(body) if letter == REVIEW else decode(body)
    except RequestError as error:
        channel.send(UNREADABLE, orjson.dumps({"message": str(error), "status": error.status}))
        return
    channel.send(ABOUT, orjson.dumps(_about(review)))
    _, needed = channel.receive()
    if needed:
        with deadline(until - time.monotonic()):
            channel.send(*_encoded(channel, review, orjson.loads(needed)))
    if len(body) > _SMALL:
        channel.flush()
        # Freeing a large tree takes as long as making it, and the kernel frees it immediately.
        channel.end_above(_MOST_FREED)


def _encoded(channel: Channel, message: Request | admission.Review, needed: NewObject) -> tuple[bytes, bytes]:
    try:
        if isinstance(message, Request):
            if message.call is None:
                raise ValueError("there is no call to answer")
            definition, options = unpack(needed["definition"]), Options.of(needed["options"])
            results = interpret(definition, message.call, options, reader=_ServerReader(channel))
            answer = encode_results(message, results, options)
        else:
            answer = admission.validate(message, {GVK(*kind): name for *kind, name in needed["taken"]})
        if len(answer) <= LONGEST_ANSWER:
            return ANSWER, answer
        failure = InterpretationError(f"the answer has more than {LONGEST_ANSWER} bytes")
    except InterpretationError as error:
        failure = error
    except RecursionError:
        failure = InterpretationError(TOO_DEEP)
    return FAILURE, json.dumps({"message": str(failure), "code": failure.code}).encode()


_ERRORS: Final = {FAILURE: QueryReferenceError, ABSENT: QueryAbsentError}


class _ServerReader(ReferenceReader):
    """Looks up objects of the other process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object with that name, None if it does not exist."""
        return next(iter(self._found(gvk, namespace, name)), None)

    def list(self, gvk: GVK, namespace: str) -> Sequence[Object]:
        """Return the objects of a kind in a namespace."""
        return self._found(gvk, namespace)

    def served(self, kinds: Sequence[GVK]) -> GVK:
        """Return the first of some kinds that the server has."""
        (kind,) = self._found({"served": [[*gvk] for gvk in kinds]})
        return GVK(*kind)

    def _found(self, *place: JSON) -> Sequence[Any]:
        self._channel.send(LOOK_UP, json.dumps(place).encode())
        letter, payload = self._channel.receive()
        if letter in _ERRORS:
            raise _ERRORS[letter](payload.decode())
        try:
            objects: Sequence[Any] = orjson.loads(payload)
        except orjson.JSONDecodeError as error:
            raise QueryReferenceError(f"an object of the kind cannot be read: {error}") from error
        return objects


def _about(message: Request | admission.Review) -> NewObject:
    if not isinstance(message, Request):
        try:
            return structs.asdict(admission.subject(message))
        except RecursionError:
            return structs.asdict(admission.Subject(message.uid, message.kind.kind, is_settled=False))
    problem = message.problem and {"message": str(message.problem), "code": message.problem.code}
    return structs.asdict(message) | {"gvk": message.gvk and [*message.gvk], "call": None, "problem": problem}
