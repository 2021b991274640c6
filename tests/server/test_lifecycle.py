"""A server as a process: starting, being told to stop, and stopping."""

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.server.client import PATIENCE, get, post, question
from tests.server.process import KARTAS, PROGRAM, running

SLOW = post(question("Treadmill", "InterpretHealth"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_in_order(number: signal.Signals) -> None:
    with running() as server:
        client = await server.connect()
        assert (await client.ask(post(question()))).response["successful"]
        server.signal(number)
        assert server.ended() == 0
        assert await client.remainder() == b""
        await client.close()


async def test_a_call_in_flight_is_answered_and_the_connection_closed() -> None:
    with running() as server:
        client = await server.connect()
        await client.send(SLOW)
        probe = await server.connect()
        await probe.ask_until(get("/metrics"), lambda answer: b"requests_in_flight 2.0" in answer.body)
        server.signal(signal.SIGTERM)
        answer = await client.receive()
        assert answer.response["uid"] == json.loads(question())["request"]["uid"]
        assert answer.headers["connection"] == "close"
        assert server.ended() == 0
        for each in (client, probe):
            await each.close()


async def test_before_it_stops_the_server_says_that_it_is_not_ready_and_goes_on() -> None:
    with running(grace_period=1.0) as server:
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
        assert server.ended() == 0
        for each in (client, other, late):
            await each.close()


async def test_a_second_signal_ends_the_server_at_once() -> None:
    with running(grace_period=60.0, drain_timeout=60.0) as server:
        client = await server.connect()
        await client.send(SLOW)
        server.signal(signal.SIGTERM)
        server.logged("stopping")
        start = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.ended() == 0
        assert time.monotonic() - start < 5
        await client.close()


async def test_a_drain_has_an_end() -> None:
    with running(drain_timeout=0.1) as server:
        client = await server.connect()
        await client.send(post(question())[:-10])
        probe = await server.connect()
        await probe.ask_until(get("/metrics"), lambda answer: b"requests_in_flight 2.0" in answer.body)
        server.signal(signal.SIGTERM)
        assert server.logged("calls are cut off")["in_flight"] == 1
        assert server.ended() == 0
        for each in (client, probe):
            await each.close()


def failing(**options: object) -> str:
    """Return what a server that cannot start says."""
    settings = json.dumps({"folder": str(KARTAS), "port": 0} | options)
    command = [sys.executable, "-c", PROGRAM, settings]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


def test_a_port_in_use_is_named_with_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        complaint = failing(port=port)
    assert complaint == (
        f"interpreter.errors.ServeError: cannot listen on 127.0.0.1 port {port}: "
        "another process listens there: stop it, or choose another port"
    )


def test_an_address_of_another_machine_is_named() -> None:
    assert "no such address" in failing(host="192.0.2.1")


async def test_the_log_is_json_and_tells_failures_without_their_objects() -> None:
    with running() as server:
        client = await server.connect()
        marked = json.loads(question())["request"]["object"] | {"spec": {"stones": "a secret"}}
        await client.ask(post(question(object=marked, operation="Prune")))
        line = server.logged("call failed")
        assert line["uid"] == json.loads(question())["request"]["uid"]
        assert (line["code"], line["level"], line["object"]) == (400, "info", "bakery/rye")
        assert line["kind"] == "mill.example.org/v1, Kind=GrainMill"
        assert "secret" not in json.dumps(line)
        await client.close()
