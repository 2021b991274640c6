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
from tests.webhook.process.client import Client

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
    _client: Client | None = None

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
                await self._hang_up()
            finally:  # a request without an answer when the attack ends has waited, too
                self.waits.append(time.monotonic() - due)

    async def ask(self) -> None:
        if self._client is None:
            self._client = await Client.connect(self.port, trusting_anybody() if self.probe.tls else None)
        answer = await self._client.ask(self.probe.request.encode())
        if answer.status != 200 or self.probe.good.encode() not in answer.body:
            raise ValueError(f"a bad answer: {answer.status} {answer.body[:200]!r}")
        if self.probe.fresh or answer.headers.get("connection") == "close":
            await self._hang_up()

    async def _hang_up(self) -> None:
        if self._client:
            await self._client.close()
            self._client = None


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
