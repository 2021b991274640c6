"""The fast path gives the bytes of the plain path: the fast lane and reading at a glance, aiohttp and reading all.

`FUZZED_BODIES=1000000 FUZZED_REQUESTS=100000 pytest tests/webhook/process/test_paths.py` compares so many,
FUZZED_SEED=2 others.
"""

import asyncio
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.http.connection import Connection
from karta_interpreter.webhook.http.listener import Connections
from karta_interpreter.webhook.log import NAME
from karta_interpreter.webhook.process.application import Application
from karta_interpreter.webhook.process.health import Readiness
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.settings import Settings
from karta_interpreter.webhook.wire import FastDecoder, decode
from tests.support.examples import EXAMPLES, SWEEPS_ALL
from tests.support.waiting import HANG, turns, until
from tests.webhook.process.client import as_others, post
from tests.webhook.process.conversations import ABOUT_ONE_OBJECT, Spoken, bodies, conversations, swept_cases
from tests.webhook.process.wire import Wire

BODIES = int(os.environ.get("FUZZED_BODIES", str(EXAMPLES * 30)))
REQUESTS = int(os.environ.get("FUZZED_REQUESTS", str(EXAMPLES * 6)))
SEED = int(os.environ.get("FUZZED_SEED", "1"))
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]+")
_MIB = 2**20
_TURNS = 30
"""More than aiohttp takes for the answers to a conversation, if nobody has to wait for a script."""


class Blind(FastDecoder):
    def read(self, body: bytes, *, learns: bool = True) -> None:
        del body, learns


SoonCalls = partial(Calls, rehearses=False)
"""Calls that answer the first of a kind at once, too."""
PlainCalls = partial(SoonCalls, decoder=Blind)
"""Calls that read every request as a whole."""


class Line:
    """A server, and what its connections write."""

    def __init__(self, store: Store, make: Callable[[Store, Options], Calls]) -> None:
        metrics = Metrics()
        settings = Settings(
            header_timeout=60.0, exchange_timeout=60.0, webhook_timeout=int(HANG), body_limit=_MIB, connection_age=0
        )
        self.calls = make(store, Options(resource_quota_estimate=True))
        readiness = Readiness(store)
        application = Application(self.calls, readiness, metrics, settings)
        self.connections = Connections(application, settings)

    async def written(self, parts: Sequence[bytes], *, patient: bool = False) -> tuple[bytes, bool]:
        """Return what a new connection writes when these parts come, and whether it closes; without dates.

        ``patient`` callers wait for scripts. The parts must be whole requests.
        """
        wire, connection = Wire(), self.connections()
        connection.connection_made(wire)
        await _settled(connection)
        for part in parts:
            if not wire.closed:
                connection.data_received(part)
                await _settled(connection)
        if patient:
            await until(lambda: not connection.is_busy)
        found = _DATE.sub(b"", wire.written), wire.closed
        connection.connection_lost(None)
        await turns(5)  # what still waits for the client ends
        return found

    async def close(self) -> None:
        await self.connections.close(1.0)
        self.calls.close()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    # Thousands of requests that fail are no news.
    logging.getLogger(NAME).setLevel(logging.CRITICAL)
    made = Store()
    made.load()
    yield made
    logging.getLogger(NAME).setLevel(logging.NOTSET)


async def _settled(connection: Connection) -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)
        if not connection.is_busy:
            return


def as_others_in(parts: Sequence[bytes]) -> list[bytes]:
    """Spell the requests of a conversation for aiohttp alone, and cut them where they were cut before."""
    whole = as_others(b"".join(parts))
    ends = [sum(map(len, parts[:count])) for count in range(len(parts) + 1)]
    return [whole[start:end] for start, end in pairwise(ends)]


@pytest.mark.sweep
async def test_catalogue_cases_have_same_bytes_in_both_lanes(store: Store) -> None:
    fast, plain = Line(store, Calls), Line(store, PlainCalls)
    cases = swept_cases()[:: 1 if SWEEPS_ALL else 5]
    assert len(cases) > 100
    for case in cases:
        found = await fast.written([post(case.body)], patient=True)
        assert found == await plain.written([as_others(post(case.body))], patient=True), case.source
    scripted = sum(is_scripted(store, case) for case in cases)
    assert fast.connections.requests_count <= scripted < len(cases) / 4, "only scripts that take long are for aiohttp"
    await fast.close()
    await plain.close()


def is_scripted(store: Store, case: Spoken) -> bool:
    """Tell whether scripts answer what is asked: they may take long, and tell the addresses of their tables."""
    request = decode(case.body)
    definition = store.snapshot.find(request.gvk) if request.gvk else None
    asked = (request.operation_name, *(operation.decode() for operation in ABOUT_ONE_OBJECT))
    return definition is not None and any(definition.scripts.of(operation) for operation in asked)


@pytest.fixture(scope="module")
def cases(store: Store) -> list[Spoken]:
    return [case for case in swept_cases() if not is_scripted(store, case)]


def answer(calls: Calls, body: bytes) -> bytes | str:
    try:
        found = calls.answer_soon(body)
        return found if isinstance(found, bytes) else "not now"
    except RequestError as error:
        return f"{error.status} {error}"


@pytest.mark.slow
@pytest.mark.sweep
async def test_fuzzed_bodies(store: Store, cases: list[Spoken]) -> None:
    fast, plain = Line(store, SoonCalls).calls, Line(store, PlainCalls).calls
    for body in bodies(SEED, BODIES, cases):
        assert answer(fast, body) == answer(plain, body), body


@pytest.mark.slow
@pytest.mark.sweep
async def test_fuzzed_requests(store: Store, cases: list[Spoken]) -> None:
    fast, plain = Line(store, SoonCalls), Line(store, PlainCalls)
    for parts in conversations(SEED, REQUESTS, cases):
        found, expected = await fast.written(parts), await plain.written(as_others_in(parts))
        assert found == expected, parts
    assert fast.connections.requests_count < plain.connections.requests_count
    await fast.close()
    await plain.close()
