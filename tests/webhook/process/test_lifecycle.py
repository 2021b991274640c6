"""A server as a process: starting, being told to stop, and stopping."""

import json
import signal
import socket

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import MIB, Settings
from tests.support.waiting import HANG, until
from tests.webhook.process.client import get, post, question
from tests.webhook.process.forked import forked
from tests.webhook.process.process import KARTAS, PROGRAM, running
from tests.webhook.process.processes import descendants, is_there

SLOW = post(question("Treadmill", "InterpretHealth"))


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL]
)
async def test_processes_end_with_server(number: signal.Signals) -> None:
    with running(plain_http=True) as server:
        client = await server.connect()
        large = post(question() + b" " * 3 * MIB)
        await client.ask_until(large, lambda answer: answer.status == 200)  # when its process has started
        assert (await client.ask(large)).response["replicas"] == 3
        # Its expression keeps a process of that process.
        await client.ask(post(question("Treadmill", "InterpretHealth") + b" " * 3 * MIB))
        other = await server.connect()
        if number == signal.SIGKILL:
            await other.send(SLOW)
        pids = descendants(server.pid)
        assert pids, "there is a process of the large calls"
        server.signal(number)
        assert await server.ended() == (-number if number == signal.SIGKILL else 0)
        assert await client.remainder() == b""
        await until(lambda: not any(map(is_there, pids)))
        for each in (client, other):
            await each.close()


async def test_call_in_flight_is_answered_before_the_end() -> None:
    with running(drain_timeout=2 * HANG) as server:
        client = await server.connect()
        await client.send(SLOW)
        probe = await server.connect()
        await probe.ask_until(get("/metrics"), lambda answer: b"requests_in_flight 2.0" in answer.body)
        server.signal(signal.SIGTERM)
        answer = await client.receive()
        assert answer.response["uid"] == json.loads(question())["request"]["uid"]
        assert answer.headers["connection"] == "close"
        assert await server.ended() == 0
        for each in (client, probe):
            await each.close()


async def test_before_it_stops_the_server_says_that_it_is_not_ready_and_goes_on() -> None:
    with running(grace_period=2 * HANG) as server:
        client, other = await server.connect(), await server.connect()
        assert (await client.ask(get("/readyz"))).status == 200
        server.signal(signal.SIGTERM)
        server.logged("stopping")
        answer = await client.ask(get("/readyz"))
        assert (answer.status, answer.json["message"]) == (503, "the server is about to stop")
        answer = await other.ask(post(question()))
        assert (answer.response["successful"], answer.headers["connection"]) == (True, "close")
        late = await server.connect()
        assert (await late.ask(get("/healthz"))).status == 200
        server.signal(signal.SIGTERM)
        assert await server.ended() == 0
        for each in (client, other, late):
            await each.close()


async def test_second_signal_ends_the_server_at_once() -> None:
    with running(grace_period=2 * HANG, drain_timeout=2 * HANG) as server:
        client = await server.connect()
        await client.send(SLOW)
        server.signal(signal.SIGTERM)
        server.logged("stopping")
        server.signal(signal.SIGTERM)
        assert await server.ended() == 0
        await client.close()


# SIGTERM comes while the event loop takes notice of a signal of the timer.
COINCIDENCE = """
import os, signal
from karta_interpreter.webhook.answering.load import Interruption

signal.setitimer = lambda *_: None
Interruption._interrupt_if_due = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
"""


async def test_signal_counts_once_next_to_interruptions() -> None:
    with running(before=COINCIDENCE, grace_period=2 * HANG) as server:
        client = await server.connect()
        assert (await client.ask(get("/readyz"))).status == 200
        server.signal(signal.SIGVTALRM)
        server.logged("stopping")
        assert (await client.ask(get("/readyz"))).status == 503
        server.signal(signal.SIGTERM)
        assert await server.ended() == 0
        await client.close()


async def test_drain_has_an_end() -> None:
    with running(drain_timeout=0.1) as server:
        client = await server.connect()
        await client.send(post(question())[:-10])
        probe = await server.connect()
        await probe.ask_until(get("/metrics"), lambda answer: b"requests_in_flight 2.0" in answer.body)
        server.signal(signal.SIGTERM)
        assert server.logged("calls are cut off")["in_flight"] == 1
        assert await server.ended() == 0
        for each in (client, probe):
            await each.close()


def failing(**options: object) -> str:
    """Return what a server that cannot start says."""
    settings = json.dumps({"folder": str(KARTAS), "port": 0} | options)
    with forked(PROGRAM, settings) as (child, _, stderr):
        *_, last = stderr
        child.join(HANG)
        assert child.exitcode == 1
    return last.decode().rstrip()


def test_port_in_use_is_named_with_advice() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        complaint = failing(port=port)
    assert complaint == (
        f"karta_interpreter.base.errors.ServeError: cannot listen on 127.0.0.1 port {port}: "
        "another process listens there: stop it, or choose another port (--port)"
    )


async def test_address_of_another_machine_is_named() -> None:
    with pytest.raises(ServeError, match="no such address"):
        async with Server(Settings(host="192.0.2.1", port=0, folders=(KARTAS,), catalogue=False)):
            pass
