"""What goes by the fast lane, what does not, and that nobody can tell the difference."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, strategies as st

from karta_interpreter.webhook.answering.load import Load
from karta_interpreter.webhook.process.application import Application
from tests.support.waiting import HANG, Clock, until
from tests.webhook.process.client import as_others, get, post, question
from tests.webhook.process.wire import BODY_LIMIT, Bench, Outcome

CALL = post(question())
HEAD = CALL[: -len(question())]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    made.hang_up()


async def test_request_of_karmada_takes_the_fast_lane(bench: Bench) -> None:
    for path in ("/interpret", "/interpret?timeout=3s", "/interpret?timeout=1m0.5s"):
        bench.connection.data_received(post(question(), path))
    for operation in ("InterpretHealth", "Invented"):
        bench.connection.data_received(post(question(operation=operation)))
    assert bench.wire.written.count(b"HTTP/1.1 200 OK\r\n") == 5
    assert bench.by_aiohttp == 0


async def test_each_call_has_length_and_timeout_of_its_own_head(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection knows the head of its last request again."""
    seen = list[tuple[bytes, str]]()

    def answer_soon(_: Application, body: bytes, parameters: str) -> bytes:
        seen.append((body, parameters))
        return b"{}"

    monkeypatch.setattr(Application, "answer_soon", answer_soon)
    calls = [
        (b" " * length, parameters)
        for parameters in ("timeout=3s", "timeout=9s", "timeout=30s", "", "timeout=3s")
        for length in (7, 1234, 99, 100)
    ]
    for body, parameters in calls:
        await bench.feed([post(body, f"/interpret?{parameters}".rstrip("?"))])
    assert seen == calls


async def test_body_may_come_later_and_in_pieces(bench: Bench) -> None:
    await bench.feed([HEAD, *(bytes([byte]) for byte in question()), HEAD + b"{", question()[1:]])
    assert bench.wire.written.count(b'"successful":true') == 2
    assert bench.by_aiohttp == 0


async def test_held_request_is_in_flight(bench: Bench) -> None:
    await bench.feed([CALL])
    assert bench.connections.busy == 0
    await bench.feed([HEAD])
    assert bench.connections.busy == 1
    await bench.feed([question()])
    assert bench.connections.busy == 0


@pytest.mark.parametrize(
    ("request_", "answer", "by_aiohttp"),
    [
        pytest.param(post(b"{"), b"HTTP/1.1 400 Bad Request", 1, id="a body that is not JSON"),
        pytest.param(post(question("Treadmill")), b"HTTP/1.1 200 OK", 0, id="a definition that needs a thread"),
    ],
)
async def test_after_an_answer_that_takes_longer_the_lane_is_open(
    request_: bytes, answer: bytes, by_aiohttp: int
) -> None:
    bench = Bench()
    bench.connection.data_received(request_)
    await until(lambda: bench.wire.written and not bench.connection.is_busy)
    assert bench.wire.written.startswith(answer)
    await bench.feed([CALL, CALL])
    assert bench.by_aiohttp == by_aiohttp
    bench.hang_up()


async def test_while_draining_aiohttp_answers_and_closes(bench: Bench) -> None:
    bench.readiness.draining = True
    outcome = await bench.feed([CALL])
    assert b"\r\nConnection: close\r\n" in outcome.written
    assert outcome.closed


SCRIPTED = post(question("Sundial", "InterpretHealth"))


async def test_script_answers_in_the_fast_lane() -> None:
    bench = Bench(webhook_timeout=int(HANG))
    bench.connection.data_received(SCRIPTED)
    assert bench.connections.busy == 1
    assert not bench.connection.is_receiving
    await until(lambda: not bench.connection.is_busy)
    assert b'"healthy":true' in bench.wire.written
    assert bench.wire.written.startswith(b"HTTP/1.1 200 OK\r\n")
    assert bench.by_aiohttp == 0


async def test_pipelined_requests_are_answered_in_order(bench: Bench) -> None:
    bench.connection.data_received(SCRIPTED)
    for part in (CALL[:10], CALL[10:], SCRIPTED):
        bench.connection.data_received(part)
    assert bench.wire.paused
    await until(lambda: bench.wire.written.count(b"HTTP/1.1 200 OK") == 3)
    first, second, third = bench.wire.written.split(b"HTTP/1.1 200 OK")[1:]
    assert b'"healthy":true' in first
    assert b'"replicas":3' in second
    assert b'"healthy":true' in third
    assert not bench.wire.paused


