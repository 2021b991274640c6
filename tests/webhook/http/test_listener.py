"""More connections than there may be: which are closed for others."""

import asyncio
import errno
import gc
import os
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from unittest import mock

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook import memory
from karta_interpreter.webhook.http import listener
from karta_interpreter.webhook.http.fast_lane import FastLane
from karta_interpreter.webhook.http.listener import Connections
from karta_interpreter.webhook.process import server as server_module
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG, Clock, until
from tests.webhook.answering.test_load import (
    WAITING,
    Held,
    begins,
    held as held,  # noqa: PLC0414 - a fixture
)
from tests.webhook.logs import capture_logs
from tests.webhook.process.client import Answer, Client, as_karmada, get, post, question, trusting
from tests.webhook.process.process import KARTAS


@asynccontextmanager
async def serving(connections: int, **others: Any) -> AsyncIterator[Server]:
    common: dict[str, Any] = {"port": 0, "folders": (KARTAS,), "catalogue": False, "plain_http": True}
    with mock.patch.object(server_module, "MOST_CONNECTIONS", connections):
        server = Server(Settings(**common | others))
    async with server:
        yield server


async def connected(server: Server) -> Client:
    """A connection with an answer behind it."""
    certificate = server.started.certificate
    context = trusting(certificate.authority) if certificate else None
    client = await Client.connect(server.started.port, context)
    assert (await client.ask(get("/healthz"))).status == 200
    return client


async def rejected(client: Client) -> int:
    page = (await client.ask(get("/metrics"))).body.decode()
    [line] = [line for line in page.splitlines() if line.startswith("karta_interpreter_connections_rejected_total")]
    return int(float(line.split()[1]))


def of(server: Server) -> Connections:
    return server._listener._connections  # noqa: SLF001 - a client would be one more connection


async def is_closed(client: Client) -> bool:
    return await client.remainder() == b""


@pytest.mark.parametrize("host", ["a..b", "x" * 64])
async def test_invalid_host_is_an_error(host: str) -> None:
    with pytest.raises(ServeError, match=f'cannot listen on {host} port 0: "{host}" is not a host name'):
        async with serving(8, host=host):
            pass


async def test_clients_without_a_handshake_make_room_for_others() -> None:
    async with serving(8, plain_http=False) as server:
        silent = [socket.create_connection(("127.0.0.1", server.started.port)) for _ in range(50)]
        client = await connected(server)
        assert (await client.ask(post(question()))).response["successful"]
        assert await rejected(client) >= 50 - 8
        for each in silent:
            each.close()
        await client.close()


async def test_oldest_handshake_makes_room() -> None:
    async with serving(8, plain_http=False) as server:
        handshakes = server._listener._handshakes  # noqa: SLF001 - nothing public shows them
        silent: list[socket.socket] = []
        for _ in range(4):  # three are more than a quarter of eight connections, so the fourth needs the place of one
            silent.append(socket.create_connection(("127.0.0.1", server.started.port)))
            silent[-1].setblocking(False)
            await until(lambda: len(handshakes) == min(len(silent), 3))
        async with asyncio.timeout(HANG):
            assert await asyncio.get_running_loop().sock_recv(silent[0], 1) == b""
        for later in silent[1:]:
            with pytest.raises(BlockingIOError):
                later.recv(1)
        for each in silent:
            each.close()


async def test_handshake_goes_on_while_a_flood_arrives() -> None:
    async with serving(400, plain_http=False) as server:
        port, certificate = server.started.port, server.started.certificate
        assert certificate is not None
        first, *silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
        trust = trusting(certificate.authority)
        streams = await asyncio.open_connection(sock=first, ssl=trust, server_hostname="localhost")
        client = Client(*streams, as_karmada)
        assert (await client.ask(get("/healthz"))).status == 200
        for each in silent:
            each.close()
        await client.close()


async def test_after_a_flood_memory_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    released, gives_back = asyncio.Event(), memory.trim_memory

    def release() -> None:
        gives_back()
        released.set()

    monkeypatch.setattr(listener, "_RELEASE_SECONDS", 0.05)
    monkeypatch.setattr(listener, "trim_memory", release)
    async with serving(1) as server:
        client = await connected(server)
        latest = await connected(server)
        async with asyncio.timeout(HANG):
            await released.wait()
        assert (await latest.ask(post(question()))).response["successful"]
        await client.close()
        await latest.close()


