"""What the first InterpretComponent of each kind costs over HTTP, and how long others wait beside it."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple, TypeAlias

from aiohttp import ClientSession, TCPConnector

from karta_interpreter.engine.operations import Operation
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.first_answers import bodies
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.servers import Bay, Server
from tests.support.bodies import body_about

LONGEST_WAIT: Final = 0.02
"""The longest that a call may wait for the first call of another kind, in seconds."""
_ORDERS: Final = 3
_PAUSE: Final = 0.002
_HEADERS: Final = {"Content-Type": "application/json"}
_DEPLOYMENT: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}}
_HEALTH: Final = body_about(Operation.INTERPRET_HEALTH, _DEPLOYMENT)


class Connections(NamedTuple):
    """The connection of first calls, and that of calls beside them."""

    first: ClientSession
    other: ClientSession


Ask: TypeAlias = Callable[[bytes], Awaitable[float]]
"""Asks about a kind, and returns a figure of that in seconds."""

Measure: TypeAlias = Callable[[Server, Connections], Ask]
"""Returns how a server is asked."""


def first_calls(field: Field, _: Effort) -> Part:
    """Ask fresh servers about each kind, in three orders. Fails if others wait too long beside one in each order."""
    cpu, waits = measured(field.bay, _cpu), measured(field.bay, _waits)
    dearest_first = sorted(cpu, key=lambda kind: -median(cpu[kind]))
    rows = [(kind, *(number(1e3 * median(each[kind])) for each in (cpu, waits))) for kind in dearest_first]
    heads = ("first InterpretComponent", "CPU ms", "others wait, ms")
    return Part({"first-calls": table(heads, rows)}, failures=too_long(waits))


def longest_waits(bay: Bay) -> dict[str, list[float]]:
    """Return how long others wait beside the first call of each kind, in each of three orders, in seconds."""
    return measured(bay, _waits)


def too_long(waits: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a line for each kind for which others wait too long in each order. What else a machine does is in one."""
    return [
        f"first calls: others wait {number(1e3 * min(several))} ms for {kind}, more than {number(1e3 * LONGEST_WAIT)}"
        for kind, several in waits.items()
        if min(several) > LONGEST_WAIT
    ]


def measured(bay: Bay, ask: Measure) -> dict[str, list[float]]:
    """Return a figure by kind for each of three orders."""
    asked, found = bodies(), dict[str, list[float]]()
    for order in range(_ORDERS):
        first = len(asked) * order // _ORDERS
        kinds = [*asked][first:] + [*asked][:first]
        with bay.ours("first calls") as server:
            figures = asyncio.run(_all(server, ask, [asked[kind] for kind in kinds]))
        for kind, figure in zip(kinds, figures, strict=True):
            found.setdefault(kind, []).append(figure)
    return found


async def _all(server: Server, ask: Measure, asked: Sequence[bytes]) -> list[float]:
    async with _session(server) as first, _session(server) as other:
        for session in (first, other):
            await _ask(session, _HEALTH)
        of_kind = ask(server, Connections(first, other))
        return [await of_kind(body) for body in asked]


def _cpu(server: Server, connections: Connections) -> Ask:
    async def ask(body: bytes) -> float:
        before = server.cpu()
        await _ask(connections.first, body)
        return server.cpu() - before

    return ask


def _waits(_: Server, connections: Connections) -> Ask:
    async def ask(body: bytes) -> float:
        waits, first = list[float](), asyncio.create_task(_ask(connections.first, body))
        while not first.done():
            begun = time.perf_counter()
            await _ask(connections.other, _HEALTH)
            waits.append(time.perf_counter() - begun)
            await asyncio.sleep(_PAUSE)
        await first
        return max(waits)

    return ask


async def _ask(session: ClientSession, body: bytes) -> None:
    async with session.post("/interpret", data=body, headers=_HEADERS) as response:
        if b'"successful":true' not in await response.read():
            raise MeasurementError("a first call was not answered")


def _session(server: Server) -> ClientSession:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return ClientSession(f"https://{server.address}", connector=TCPConnector(ssl=context, limit=1))