async def test_request_that_came_during_an_answer_is_the_next_one(bench: Bench) -> None:
    bench.connection.data_received(SCRIPTED)
    bench.connection.data_received(CALL)
    await until(lambda: bench.wire.written.count(b"HTTP/1.1 200 OK") == 2)
    assert not bench.wire.paused, "more may come"
    assert bench.by_aiohttp == 0


async def test_client_that_leaves_ends_its_script() -> None:
    load = Load(1)
    bench = Bench(load=load, webhook_timeout=int(HANG))
    at_night = {"apiVersion": "mill.example.org/v1", "kind": "Sundial", "spec": {"stones": 0}}
    bench.connection.data_received(post(question("Sundial", "InterpretHealth", object=at_night)))
    await until(lambda: load.is_full)
    bench.hang_up()
    await until(lambda: not load.is_full)
    assert bench.wire.written == b""
    assert b'operation="InterpretHealth"' not in bench.metrics.render()  # it was cancelled, not answered


async def test_answer_while_draining_is_the_last_one(bench: Bench) -> None:
    bench.connection.data_received(SCRIPTED)
    bench.readiness.draining = True
    await until(lambda: bench.wire.closed)
    assert b"\r\nConnection: close\r\n" in bench.wire.written
    assert b'"healthy":true' in bench.wire.written


async def test_script_beyond_limit_is_refused_by_aiohttp() -> None:
    bench = Bench(load=Load(0))
    bench.connection.data_received(SCRIPTED)
    await until(lambda: bench.wire.written)
    assert bench.wire.written.startswith(b"HTTP/1.1 503 ")
    bench.hang_up()


async def test_simultaneous_scripts_beyond_limit_are_refused_by_aiohttp() -> None:
    load = Load(1)
    benches = [Bench(load=load) for _ in range(3)]
    for bench in benches:
        bench.connection.data_received(SCRIPTED)
    await until(lambda: all(bench.wire.written for bench in benches))
    assert sorted(bench.wire.written.partition(b"\r\n")[0] for bench in benches) == [
        b"HTTP/1.1 200 OK",
        *[b"HTTP/1.1 503 Service Unavailable"] * 2,
    ]
    assert not load.is_full
    for bench in benches:
        bench.hang_up()


async def test_client_that_takes_no_answer_is_disconnected(clock: Clock) -> None:
    bench = Bench(exchange=60.0)
    await bench.feed([CALL])
    bench.connection.pause_writing()
    await clock.advance(59)
    assert not bench.wire.closed
    for _ in range(2):
        await clock.advance(61)
    assert bench.wire.closed
    bench.hang_up()


def with_header(line: bytes) -> bytes:
    return HEAD[:-2] + line + b"\r\n\r\n" + question()


def replaced(old: bytes, new: bytes) -> bytes:
    assert old in HEAD
    return HEAD.replace(old, new) + question()


