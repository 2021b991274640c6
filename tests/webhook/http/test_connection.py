"""Clients that take their time, and clients that send too much."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from karta_interpreter.webhook.http.connection import _KEEP_ALIVE as KEEP_ALIVE
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import Clock, turns
from tests.webhook.process.client import Client, get, post, question
from tests.webhook.process.process import KARTAS

BODY, AGE = 10_000, 60.0
SETTINGS = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True, body_limit=BODY, connection_age=0)
GO_KEEPS, LONGEST_CALL, IDLE = 90.0, 30.0, 135.0
HEADERS, EXCHANGE = SETTINGS.header_timeout, SETTINGS.exchange_timeout + SETTINGS.call_limit
MOMENT = 0.1
"""Seconds by the clock of the test, which no machine is too slow for: the deadlines are many seconds long."""


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server in this process."""
    async with Server(SETTINGS) as server:
        yield server.started.port


@pytest.fixture
async def client(port: int, spell: Callable[[bytes], bytes]) -> AsyncIterator[Client]:
    connected = await Client.connect(port, None, spell)
    yield connected
    await connected.close()


async def assert_closed(client: Client) -> None:
    """The server closes the connection without an answer."""
    assert await client.remainder() == b""


async def test_silent_client_is_disconnected(client: Client, clock: Clock) -> None:
    await clock.advance(IDLE + MOMENT)
    await assert_closed(client)


async def test_connection_without_request_is_kept_as_long_as_by_go(client: Client, clock: Clock) -> None:
    await clock.advance(GO_KEEPS + MOMENT)
    assert (await client.ask(post(question()))).response["successful"]


async def test_headers_that_begin_have_their_own_deadline(client: Client, clock: Clock) -> None:
    await client.send(b"POST /inter")
    await clock.advance(HEADERS + MOMENT)
    await assert_closed(client)


async def test_headers_that_trickle_in_have_one_deadline(client: Client, clock: Clock) -> None:
    async def trickle() -> None:
        for byte in post(question()):
            await client.send(bytes([byte]))
            await clock.advance(HEADERS / 10)

    with pytest.raises(ConnectionError):
        await trickle()


async def test_headers_that_trickle_in_on_a_used_connection_have_a_deadline_too(client: Client, clock: Clock) -> None:
    assert (await client.ask(post(question()))).response["successful"]
    await client.send(b"POST /inter")
    await clock.advance(HEADERS + MOMENT)
    await assert_closed(client)


@pytest.mark.parametrize("head", [b"", b"X-Other: 1\r\n"], ids=["as Karmada writes it", "of another client"])
@pytest.mark.parametrize("age", [0.0, EXCHANGE - MOMENT], ids=["on a new connection", "on an older one"])
async def test_body_that_never_ends_has_one_deadline(client: Client, clock: Clock, head: bytes, age: float) -> None:
    await turns(100)
    await clock.advance(age)
    request = post(question()).replace(b"Accept:", head + b"Accept:", 1)
    await client.send(request[:-100])
    await turns(100)
    for byte in request[-100:-90]:
        await clock.advance((EXCHANGE - MOMENT) / 10)
        await client.send(bytes([byte]))
    await clock.advance(2 * MOMENT)
    await assert_closed(client)


async def test_silent_client_is_disconnected_after_a_call(client: Client, clock: Clock) -> None:
    for _ in range(2):
        assert (await client.ask(post(question()))).response["successful"]
        await clock.advance(GO_KEEPS)
    assert (await client.ask(post(question()))).response["successful"]
    await clock.advance(IDLE - GO_KEEPS)
    await clock.advance(GO_KEEPS + MOMENT)
    await assert_closed(client)


async def test_old_connection_ends_with_its_next_answer(spell: Callable[[bytes], bytes], clock: Clock) -> None:
    async with Server(replace(SETTINGS, connection_age=AGE)) as server:
        client = await Client.connect(server.started.port, None, spell)
        young = await client.ask(post(question()))
        assert young.response["successful"]
        assert "connection" not in young.headers
        await clock.advance(AGE * 1.1 + MOMENT)
        old = await client.ask(post(question()))
        assert old.response["successful"]
        assert old.headers["connection"] == "close"
        await assert_closed(client)
        await client.close()