async def test_memory_is_given_back_again_when_the_last_handshakes_of_a_flood_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_handshake: list[int] = []
    monkeypatch.setattr(listener, "_RELEASE_SECONDS", 0.05)
    async with serving(4, plain_http=False) as server:
        handshakes = server._listener._handshakes  # noqa: SLF001 - nothing public shows them
        monkeypatch.setattr(listener, "trim_memory", lambda: in_handshake.append(len(handshakes)))
        silent = [await asyncio.open_connection("127.0.0.1", server.started.port) for _ in range(3)]
        await until(lambda: in_handshake and in_handshake[-1])
        for _, writer in silent:
            writer.close()
        await until(lambda: in_handshake[-1] == 0)


async def test_failed_handshake_leaves_no_garbage() -> None:
    """The collector takes 0.1 s of a turn for the garbage of a flood."""

    def kept() -> int:
        return sum(isinstance(each, FastLane) for each in gc.get_objects())

    async with serving(4, plain_http=False) as server:
        handshakes = server._listener._handshakes  # noqa: SLF001 - nothing public shows them
        gc.collect()
        before = kept()
        gc.disable()
        try:
            with socket.create_connection(("127.0.0.1", server.started.port)):
                await until(lambda: handshakes)
                assert kept() == before + 1
            await until(lambda: not handshakes)
            assert kept() == before
        finally:
            gc.enable()


async def test_client_without_tls_is_named_once() -> None:
    async with serving(4, plain_http=False) as server:
        with capture_logs() as log:
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", server.started.port)) as client:
                    client.sendall(b"GET /readyz HTTP/1.1\r\n\r\n")
                    await until(partial(_ended, client))
    assert [each["event"] for each in log if "HTTP" in each["event"]] == [
        "a client speaks HTTP to this port: give it a URL that begins with https://"
    ]


def _ended(client: socket.socket) -> bool:
    client.setblocking(False)
    with suppress(BlockingIOError, ConnectionError):
        return client.recv(1) == b""
    return False


async def test_longest_idle_connection_makes_room() -> None:
    async with serving(3) as server:
        first, second, third = [await connected(server) for _ in range(3)]
        assert (await first.ask(post(question()))).response["successful"], "now the second one is idle for longest"
        latest = await connected(server)
        assert await is_closed(second)
        for each in (first, third, latest):
            assert (await each.ask(post(question()))).response["successful"]
        assert await rejected(latest) == 1
        for each in (first, second, third, latest):
            await each.close()


async def test_unused_connection_makes_room_before_used_one() -> None:
    async with serving(2) as server:
        used = await connected(server)
        silent = await Client.connect(server.started.port, None)
        await until(lambda: (of(server).count, of(server).busy) == (2, 0))
        latest = await connected(server)
        assert await is_closed(silent)
        assert (await used.ask(post(question()))).response["successful"]
        for each in (used, silent, latest):
            await each.close()


@pytest.mark.parametrize(
    "part", [post(question())[:-10], post(question()).replace(b"Host", b"host")[:-10]], ids=["fast lane", "aiohttp"]
)
async def test_missing_body_makes_room_if_nothing_is_idle(part: bytes) -> None:
    async with serving(1) as server:
        slow = await connected(server)
        await slow.send(part)
        await until(lambda: of(server).busy == 1)
        latest = await connected(server)
        assert await is_closed(slow)
        await slow.close()
        await latest.close()


async def test_calls_make_no_room(held: Held) -> None:
    async with serving(1, webhook_timeout=int(HANG)) as server:
        client = await connected(server)
        await client.send(WAITING)
        await begins(held)
        for _ in range(3):
            other = await Client.connect(server.started.port, None)
            assert await is_closed(other)
            await other.close()
        held.let_go.set()
        assert (await client.receive()).response["healthy"]
        assert await rejected(client) == 3
        await client.close()