LENGTH = b"Content-Length: %d" % len(question())
UNUSUAL = {
    "method in small letters": replaced(b"POST", b"post"),
    "another method": replaced(b"POST", b"PUT"),
    "a slash at the end": replaced(b"/interpret?", b"/interpret/?"),
    "an escape in the path": replaced(b"/interpret?", b"/%69nterpret?"),
    "a URL": replaced(b"/interpret?", b"http://localhost/interpret?"),
    "two timeouts": replaced(b"?timeout=", b"?timeout=4s&timeout="),
    "HTTP/1.0": replaced(b"HTTP/1.1", b"HTTP/1.0"),
    "HTTP/1.2": replaced(b"HTTP/1.1", b"HTTP/1.2"),
    "an empty line before": b"\r\n" + CALL,
    "line feeds alone": CALL.replace(b"\r\n", b"\n"),
    "no host": replaced(b"Host: localhost\r\n", b""),
    "two hosts": with_header(b"Host: other"),
    "a host with a space": replaced(b"Host: localhost", b"Host: local host"),
    "a tab": replaced(b"User-Agent: ", b"User-Agent:\t"),
    "a NUL": replaced(b"User-Agent: kube", b"User-Agent: kube\0"),
    "not ASCII": replaced(b"User-Agent: kube", b"User-Agent: k\xc3\xbcbe"),
    "a folded line": replaced(b"User-Agent: kube", b"User-Agent: kube\r\n kube"),
    "a bare carriage return": replaced(b"User-Agent: kube", b"User-Agent: kube\rX: y"),
    "small letters": replaced(LENGTH, LENGTH.lower()),
    "a space before the colon": replaced(LENGTH, LENGTH.replace(b": ", b" : ")),
    "no space after the colon": replaced(LENGTH, LENGTH.replace(b": ", b":")),
    "a length with a zero before it": replaced(LENGTH, LENGTH.replace(b": ", b": 0")),
    "a length with a sign": replaced(LENGTH, LENGTH.replace(b": ", b": +")),
    "a space after the length": replaced(LENGTH, LENGTH + b" "),
    "a list of lengths": replaced(LENGTH, LENGTH + b", 7"),
    "a hexadecimal length": replaced(LENGTH, b"Content-Length: 0x10"),
    "no length": replaced(LENGTH + b"\r\n", b""),
    "the same length twice": replaced(LENGTH, LENGTH + b"\r\n" + LENGTH),
    "the same length once more at the end": with_header(LENGTH),
    "another length": with_header(b"Content-Length: 7"),
    "chunks and a length": with_header(b"Transfer-Encoding: chunked"),
    "a transfer coding": with_header(b"Transfer-Encoding: identity"),
    "an expectation": with_header(b"Expect: 100-continue"),
    "an upgrade": with_header(b"Upgrade: h2c"),
    "the last request": with_header(b"Connection: close"),
    "not the last request": with_header(b"Connection: keep-alive"),
    "a content coding": with_header(b"Content-Encoding: gzip"),
    "one more header": with_header(b"X: y"),
    "a line that is not a header": with_header(b"X"),
    "another media type": replaced(b"application/json\r\n", b"text/plain\r\n"),
    "an empty line after": CALL + b"\r\n",
    "two at once": CALL + CALL,
    "a body beyond the limit": post(question() + b" " * BODY_LIMIT),
    "no body": post(b""),
    "a probe": get("/healthz"),
}


@pytest.mark.parametrize("unusual", UNUSUAL.values(), ids=UNUSUAL)
async def test_unusual_request_is_answered_by_aiohttp(bench: Bench, unusual: bytes) -> None:
    await bench.feed([CALL, unusual])
    assert bench.by_aiohttp >= 1


async def test_head_in_pieces_is_read_by_aiohttp(bench: Bench) -> None:
    await bench.feed([CALL[:10], CALL[10:], CALL])
    assert bench.wire.written.count(b'"successful":true') == 2
    assert bench.by_aiohttp == 2


def outcome(parts: Sequence[bytes]) -> Outcome:
    async def run() -> Outcome:
        bench = Bench()
        found = await bench.feed(parts)
        bench.hang_up()
        return found

    return asyncio.run(run())


BODIES = [question(), question(operation="Prune"), question("Pod"), b"{", b"[]", b'{"request":{}}', b""]
ordinary = st.sampled_from(BODIES).map(post)
unusual = st.sampled_from(list(UNUSUAL.values()))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A call with one stretch of bytes replaced."""
    data = draw(ordinary)
    start = draw(st.integers(0, len(HEAD) + 5))
    end = start + draw(st.integers(0, 3))
    return data[:start] + draw(st.sampled_from(SPLINTERS)) + data[end:]


SPLINTERS = [b"", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"\0", b"0", b"9", b":", b",", b"\xff", b"a", b"A"]


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """Some requests, in parts that are anything from a byte to several requests."""
    requests = draw(st.lists(ordinary | unusual | damaged(), min_size=1, max_size=3))
    stream = b"".join(requests)
    ends = {sum(map(len, requests[:count])) for count in range(len(requests) + 1)}
    kept = draw(st.sets(st.sampled_from(sorted(ends))))
    cuts = sorted({0, len(stream), *kept, *draw(st.sets(st.integers(0, len(stream)), max_size=3))})
    return [stream[start:end] for start, end in pairwise(cuts)]


def spelled(parts: Sequence[bytes], spell: Callable[[bytes], bytes]) -> list[bytes]:
    """Spell the whole, and cut it where it was cut before."""
    whole = iter(spell(b"".join(parts)))
    return [bytes(next(whole) for _ in part) for part in parts]


@example(parts=[HEAD + question()[:-1], CALL])  # aiohttp begins with the first before it sees the second
@given(parts=conversations())
def test_answers_of_both_ways_are_equal_bytes(parts: list[bytes]) -> None:
    assert outcome(parts) == outcome(spelled(parts, as_others))
