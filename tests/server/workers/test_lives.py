"""Workers that die, hang or are sent signals, and the end of a server that has them."""

import asyncio
import os
import signal
import socket
import time

import pytest

from karta_interpreter.errors import ServeError
from karta_interpreter.server.serving import Server
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.workers import worker as worker_module
from karta_interpreter.server.workers import workers as workers_module
from tests.server.client import Client, as_karmada, get, post, question
from tests.server.logs import capture_logs
from tests.server.process import KARTAS, Process, running
from tests.server.test_lifecycle import SLOW, failing
from tests.server.test_metrics import samples
from tests.server.workers.processes import close_all, connected, is_there, until, workers

CALLS = "calls_total", "InterpretReplica", "mill.example.org/v1/GrainMill", "success"


async def test_a_worker_that_dies_is_replaced_and_the_others_go_on() -> None:
    with running(workers=2) as server:
        clients = await connected(server, 8)
        for client in clients:
            await client.ask(post(question()))
        assert await objections(clients, stopped=workers(server.child.pid)[0]) in (
            "worker 1 does not answer",
            "worker 2 does not answer",
        )
        before = samples((await clients[0].ask(get("/metrics"))).body)
        victim, other = workers(server.child.pid)

        os.kill(victim, signal.SIGKILL)
        died = server.logged("worker died and is replaced")
        assert (died["level"], died["pid"], died["cause"]) == ("error", victim, "SIGKILL")
        assert died["connections_lost"] == 4
        new = await server.connect()
        assert (await new.ask(post(question()))).response["successful"], "while there is one worker"
        cut_off = await asyncio.gather(*map(is_cut_off, clients))
        survivors = [client for client, is_lost in zip(clients, cut_off, strict=True) if not is_lost]
        assert len(survivors) == 4
        for client in survivors:
            assert (await client.ask(post(question()))).response["successful"]

        assert server.logged("worker started")["pid"] in workers(server.child.pid)
        assert other in workers(server.child.pid)
        await new.ask_until(get("/readyz"), lambda answer: answer.status == 200)
        after = samples((await new.ask(get("/metrics"))).body)
        assert after[CALLS] == before[CALLS] + 1 + len(survivors), "what the dead one has counted is not forgotten"
        assert after["worker_deaths_total",] == 1
        latecomers = await connected(server, 4)
        for client in latecomers:
            assert (await client.ask(post(question()))).response["successful"]
        await close_all([*clients, *latecomers, new])


async def objections(clients: list[Client], stopped: int) -> str:
    """What speaks against the readiness of a server, while one of its workers is stopped."""
    os.kill(stopped, signal.SIGSTOP)
    answers = [asyncio.create_task(client.ask(get("/readyz"))) for client in clients]
    done, _ = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
    os.kill(stopped, signal.SIGCONT)
    await asyncio.wait(answers)
    refused = next(iter(done)).result()
    assert refused.status == 503
    return str(refused.json["message"])


async def is_cut_off(client: Client) -> bool:
    try:
        async with asyncio.timeout(0.5):
            return await client.reader.read(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


async def test_nothing_is_lost_under_load() -> None:
    with running(workers=2, grace_period=0.3) as server:
        clients = await connected(server, 8)
        slow = await server.connect()
        answered = [0] * len(clients)
        asking = [asyncio.create_task(ask_on(client, answered, index)) for index, client in enumerate(clients)]
        await until(lambda: min(answered) > 1)
        await slow.send(SLOW)
        await asyncio.sleep(0.1)
        for pid in [server.child.pid, *workers(server.child.pid)]:  # some stop a whole group of processes
            os.kill(pid, signal.SIGTERM)
        server.logged("stopping")
        await asyncio.gather(*asking)
        assert (await slow.receive()).headers["connection"] == "close"
        assert server.ended() == 0
        await close_all([*clients, slow])


async def ask_on(client: Client, answered: list[int], index: int) -> None:
    """Ask until told to go elsewhere, and count the answers. Any call that is not answered is an error."""
    while True:
        answer = await client.ask(post(question()))
        assert answer.response["successful"]
        answered[index] += 1
        if answer.headers.get("connection") == "close":
            return


async def test_a_second_signal_ends_it_at_once() -> None:
    with running(workers=2, grace_period=60.0, drain_timeout=60.0) as server:
        client = await server.connect()
        await client.send(SLOW)
        pids = workers(server.child.pid)
        server.signal(signal.SIGTERM)
        server.logged("stopping")
        start = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.ended() == 0
        assert time.monotonic() - start < 5
        assert not any(map(is_there, pids))
        await client.close()


async def test_a_drain_has_an_end_also_without_tls_and_over_ipv6() -> None:
    with running(workers=2, drain_timeout=0.1, host="::1", plain_http=True) as server:
        client, probe = await over_ipv6(server), await over_ipv6(server)
        assert (await client.ask(post(question()))).response["replicas"] == 3
        await client.send(post(question())[:-10])
        await probe.ask_until(get("/metrics"), lambda answer: b"requests_in_flight 2.0" in answer.body)
        server.signal(signal.SIGTERM)
        cut_off = server.logged("calls are cut off")
        assert (cut_off["in_flight"], cut_off["worker"]) == (1, 1)
        assert server.ended() == 0
        await close_all([client, probe])


async def over_ipv6(server: Process) -> Client:
    return Client(*await asyncio.open_connection("::1", server.port), as_karmada)


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        complaint = failing(port=port, workers=2)
    assert f"cannot listen on 127.0.0.1 port {port}: another process listens there" in complaint


async def test_a_worker_that_hangs_is_killed_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(workers_module, "_HUNG_SECONDS", 2.5)
    with capture_logs() as logs:
        async with Server(Settings(port=0, workers=2, folders=(KARTAS,), catalogue=False, plain_http=True)) as server:
            hung = workers(os.getpid())[0]
            os.kill(hung, signal.SIGSTOP)
            await until(lambda: hung not in workers(os.getpid()) and len(workers(os.getpid())) == 2)
            client = await Client.connect(server.started.port, None)
            await client.ask_until(get("/readyz"), lambda answer: answer.status == 200)
            await client.close()
    said = [(line["event"], line["pid"]) for line in logs if line["log_level"] == "error"]
    assert said == [("worker hangs and is killed", hung), ("worker died and is replaced", hung)]


async def test_a_worker_that_cannot_begin_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_PROGRAM", "no.such.program")
    with pytest.raises(ServeError, match=r"worker \d ended before it could answer: exit code 1"):
        async with Server(Settings(port=0, workers=2, folders=(KARTAS,), catalogue=False, plain_http=True)):
            pass
    assert workers(os.getpid()) == []