async def test_old_connection_without_request_is_kept(spell: Callable[[bytes], bytes], clock: Clock) -> None:
    # Its client may be about to write a call, and would lose it.
    async with Server(replace(SETTINGS, connection_age=AGE)) as server:
        client = await Client.connect(server.started.port, None, spell)
        await client.ask(post(question()))
        await clock.advance(AGE * 1.1 + MOMENT)
        assert (await client.ask(post(question()))).response["successful"]
        await client.close()


async def test_connection_without_age_is_kept(client: Client, clock: Clock) -> None:
    for _ in range(5):
        assert "connection" not in (await client.ask(post(question()))).headers
        await clock.advance(AGE)


async def test_untaken_answer_is_not_buffered(port: int, clock: Clock) -> None:
    greedy = await Client.connect(port, None)
    sent = 0

    async def ask_without_end() -> None:
        # Each answer is a page of metrics, so that no buffer on the way can hold them all.
        nonlocal sent
        while True:
            await greedy.send(get("/metrics") * 100)
            sent += 1

    asking, before = asyncio.create_task(ask_without_end()), -1
    while before != sent:
        before = sent
        await turns(500)
    assert not asking.done(), "the client waits for the server to read, which waits for the client"
    while not asking.done():
        await clock.advance(EXCHANGE + MOMENT)
    with pytest.raises(ConnectionError):
        await asking
    await greedy.close()


async def test_idle_connection_is_kept(client: Client, clock: Clock) -> None:
    body = question()
    await client.send(post(body).removesuffix(body))
    assert (await client.ask(body)).response["successful"]
    for _ in range(3):
        await clock.advance(EXCHANGE + MOMENT)
    assert (await client.ask(post(question()))).response["successful"]


async def test_connection_outlasts_client_that_idles_after_the_longest_call(client: Client, clock: Clock) -> None:
    body = question()
    await client.send(post(body).removesuffix(body))
    await turns(100)
    await clock.advance(LONGEST_CALL - MOMENT)
    assert (await client.ask(body)).response["successful"]
    await clock.advance(GO_KEEPS + 2 * MOMENT)
    assert (await client.ask(post(question()))).response["successful"]


async def test_connection_is_idle_from_its_last_answer(client: Client, clock: Clock) -> None:
    for _ in range(5):
        assert (await client.ask(post(question()))).response["successful"]
        await clock.advance(KEEP_ALIVE * 0.9)
    await clock.advance(KEEP_ALIVE * 0.2)
    await assert_closed(client)


async def test_slow_but_steady_is_fine(client: Client, clock: Clock) -> None:
    request = post(question())
    third = len(request) // 3
    for part in (request[:third], request[third : 2 * third], request[2 * third :]):
        await client.send(part)
        await clock.advance(HEADERS / 4)
    assert (await client.receive()).response["successful"]


async def test_body_at_the_limit_is_read(client: Client) -> None:
    body = question()
    full = body + b" " * (BODY - len(body))
    assert (await client.ask(post(full))).response["successful"]


async def test_body_beyond_the_limit_is_refused_by_its_length(client: Client) -> None:
    request = post(b"", headers={"Content-Length": str(BODY + 1)})
    answer = await client.ask(request)
    assert (answer.status, answer.json["reason"]) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize("length", ["99999999999999999999", "18446744073709551615"])
async def test_absurd_length_is_refused(client: Client, length: str) -> None:
    assert (await client.ask(post(b"", headers={"Content-Length": length}))).status in {400, 413}


async def test_chunks_without_end_are_refused_when_they_pass_the_limit(client: Client) -> None:
    await client.send(post(b"", headers={"Content-Length": "", "Transfer-Encoding": "chunked"}))
    chunk = b"3e8\r\n" + b" " * 1000 + b"\r\n"
    for _ in range(BODY // 1000 + 1):
        await client.send(chunk)
    assert (await client.receive()).status == 413


async def test_invalid_chunk_ends_the_connection(client: Client, clock: Clock) -> None:
    await client.send(post(b"", headers={"Content-Length": "", "Transfer-Encoding": "chunked"}) + b"xyz\r\n")
    for _ in range(2):
        await clock.advance(EXCHANGE + MOMENT)
    assert b"200" not in await client.remainder()


async def test_client_that_leaves_early_does_no_harm(port: int) -> None:
    for cut in (20, 200, 300):
        leaving = await Client.connect(port, None)
        await leaving.send(post(question())[:cut])
        await leaving.close()
    client = await Client.connect(port, None)
    assert (await client.ask(post(question()))).response["successful"]
    await client.close()
