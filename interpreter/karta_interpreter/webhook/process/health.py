"""Health: whether the server is alive and ready, answered on a port of its own that load does not reach."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from math import inf
from typing import Final

from karta_interpreter.base.findings import errors_first, escaped, in_one_line
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.definitions.sources import Store
from karta_interpreter.webhook.wire import encode_status

HUNG_SECONDS: Final = 60.0
"""After this time without a turn of the event loop, the server counts as dead.

Overload makes a turn last seconds at most, so a server that is restarted then would not recover by itself.
"""
BEAT_SECONDS: Final = 1.0
_PROBE_SECONDS: Final = 5.0
_MOST_PROBES: Final = 64
_LONGEST_HEAD: Final = 8192


class Readiness:
    """Why requests should not be sent to this server now, and whether its event loop runs.

    ``not_after`` returns the end of the certificate in seconds since 1970, None while there is none. ``awaited``
    returns what has not been read yet. The event loop records a beat each second. Any thread reads it.
    """

    def __init__(
        self,
        store: Store,
        not_after: Callable[[], float | None] = lambda: inf,
        awaited: Callable[[], str] = lambda: "",
        clock: Clock = time.monotonic,
    ) -> None:
        self._store = store
        self._not_after = not_after
        self._awaited = awaited
        self._clock = clock
        self._beat: tuple[float, list[str]] = clock(), []
        self.draining = False

    def objections(self) -> list[str]:
        """Return why the server is not ready, or nothing if it is."""
        end, awaited = self._not_after(), self._awaited()
        holds = {
            "the server is about to stop": self.draining,
            awaited: bool(awaited),
            "no definition is served": not self._store.snapshot.entries,
            "there is no certificate yet, the log says why": end is None,
            "the certificate has expired": end is not None and end <= time.time(),
        }
        return [*filter(holds.get, holds)]

    def doubts(self) -> list[str]:
        """Return a line for each name of a kind without a definition, and each definition that cannot be used.

        Before them come the objects that definitions refer to and that cannot be looked up.
        """
        snapshot = self._store.snapshot
        # Another source hides a definition by intent.
        conflicts = (finding for finding in snapshot.findings if not finding.rule.startswith("shadowed-"))
        broken = (finding for entry in snapshot.quarantined for finding in errors_first(entry.findings)[:1])
        gaps = [escaped(gap) for gap in self._store.reference_gaps()[:10]]
        return gaps + [in_one_line(finding) for finding in [*conflicts, *broken][:20]]

    def beat(self) -> None:
        """Record a beat, and the present objections to traffic."""
        self._beat = self._clock(), self.objections()

    def at_last_beat(self, path: str) -> list[str]:
        """Return why the answer at ``/healthz`` or ``/readyz`` is not ok, or nothing if it is."""
        at, objections = self._beat
        silence = self._clock() - at
        if silence > HUNG_SECONDS:
            return [f"the event loop has not run for {silence:.0f} s"]
        return objections if path == "/readyz" else []


class HealthListener:
    """Answers ``GET /healthz`` and ``/readyz`` over plain HTTP in a thread with an event loop of its own.

    The thread shares only the last beat with the server, so neither calls nor connections on the other port can keep it
    from answering.
    """

    def __init__(self, readiness: Readiness, host: str, port: int) -> None:
        self._readiness = readiness
        self._address = host, port
        self._bound: Future[int] = Future()
        # Made here and not by the thread: `close` wakes the thread through it.
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._probes: dict[asyncio.StreamReader, asyncio.WriteTransport] = {}
        self._thread = threading.Thread(target=self._answer_probes, name="health", daemon=True)

    async def open(self) -> int:
        """Listen and return the port. Raises OSError if the address is not available."""
        self._thread.start()
        try:
            return await asyncio.wrap_future(self._bound)
        except OSError:
            self._thread.join()  # it ends by itself
            raise

    def close(self) -> None:
        """Stop listening."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_PROBE_SECONDS)

    def _answer_probes(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._serve())
            except Exception as error:  # noqa: BLE001 - `open` raises it
                self._bound.set_exception(error)

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._probe, *self._address, limit=_LONGEST_HEAD)
        self._bound.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()
        for transport in self._probes.values():
            transport.abort()

    async def _probe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request. Beyond `_MOST_PROBES` connections the oldest is closed."""
        if len(self._probes) >= _MOST_PROBES:
            self._probes.pop(next(iter(self._probes))).abort()
        self._probes[reader] = writer.transport
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PROBE_SECONDS):
                writer.write(self._answer(await reader.readuntil(b"\r\n\r\n")))
                writer.close()
                await writer.wait_closed()
        writer.transport.abort()
        self._probes.pop(reader, None)

    def _answer(self, head: bytes) -> bytes:
        # Padded: a line without a target is answered as a path that does not exist.
        method, target, *_ = *head.partition(b"\r\n")[0].decode("latin-1").split(" "), ""
        path, status, message = target.partition("?")[0], HTTPStatus.OK, ""
        if path not in {"/healthz", "/readyz"}:
            status, message = HTTPStatus.NOT_FOUND, "there is nothing at this path; served are /healthz, /readyz"
        elif method not in {"GET", "HEAD"}:
            status, message = HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes GET, HEAD, not {method}"
        elif objections := self._readiness.at_last_beat(path):
            status, message = HTTPStatus.SERVICE_UNAVAILABLE, "; ".join(objections)
        body = encode_status(status, message) if message else b"ok\n"
        kind = "application/json" if message else "text/plain; charset=utf-8"
        answer = (
            f"HTTP/1.1 {status} {status.phrase}\r\nServer: karta-interpreter\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return answer.encode() + (b"" if method == "HEAD" else body)
