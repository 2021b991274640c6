"""Connections that go from one process to another; here both ends are in this one."""

import asyncio
import resource
import socket
from collections.abc import Iterator

import pytest

from karta_interpreter.server.workers.handover import Taking, give
from tests.server.client import PATIENCE

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def way() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def connection() -> Iterator[Ends]:
    """A connection, and the other end of it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


async def test_a_connection_arrives_open(way: Ends, connection: Ends) -> None:
    taken: asyncio.Queue[socket.socket] = asyncio.Queue()
    taking = Taking(way[1], taken.put_nowait, lost=pytest.fail)
    assert give(way[0], connection[0])
    connection[0].close()
    with await asyncio.wait_for(taken.get(), PATIENCE) as found:
        found.send(b"hello")
        assert connection[1].recv(5) == b"hello"
    taking.end()


async def test_one_that_this_process_has_no_room_for_is_told_of(way: Ends, connection: Ends) -> None:
    lost = asyncio.Event()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taking = Taking(way[1], lambda _: pytest.fail("it came"), lost.set)
    assert give(way[0], connection[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        taking.take_all()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert lost.is_set()
    taking.end()


def test_a_way_has_an_end(way: Ends, connection: Ends) -> None:
    count = 0
    while give(way[0], connection[0]):
        count += 1
        assert count < 100_000
    assert count > 50
    way[1].close()
    assert not give(way[0], connection[0]), "nobody is there any more"
