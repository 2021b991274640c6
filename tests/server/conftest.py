from collections.abc import AsyncIterator, Iterator

import pytest

from tests.server.client import Client
from tests.server.process import Process, running


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    """A real process that all tests of a module use."""
    with running() as process:
        yield process


@pytest.fixture
async def client(server: Process) -> AsyncIterator[Client]:
    """A connection of the test's own."""
    connected = await server.connect()
    yield connected
    await connected.close()
