import os
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from karta_interpreter.base.sandbox import close_pools
from karta_interpreter.webhook.answering.child_lane import ChildLane
from tests.webhook.process.client import Client, as_karmada, as_others
from tests.webhook.process.process import Process, running

# aiohttp reads the authorities of this machine in each process that imports it. No server under test trusts them.
os.environ["SSL_CERT_FILE"] = os.devnull


@pytest.fixture(scope="session")
def server() -> Iterator[Process]:
    """A real process for all tests that leave it as it was."""
    with running() as process:
        yield process


@pytest.fixture(scope="module")
def shared() -> Iterator[ChildLane]:
    """Calls in processes of their own, which the tests of a module share: a process takes a while to start."""
    yield ChildLane()
    close_pools()


@pytest.fixture(params=[as_karmada, as_others])
def spell(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    """A way to write requests: for the fast lane if they are fit for it, or never for it."""
    chosen: Callable[[bytes], bytes] = request.param
    return chosen


@pytest.fixture
async def client(server: Process, spell: Callable[[bytes], bytes]) -> AsyncIterator[Client]:
    """A connection of the test's own."""
    connected = await server.connect(spell)
    yield connected
    await connected.close()
