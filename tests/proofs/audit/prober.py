"""Sends innocent requests at a steady pace to the attacked server and to the control, from a process of its own."""

import asyncio
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

from tests.proofs.audit.found import Waits

_HEAD_END, _LENGTH, _CLOSE = b"\r\n\r\n", b"content-length:", b"\r\nconnection: close\r\n"
ATTACKED, CONTROL = "attacked", "control"


@dataclass(frozen=True, slots=True)
class Probe:
    """One request that is repeated: every ``pace`` seconds, each time on a ``fresh`` connection or always on one.

    ``good`` is text of a good answer. ``timeout`` is after how many seconds the answer counts as lost.
    """

    name: str
    ports: Mapping[str, int]
    request: str
    good: str
    pace: float
    fresh: bool = False
    tls: bool = True
    timeout: float = 5.0


class Prober:
    """The program in the process; a context manager that starts and ends it. ``waits`` is there after the block."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._probes: Final = probes
        self._process: subprocess.Popen[bytes] | None = None
        self.waits: dict[str, tuple[Waits, Waits]] = {}

    def __enter__(self) -> Self:
        command = [
            sys.executable,
            "-m",
            "tests.proofs.audit.prober",
            json.dumps([asdict(probe) for probe in self._probes]),
        ]
        process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout
        if not process.stdout.readline():
            process.wait()
            raise ConnectionError("the prober gets no answers from an idle server")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process
        out, _ = self._process.communicate()
        found = json.loads(out) if out else {}
        self.waits = {name: (Waits(**both[ATTACKED]), Waits(**both[CONTROL])) for name, both in found.items()}


@dataclass
class _Line:
    """One probe of one server."""

    probe: Probe
    port: int
    waits: list[float] = field(default_factory=list)
    lost: int = 0
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self) -> None:
        """Ask until cancelled. A wait counts from when the request was due, so a stall counts whole."""
        due = time.monotonic()
        while True:
            due = max(due + self.probe.pace, time.monotonic() - self.probe.pace)
            await asyncio.sleep(due - time.monotonic())
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + self.probe.timeout):
                    await self.ask()
            except (OSError, EOFError, ValueError):
                self.lost += 1
                self._hang_up()
            finally:  # a request without an answer when the attack ends has waited, too
                self.waits.append(time.monotonic() - due)

    async def ask(self) -> None:
        if self._streams is None:
            self._streams = await self._open()
        reader, writer = self._streams
        writer.write(self.probe.request.encode())
        head = (await reader.readuntil(_HEAD_END)).lower()
        answer = await reader.readexactly(int(head.partition(_LENGTH)[2].partition(b"\r\n")[0]))
        if self.probe.good.encode() not in head + answer:
            raise ValueError(f"a bad answer: {answer[:200]!r}")
        if self.probe.fresh or _CLOSE in head:
            self._hang_up()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=trusting_anybody() if self.probe.tls else None)

    def _hang_up(self) -> None:
        if self._streams:
            self._streams[1].transport.abort()
            self._streams = None


@cache
def trusting_anybody() -> ssl.SSLContext:
    """Return a context that trusts any server, without the authorities of the system, which take long to load."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def probe(orders: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Ask until stdin ends; return the waits by probe and server."""
    probes = [Probe(**order) for order in orders]
    lines = {(one.name, server): _Line(one, port) for one in probes for server, port in one.ports.items()}
    try:
        for line in lines.values():
            await line.ask()
    except (OSError, EOFError, ValueError) as error:
        sys.exit(f"prober: {error}")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    tasks = [asyncio.create_task(line.run()) for line in lines.values()]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks)
    found: dict[str, dict[str, Any]] = {}
    for (name, server), line in lines.items():
        found.setdefault(name, {})[server] = asdict(Waits.of(line.waits, line.lost))
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(probe(json.loads(sys.argv[1])))))
