"""Clients that take their time, and clients that send too much."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from karta_interpreter.server import connection
from karta_interpreter.server.server import Server
from karta_interpreter.server.settings import Settings
from tests.server.client import PATIENCE, Client, get, post, question
from tests.server.process import KARTAS

HEADERS, EXCHANGE, BODY, AGE = 0.3, 0.4, 10_000, 0.2
BUSY = PATIENCE / 3
"""Seconds that a busy machine may take for anything."""
PATIENT = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server in this process, with deadlines that tests can wait for."""
    settings = Settings(
        port=0,
        folders=(KARTAS,),
        catalogue=False,
        plain_http=True,
        header_timeout=HEADERS,
        exchange_timeout=EXCHANGE,
        call_limit=0.1,
        body_limit=BODY,
    )
    async with Server(settings) as server:
        yield server.started.port


@pytest.fixture
async def client(port: int, spell: Callable[[bytes], bytes]) -> AsyncIterator[Client]:
    connected = await Client.connect(port, None, spell)
    yield connected
    await connected.close()


async def seconds_until_closed(client: Client) -> float:
    start = time.monotonic()
    await client.remainder()
    return time.monotonic() - start


async def test_a_client_that_says_nothing_is_disconnected(client: Client) -> None:
    assert HEADERS * 0.9 < await seconds_until_closed(client) < HEADERS + BUSY


async def test_headers_that_trickle_in_are_not_waited_for(client: Client) -> None:
    async def trickle() -> None:
        for byte in post(question()):
            await client.send(bytes([byte]))
            await asyncio.sleep(HEADERS / 10)

    start = time.monotonic()
    with pytest.raises(ConnectionError):
        await trickle()
    assert time.monotonic() - start < HEADERS + BUSY


async def test_headers_that_trickle_in_on_a_used_connection_are_not_waited_for_either(client: Client) -> None:
    assert (await client.ask(post(question()))).response["successful"]
    await client.send(b"POST /inter")
    assert HEADERS * 0.9 < await seconds_until_closed(client) < HEADERS + BUSY


async def test_a_body_that_does_not_come_is_not_waited_for(client: Client) -> None:
    await client.send(post(question())[:-100])
    assert await seconds_until_closed(client) < 2 * (EXCHANGE + 0.1) + BUSY


async def test_a_connection_that_is_old_ends_with_its_next_answer(spell: Callable[[bytes], bytes]) -> None:
    async with Server(replace(PATIENT, connection_age=AGE)) as server:
        for _ in range(5):  # a busy machine takes longer to answer, but not always
            client = await Client.connect(server.started.port, None, spell)
            young = await client.ask(post(question()))
            assert young.response["successful"]
            if "connection" not in young.headers:
                break
            await client.close()
        assert "connection" not in young.headers
        await asyncio.sleep(AGE * 1.1 + 0.1)
        old = await client.ask(post(question()))
        assert old.response["successful"]
        assert old.headers["connection"] == "close"
        assert await client.remainder() == b""
        await client.close()


async def test_a_connection_that_is_old_and_has_nothing_to_answer_is_kept(spell: Callable[[bytes], bytes]) -> None:
    # Its client may be about to write a call, and would lose it.
    async with Server(replace(PATIENT, connection_age=AGE)) as server:
        client = await Client.connect(server.started.port, None, spell)
        await client.ask(post(question()))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(AGE * 1.1 + 0.3):
                await client.reader.read()
        await client.close()


async def test_a_connection_may_be_kept_for_ever(spell: Callable[[bytes], bytes]) -> None:
    async with Server(replace(PATIENT, connection_age=0)) as server:
        client = await Client.connect(server.started.port, None, spell)
        for _ in range(2):
            assert "connection" not in (await client.ask(post(question()))).headers
            await asyncio.sleep(AGE)
        await client.close()


async def test_an_answer_that_is_not_taken_is_not_kept(port: int) -> None:
    greedy = await Client.connect(port, None)

    async def ask_without_end() -> None:
        # Each answer is a page of metrics, so that no buffer on the way can hold them all.
        while True:
            await greedy.send(get("/metrics") * 100)

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(ask_without_end(), PATIENCE)
    await greedy.close()


async def test_an_idle_connection_is_kept(client: Client) -> None:
    body = question()
    await client.send(post(body).removesuffix(body))
    assert (await client.ask(body)).response["successful"]
    await asyncio.sleep(2.5 * (EXCHANGE + 0.1))
    assert (await client.ask(post(question()))).response["successful"]


async def test_a_connection_is_idle_from_its_last_answer(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_KEEP_ALIVE", 1.0)
    client = await Client.connect(port, None)
    for _ in range(5):
        assert (await client.ask(post(question()))).response["successful"]
        await asyncio.sleep(0.25)
    assert 0.5 < await seconds_until_closed(client) < BUSY
    await client.close()


async def test_slow_but_steady_is_fine(port: int, spell: Callable[[bytes], bytes]) -> None:
    request = post(question())
    third = len(request) // 3
    for attempt in range(5):  # a busy machine is too slow, but not always
        client = await Client.connect(port, None, spell)
        try:
            for part in (request[:third], request[third : 2 * third], request[2 * third :]):
                await client.send(part)
                await asyncio.sleep(HEADERS / 4)
            assert (await client.receive()).response["successful"]
        except (ConnectionError, asyncio.IncompleteReadError):
            assert attempt < 4
        else:
            break
        finally:
            await client.close()


async def test_a_body_of_just_the_limit_is_read(client: Client) -> None:
    body = question()
    full = body + b" " * (BODY - len(body))
    assert (await client.ask(post(full))).response["successful"]


async def test_one_byte_more_is_refused_before_it_is_sent(client: Client) -> None:
    request = post(b"", headers={"Content-Length": str(BODY + 1)})
    answer = await client.ask(request)
    assert (answer.status, answer.json["reason"]) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize("length", ["99999999999999999999", "18446744073709551615"])
async def test_a_length_beyond_all_reason_is_refused(client: Client, length: str) -> None:
    assert (await client.ask(post(b"", headers={"Content-Length": length}))).status in {400, 413}


async def test_chunks_without_end_are_refused_when_they_pass_the_limit(client: Client) -> None:
    await client.send(post(b"", headers={"Content-Length": "", "Transfer-Encoding": "chunked"}))
    chunk = b"3e8\r\n" + b" " * 1000 + b"\r\n"
    for _ in range(BODY // 1000 + 1):
        await client.send(chunk)
    assert (await client.receive()).status == 413


async def test_a_chunk_that_is_none_ends_the_connection(client: Client) -> None:
    await client.send(post(b"", headers={"Content-Length": "", "Transfer-Encoding": "chunked"}) + b"xyz\r\n")
    assert await seconds_until_closed(client) < 2 * (EXCHANGE + 0.1) + BUSY


async def test_a_client_that_leaves_in_the_middle_does_no_harm(port: int) -> None:
    for cut in (20, 200, 300):
        leaving = await Client.connect(port, None)
        await leaving.send(post(question())[:cut])
        await leaving.close()
    client = await Client.connect(port, None)
    assert (await client.ask(post(question()))).response["successful"]
    await client.close()
