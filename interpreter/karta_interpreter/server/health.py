"""Health: whether the server is alive and ready, answered on a port of its own that load does not reach."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, Protocol

from karta_interpreter.sources.store import Store
from karta_interpreter.wire import encode_status

HUNG_SECONDS: Final = 60.0
"""After how long without a turn of the event loop the server is taken for dead.

Overload makes a turn last seconds at most, so what is restarted then would not recover by itself.
"""
_BEAT_SECONDS: Final = 1.0
_PROBE_SECONDS: Final = 5.0
_MOST_PROBES: Final = 64
_LONGEST_HEAD: Final = 8192
_OK, _NOT_FOUND, _NOT_ALLOWED, _UNAVAILABLE = 200, 404, 405, 503
_REASONS: Final = {
    _OK: "OK",
    _NOT_FOUND: "Not Found",
    _NOT_ALLOWED: "Method Not Allowed",
    _UNAVAILABLE: "Service Unavailable",
}


class Expiring(Protocol):
    """Something that is good until a moment, in seconds since 1970."""

    @property
    def not_after(self) -> float | None:
        """The moment; None while there is nothing yet."""


class Readiness:
    """Why requests should not be sent to this server now; ``settled`` returns whether all sources were read."""

    def __init__(
        self,
        store: Store,
        certificate: Expiring | None,
        settled: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._certificate = certificate
        self._settled = settled
        self.draining = False

    def objections(self) -> list[str]:
        """Return why the server is not ready; nothing when it is."""
        found = []
        if self.draining:
            found.append("the server is about to stop")
        if not self._settled():
            found.append("the Kartas of the cluster have not been read yet")
        if not self._store.snapshot.entries:
            found.append("no definition is served")
        if self._certificate:
            found += _about(self._certificate.not_after)
        return found


@dataclass(frozen=True, slots=True)
class Beat:
    """The last sign of life of the event loop: when, and what was in the way of traffic then."""

    at: float
    objections: tuple[str, ...]


class Heart:
    """Records a beat each second for as long as the event loop runs; any thread may read it."""

    def __init__(self, readiness: Readiness, clock: Callable[[], float] = time.monotonic) -> None:
        self._readiness = readiness
        self._clock = clock
        self.beat()

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            self.beat()
            await asyncio.sleep(_BEAT_SECONDS)

    def beat(self) -> None:
        """Record a beat."""
        self._last = Beat(self._clock(), tuple(self._readiness.objections()))

    def objections(self, path: str) -> tuple[str, ...]:
        """Return why the answer at ``/healthz`` or ``/readyz`` is not ok; nothing when it is."""
        last = self._last
        silence = self._clock() - last.at
        if silence > HUNG_SECONDS:
            return (f"the event loop has not run for {silence:.0f} s",)
        return last.objections if path == "/readyz" else ()


class HealthListener:
    """Answers ``GET /healthz`` and ``/readyz`` over plain HTTP in a thread with an event loop of its own.

    The thread shares nothing with the server but the `Heart`, so neither calls nor connections on the other port can
    keep it from answering.
    """

    def __init__(self, heart: Heart, host: str, port: int) -> None:
        self._heart = heart
        self._address = host, port
        self._bound: Future[int] = Future()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="health", daemon=True)

    async def open(self) -> int:
        """Listen, and return the port; raises OSError when the address is not available."""
        self._thread.start()
        try:
            return await asyncio.wrap_future(self._bound)
        except OSError:
            self._thread.join()  # it ends by itself
            raise

    def close(self) -> None:
        """Listen no more."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_PROBE_SECONDS)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._serve())
            except Exception as error:  # noqa: BLE001 - `open` raises it
                self._bound.set_exception(error)

    async def _serve(self) -> None:
        probes: dict[_Probe, asyncio.Transport] = {}
        server = await self._loop.create_server(lambda: _Probe(self._heart, probes), *self._address)
        self._bound.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()
        for transport in list(probes.values()):
            transport.abort()


class _Probe(asyncio.Protocol):
    """One connection for one request; beyond `_MOST_PROBES` the oldest is closed."""

    def __init__(self, heart: Heart, probes: "dict[_Probe, asyncio.Transport]") -> None:
        self._heart = heart
        self._probes = probes
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(_PROBE_SECONDS, transport.abort)
        if len(self._probes) >= _MOST_PROBES:
            self._probes.pop(next(iter(self._probes))).abort()
        self._probes[self] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._timer.cancel()
        self._probes.pop(self, None)

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head:
            self._answer()
        elif len(self._head) > _LONGEST_HEAD:
            self._transport.abort()

    def _answer(self) -> None:
        method, _, rest = self._head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        status, body = self._status(method, path)
        kind = "text/plain; charset=utf-8" if status == _OK else "application/json"
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nServer: karta-interpreter\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + (b"" if method == "HEAD" else body))
        self._transport.close()

    def _status(self, method: str, path: str) -> tuple[int, bytes]:
        if path not in {"/healthz", "/readyz"}:
            return _NOT_FOUND, encode_status(_NOT_FOUND, "there is nothing at this path; served are /healthz, /readyz")
        if method not in {"GET", "HEAD"}:
            return _NOT_ALLOWED, encode_status(_NOT_ALLOWED, f"{path} takes GET, HEAD, not {method}")
        if objections := self._heart.objections(path):
            return _UNAVAILABLE, encode_status(_UNAVAILABLE, "; ".join(objections))
        return _OK, b"ok\n"


def _about(not_after: float | None) -> list[str]:
    if not_after is None:
        return ["there is no certificate yet, the log says why"]
    return ["the certificate has expired"] if not_after <= time.time() else []
