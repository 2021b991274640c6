"""What an attack is, and what it gets: the addresses of the attacked server, and ways to ask there."""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.proofs.audit.found import Found
from tests.proofs.audit.plane import Collection, Plane
from tests.proofs.benchmarks.servers import Server
from tests.webhook.process.client import Answer, Client

LOST: Final = "no answer"
ENDED_EARLY: Final = "ended early"
"""Counts an attack whose server takes no connections any more."""
OK: Final = 200
_SAMPLED_EVERY = 0.25


@dataclass(frozen=True, slots=True)
class Effort:
    """The seconds of an attack that lasts as long as it may, those of reloading and of the soak; seed of an order."""

    seconds: float
    reloading: float
    soak: float
    seed: int


@dataclass(frozen=True, slots=True)
class Door:
    """An address of the attacked server, whom its clients trust (None: plain HTTP), and the token that it asks for."""

    port: int
    trust: ssl.SSLContext | None = None
    token: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What a request has to say here."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass
class Target:
    """The attacked server, and what an attack has found so far.

    ``doors`` has "webhook", and "types" where the attack opens it: the address of ``types``, a workload types API that
    shares its folder with the server. ``folder`` is the prepared one.
    """

    server: Server
    control: Server
    types: Server | None
    doors: Mapping[str, Door]
    folder: Path
    effort: Effort
    answers: Counter[str] = field(default_factory=Counter)
    peak: float = 0.0
    plane: Plane | None = None
    """The control plane of ``collections``."""

    async def connect(self, door: Door | None = None) -> Client:
        """Return a client on a new connection, which spells requests as Karmada does."""
        door = door or self.doors["webhook"]
        return await Client.connect(door.port, door.trust)

    def found(self, **figures: float) -> Found:
        """Return what was counted, with these figures; ``_`` in a name stands for a space."""
        named = {name.replace("_", " "): figure for name, figure in figures.items()}
        return Found(self.answers.total(), dict(self.answers), named)

    async def ask(
        self, client: Client, request: bytes, patience: float = 10.0, door: Door | None = None
    ) -> tuple[Client, Answer | None]:
        """Send a request and count its answer; return the client for the next one, a new one when this one is lost."""
        answer = None
        with suppress(OSError, EOFError):
            async with asyncio.timeout(patience):
                answer = await client.ask(request)
        self.answers[kind_of(answer)] += 1
        if answer is None or answer.headers.get("connection") == "close":
            await client.close()
            client = await self.connect(door)
        return client, answer

    async def flood(
        self,
        requests: Iterable[bytes],
        clients: int,
        seconds: float,
        patience: float = 10.0,
        door: Door | None = None,
        pause: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Have clients send the requests in turns, until there are no more or the time is over.

        ``pause`` returns the seconds that a client waits before its next request.
        """
        stream, until = iter(requests), time.monotonic() + seconds

        async def send() -> None:
            client = await self.connect(door)
            for request in stream:
                client, _ = await self.ask(client, request, patience, door)
                if time.monotonic() > until:
                    break
                if seconds_between := pause():
                    await asyncio.sleep(seconds_between)
            await client.close()

        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(send())

    def memory(self) -> float:
        """Return the resident memory of the programs and their children now, in MiB, and remember the largest."""
        now = sum(program.memory() for program in (self.server, self.types) if program)
        self.peak = max(self.peak, now)
        return now

    @asynccontextmanager
    async def sampled(self) -> AsyncIterator[None]:
        """Look at the memory all the time inside of the block."""

        async def sample() -> None:
            while True:
                self.memory()
                await asyncio.sleep(_SAMPLED_EVERY)

        task = asyncio.create_task(sample())
        try:
            yield
        finally:
            task.cancel()


def _nothing(_: Path) -> Sequence[str | Path]:
    return ()


@dataclass(frozen=True, slots=True)
class Attack:
    """One family of attacks: how it is run, and what its server needs.

    ``prepare`` writes files into a folder and returns options of `serve` that name them; ``types`` has a workload
    types API started, and writes what is stored there into a folder; ``begin`` returns the start of both command lines.
    """

    run: Callable[[Target], Awaitable[Found]]
    prepare: Callable[[Path], Sequence[str | Path]] = _nothing
    probes_bounded: bool = False
    """Whether the call of a definition that needs libjq is probed, too."""
    all_cases: bool = False
    """Whether it asks all cases of the catalogue, so that the server has answered them before; else some of them."""
    contained: bool = True
    """Whether the server has the memory of a small container: not where bodies of 32 MB or types of 100 MB are read."""
    types: Callable[[Path], object] | None = None
    collections: Sequence[Collection] = ()
    """What the control plane of the server has."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Other bounds of the server."""
    rate: int = 1_000_000
    """Requests of an address to the types API in a minute. An attacker has more than one address."""
    self_signed: bool = False
    begin: Callable[[Path], Sequence[str]] | None = None
    lacks: Callable[[], str | None] = lambda: None
    """What this machine lacks for the attack."""


def kind_of(answer: Answer | None) -> str:
    """Return what an answer counts as."""
    if answer is None:
        return LOST
    if answer.status != OK:
        return f"HTTP {answer.status}"
    if b'"response"' not in answer.body[:400]:
        return "HTTP 200"
    response = answer.response
    if "successful" not in response:
        return "allowed" if response.get("allowed") else "denied"
    return "answered" if response["successful"] else f"code {response['status']['code']}"
