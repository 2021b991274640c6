"""Where attacks happen: one server that is attacked, an idle control of the same build, and a prober that asks both."""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.audit.found import Found, Waits
from tests.audit.prober import ATTACKED, CONTROL, Probe, Prober
from tests.benchmarks.servers import Bay, Server, cores
from tests.e2e.rig.processes import free_port
from tests.server.client import Answer, Client, get, post, question, trusting

INNOCENT: Final = Path(__file__).parent / "kartas"
LOST = "no answer"
_SAMPLED_EVERY, _OK = 0.25, 200
_CALLS_EVERY, _HEALTH_EVERY = 0.05, 0.25
# As the chart's liveness probe has it.
_HEALTH_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Effort:
    """The seconds of an attack that lasts as long as it may, those of the reload soak, and the seed of mutations."""

    seconds: float
    soak: float
    seed: int


@dataclass
class Target:
    """The attacked server, and what an attack has found so far."""

    server: Server
    control: Server
    trust: ssl.SSLContext
    folder: Path
    effort: Effort
    answers: Counter[str] = field(default_factory=Counter)
    peak: float = 0.0

    async def connect(self) -> Client:
        """Return a client on a new connection, which spells requests as Karmada does."""
        return await Client.connect(self.server.port, self.trust)

    def found(self, **figures: float) -> Found:
        """Return what was counted, with these figures; ``_`` in a name stands for a space."""
        named = {name.replace("_", " "): figure for name, figure in figures.items()}
        return Found(self.answers.total(), dict(self.answers), named)

    async def ask(self, client: Client, request: bytes, patience: float = 10.0) -> tuple[Client, Answer | None]:
        """Send a request and count its answer; return the client for the next one, a new one when this one is lost."""
        answer = None
        with suppress(OSError, EOFError):
            async with asyncio.timeout(patience):
                answer = await client.ask(request)
        self.answers[kind_of(answer)] += 1
        if answer is None or answer.headers.get("connection") == "close":
            await client.close()
            client = await self.connect()
        return client, answer

    async def flood(self, requests: Iterable[bytes], clients: int, seconds: float, patience: float = 10.0) -> None:
        """Have that many clients send the requests in turns, until there are no more or the time is over."""
        stream, until = iter(requests), time.monotonic() + seconds

        async def send() -> None:
            client = await self.connect()
            for request in stream:
                client, _ = await self.ask(client, request, patience)
                if time.monotonic() > until:
                    break
            await client.close()

        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(send())

    def memory(self) -> float:
        """Return the resident memory of the server and its children now, in MiB, and remember the largest."""
        now = self.server.memory()
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


@dataclass(frozen=True, slots=True)
class Attack:
    """One family of attacks: how it is run, and what its server needs.

    ``prepare`` writes files into a folder and returns options of `serve` that name them.
    """

    run: Callable[[Target], Awaitable[Found]]
    prepare: Callable[[Path], Sequence[str | Path]] = lambda _: ()
    probes_bounded: bool = False
    """Whether the call of a definition that needs libjq is probed, too."""


def kind_of(answer: Answer | None) -> str:
    """Return what an answer counts as."""
    if answer is None:
        return LOST
    if answer.status != _OK:
        return f"HTTP {answer.status}"
    if b'"response"' not in answer.body[:400]:
        return "HTTP 200"
    response = answer.response
    if "successful" not in response:
        return "allowed" if response.get("allowed") else "denied"
    return "answered" if response["successful"] else f"code {response['status']['code']}"


class Stage:
    """Starts servers; the control runs for as long as the stage is there."""

    def __init__(self, folder: Path, effort: Effort, health_option: str) -> None:
        self._folder = folder
        self._effort = effort
        self._health_option = health_option
        self._bay = Bay(folder)
        self._number = 0

    @contextmanager
    def server(self, name: str, *options: str | Path) -> Iterator[tuple[Server, int]]:
        """Run a server with the innocent definitions and more options; gives it, and the port of its health."""
        port = free_port() if self._health_option else 0
        health = (self._health_option, str(port)) if port else ()
        with self._bay.ours(name, "--kartas", INNOCENT, *options, *health, on=cores()) as server:
            yield server, port or server.port

    def measure(
        self, name: str, attack: Attack, control: tuple[Server, int]
    ) -> tuple[Found, Mapping[str, tuple[Waits, Waits]], float]:
        """Attack a new server; return what was found, the waits of others, and the peak of its memory in MiB."""
        self._number += 1
        folder = self._folder / f"{self._number}-{name}"
        folder.mkdir()
        with self.server(name, *attack.prepare(folder)) as attacked:
            server = attacked[0]
            target = Target(server, control[0], trusting(self._bay.authority), folder, self._effort)
            with Prober(self._probes(attack, attacked, control)) as prober:
                found = asyncio.run(_run(attack, target))
            figures = _figures(prober.waits, target)
        return found.with_figures(figures), prober.waits, target.peak

    def _probes(self, attack: Attack, attacked: tuple[Server, int], control: tuple[Server, int]) -> list[Probe]:
        ports = {ATTACKED: attacked[0].port, CONTROL: control[0].port}
        health = {ATTACKED: attacked[1], CONTROL: control[1]}
        call, bounded = (post(question(kind)).decode() for kind in ("GrainMill", "Sieve"))
        good = '"successful":true'
        probes = [
            Probe("call", ports, call, good, _CALLS_EVERY),
            Probe(
                "health",
                health,
                get("/healthz").decode(),
                "200 ok",
                _HEALTH_EVERY,
                fresh=True,
                tls=not self._health_option,
                timeout=_HEALTH_TIMEOUT,
            ),
        ]
        return [*probes, Probe("bounded", ports, bounded, good, _CALLS_EVERY)] if attack.probes_bounded else probes


async def _run(attack: Attack, target: Target) -> Found:
    async with target.sampled():
        return await attack.run(target)


def _figures(waits: Mapping[str, tuple[Waits, Waits]], target: Target) -> dict[str, float]:
    """Return the figures that every attack has: `NAME wait` and `NAME lost` for each probe, and `memory`."""
    figures = {"memory": target.peak / target.control.memory(), "code 500": float(target.answers["code 500"])}
    figures["HTTP 500"] = float(target.answers["HTTP 500"])
    for name, (attacked, control) in waits.items():
        figures[f"{name} wait"] = attacked.over(control)
        figures[f"{name} lost"] = float(attacked.lost)
    return figures
