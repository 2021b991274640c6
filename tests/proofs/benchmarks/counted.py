"""The program whose instructions are counted: the floor first, then the calls of each operation, without a network."""

import asyncio
import ctypes
import gc
import mmap
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.call_log import CallLog
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.fights import Fights
from karta_interpreter.webhook.http.connection import Connection
from karta_interpreter.webhook.http.listener import Connections
from karta_interpreter.webhook.process.application import Application
from karta_interpreter.webhook.process.health import Readiness
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.settings import Settings

_PIECE: Final = 4096
"""Karmada's client cuts a request there."""
_HEAD: Final = (
    b"POST /interpret?timeout=3s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\n"
    b"Content-Length: %d\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n"
    b"Accept-Encoding: gzip\r\n\r\n%b"
)
FLOOR: Final = 100
"""Rounds of the floor."""
_CODE: Final = bytes.fromhex(
    "4889f8 31d2"  # the arguments, and the result outside of Valgrind
    "48c1c703 48c1c70d 48c1c73d 48c1c733 4887db"  # what Valgrind takes for a request on amd64 (valgrind.h)
    "4889d0 c3"
)
_DUMP, _ZERO, _START, _STOP = ((ord("C") << 24 | ord("T") << 16) + number for number in (0, 1, 4, 5))
"""Requests of callgrind (callgrind.h)."""


class _Sink(asyncio.Transport):
    """The end of a connection that leads to nobody."""

    answered = 0

    def pause_reading(self) -> None:
        """Another request is written before the answer to this one."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.answered += b'"successful":true' in data

    def is_closing(self) -> bool:
        return False


class Callgrind:
    """Makes requests of callgrind by machine code, which does nothing elsewhere: Python has no other way to count."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64))(address)

    def request(self, number: int) -> None:
        self._call((ctypes.c_uint64 * 6)(number))


class _Pair:
    __slots__ = ("left", "right")

    def __init__(self, left: int, right: int) -> None:
        self.left, self.right = left, right

    def added(self, number: int) -> int:
        return self.left + number if number % 3 else self.right


def floor(rounds: int) -> int:
    """Do what Python does all day: calls, attributes, branches, loops, dictionaries, lists and texts."""
    pair, found = _Pair(1, 2), dict[str, list[int]]()
    for number in range(rounds):
        name = f"k{number % 10}"
        if name in found:
            found[name].append(pair.added(number))
        else:
            found[name] = [number]
    return len({name: tuple(numbers) for name, numbers in found.items() if len(numbers) > 1})


async def count(several: Sequence[Sequence[bytes]], looked_at: Sequence[bytes] = ()) -> None:
    """Do everything once, which pays for what is made once, and again to be counted, part by part.

    The last part are calls of Retain that are looked at for fights. Those before are not.
    """
    ask, calls, sink = await _server()
    parts: list[Callable[[], object]] = [partial(floor, FLOOR), *(partial(_all, ask, bodies) for bodies in several)]
    callgrind = Callgrind()
    _count(parts, callgrind)
    # No time passes for it, so that it looks at each call.
    calls.observers = [*calls.observers, Fights(float, float, float).see]
    _count([partial(_all, ask, looked_at)], callgrind)
    if sink.answered != 2 * sum(map(len, (*several, looked_at))):
        sys.exit("some calls were not answered at once")


def _count(parts: Sequence[Callable[[], object]], callgrind: Callgrind) -> None:
    for part in parts:
        part()
    count_parts(parts, callgrind)


def count_parts(parts: Sequence[Callable[[], object]], callgrind: Callgrind) -> None:
    """Do each part once, and have its instructions written to a file of its own."""
    callgrind.request(_START)
    for part in parts:
        callgrind.request(_ZERO)
        part()
        callgrind.request(_DUMP)
    callgrind.request(_STOP)


async def _server() -> tuple[Callable[[bytes], None], Calls, _Sink]:
    """Return a server, its calls, and what it writes to."""
    store = Store(())
    store.load()
    metrics, sink = Metrics(), _Sink()
    settings = Settings(
        header_timeout=60.0, exchange_timeout=60.0, webhook_timeout=30, body_limit=2**20, connection_age=0
    )
    calls = Calls(store, Options(), clock=float, rehearses=False)
    calls.observers = [observer.see for observer in (CallLog(), metrics)]
    connection = Connections(Application(calls, Readiness(store), metrics, settings), settings)()
    connection.connection_made(sink)
    await asyncio.sleep(0.01)  # aiohttp begins to wait for a request in another turn of the event loop
    return partial(_ask, connection), calls, sink


def _all(ask: Callable[[bytes], None], bodies: Sequence[bytes]) -> None:
    for body in bodies:
        ask(body)


def _ask(connection: Connection, body: bytes) -> None:
    text = _HEAD % (len(body), body)
    connection.data_received(text[:_PIECE])
    if len(text) > _PIECE:
        connection.data_received(text[_PIECE:])


if __name__ == "__main__":
    gc.disable()
    folders = sorted(Path(sys.argv[1]).iterdir())
    bodies = {folder.name: [file.read_bytes() for file in sorted(folder.iterdir())] for folder in folders}
    retained = [body for name, several in bodies.items() if name.startswith("Retain") for body in several]
    asyncio.run(count([*bodies.values()], retained))
