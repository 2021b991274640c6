"""A program for children: it answers with what it is sent, and does what some letters ask for."""

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any


def start(*arguments: str) -> Callable[[Any, bytes, bytes], None]:
    if "fail" in arguments:
        raise RuntimeError("it does not start")

    def answer(channel: Any, letter: bytes, payload: bytes) -> None:
        if letter == b"w":
            channel.send(b"R", payload)
            channel.flush()
            time.sleep(600)
        elif letter == b"g":
            large = b"x" * 2**26
            channel.send(b"1", large[:1])
            channel.flush()
            time.sleep(600)
        elif letter in ACTIONS:
            ACTIONS[letter](payload)
        elif letter == b"2":
            channel.send(b"1", payload)
            _, more = channel.receive()
            channel.send(b"2", more)
        elif letter != b"n":
            channel.send(b"R", ANSWERS[letter](arguments) if letter in ANSWERS else payload)

    return answer


def fail(payload: bytes) -> None:
    raise RuntimeError(payload.decode())


def lack_room(payload: bytes) -> None:
    raise json.JSONDecodeError(payload.decode(), "", 0)


class LateError(Exception):
    """Memory runs out when the error is reported."""

    pos = 0

    def __str__(self) -> str:
        raise MemoryError


def fail_late(payload: bytes) -> None:
    raise LateError(payload.decode())


def work(seconds: float) -> None:
    """Take some of the time that the limit counts."""
    begun = signal.getitimer(signal.ITIMER_PROF)[0]
    while begun - signal.getitimer(signal.ITIMER_PROF)[0] < seconds:
        sum(range(1000))


ACTIONS: dict[bytes, Callable[[bytes], object]] = {
    b"s": lambda _: time.sleep(600),
    b"d": lambda _: os._exit(3),
    b"k": lambda _: os.abort(),
    b"m": lambda _: bytearray(1 << 40),
    b"x": fail,
    b"p": lack_room,
    b"l": fail_late,
    b"c": lambda _: work(0.05),
    b"e": lambda _: work(600),
}
ANSWERS: dict[bytes, Callable[[tuple[str, ...]], bytes]] = {
    b"a": lambda arguments: " ".join(arguments).encode(),
    b"t": lambda _: str(signal.getitimer(signal.ITIMER_PROF)[0]).encode(),
}