async def stopped(server: Server) -> None:
    await server.wind_down()
    await server._listener.close()  # noqa: SLF001 - leaving the block of the server does the same


def is_last(answer: Answer) -> bool:
    return answer.response["successful"] and answer.headers["connection"] == "close"


async def test_drain_answers_what_the_event_loop_has_not_noticed() -> None:
    async with serving(10, grace_period=0.0) as server:
        for each in server._listener._sockets:  # noqa: SLF001 - as if the loop were busy until it drains
            asyncio.get_running_loop().remove_reader(each)
        client = await Client.connect(server.started.port, None)
        await client.send(post(question()))
        await stopped(server)
        assert is_last(await client.receive())
        await client.close()


@pytest.mark.parametrize("plain_http", [True, False], ids=["first request", "handshake"])
async def test_drain_waits_for_clients_that_have_connected(
    monkeypatch: pytest.MonkeyPatch, *, plain_http: bool
) -> None:
    monkeypatch.setattr(listener, "_FIRST_SECONDS", HANG)
    async with serving(10, grace_period=0.0, drain_timeout=HANG, plain_http=plain_http) as server:
        certificate = server.started.certificate
        context = trusting(certificate.authority) if certificate else None
        connection = socket.create_connection(("127.0.0.1", server.started.port))
        stopping = asyncio.create_task(stopped(server))
        await until(lambda: not server._listener._sockets)  # noqa: SLF001 - the port is closed
        name = "localhost" if context else None
        reader, writer = await asyncio.open_connection(sock=connection, ssl=context, server_hostname=name)
        client = Client(reader, writer, lambda data: data)
        assert is_last(await client.ask(post(question())))
        await stopping
        await client.close()


async def test_drain_gives_up_silent_clients(clock: Clock) -> None:
    async with serving(10, grace_period=0.0, drain_timeout=2 * HANG) as server:
        silent = await Client.connect(server.started.port, None)
        stopping = asyncio.create_task(stopped(server))
        assert await clock.within(5, stopping.done)
        await silent.close()


async def test_close_answers_a_request_that_has_come_on_an_idle_connection() -> None:
    async with serving(10, grace_period=0.0) as server:
        client = await connected(server)
        await server.wind_down()
        client.writer.write(post(question()))
        await server._listener.close()  # noqa: SLF001 - in the same turn of the event loop
        assert is_last(await client.receive())
        await client.close()


def test_drop_syn_keeps_connections_that_wait_and_lets_none_begin() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        waiting = socket.create_connection(bound.getsockname())
        listener.drop_syn(bound)
        with socket.socket() as late, waiting:
            late.setblocking(False)
            assert late.connect_ex(bound.getsockname()) == errno.EINPROGRESS
            syn_sent = 2
            assert late.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == syn_sent
            accepted, _ = bound.accept()
            waiting.sendall(b"call")
            assert accepted.recv(4) == b"call"
            accepted.close()


async def test_listener_without_file_handles_accepts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_PAUSE_SECONDS", 0.01)
    accept, failures = socket.socket.accept, [OSError(errno.EMFILE, os.strerror(errno.EMFILE))]

    def failing(self: socket.socket) -> Any:
        if failures:
            raise failures.pop()
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", failing)
    with capture_logs() as log:
        async with serving(10) as server:
            await (await connected(server)).close()
    [error] = [line for line in log if line["log_level"] == "error"]
    assert (error["event"], error["reason"]) == ("no connection can be accepted", "Too many open files")


UNLIMITED = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "allowed", "after"),
    [
        pytest.param(1024, 20_000, 2256, 2256, id="as many as are needed"),
        pytest.param(1024, UNLIMITED, 2256, 2256, id="no bound above"),
        pytest.param(1024, 1500, 1500, 1500, id="as many as there may be"),
        pytest.param(4096, 4096, 4096, 4096, id="enough"),
        pytest.param(UNLIMITED, UNLIMITED, 2256, UNLIMITED, id="no bound at all"),
    ],
)
def test_file_handles(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, allowed: int, after: int) -> None:
    limits = [soft, hard]
    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: limits.__setitem__(slice(None), given))
    assert listener.allow_files(2256) == allowed
    assert limits == [after, hard]
