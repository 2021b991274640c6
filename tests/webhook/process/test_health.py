"""Readiness, and the port of its own where probes are answered."""

import asyncio
import http.client
import json
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.findings import Severity
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.webhook import log
from karta_interpreter.webhook.process import server
from karta_interpreter.webhook.process.health import Readiness
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.definitions.sources.running import running_cluster
from tests.definitions.sources.scripted_api import ScriptedApi
from tests.definitions.sources.test_reference_cache import HALLS, KARTA
from tests.support.rows import rows
from tests.support.waiting import HANG, turns, until
from tests.webhook.process.process import KARTAS


def test_readiness_needs_a_valid_certificate() -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    ends = [time.time() + 60, time.time() - 1]
    readiness = Readiness(store, lambda: ends.pop(0))
    assert readiness.objections() == []
    assert readiness.objections() == ["the certificate has expired"]


def test_readiness_fails_without_certificate() -> None:
    readiness = Readiness(Store(), lambda: None)
    assert "there is no certificate yet, the log says why" in readiness.objections()


def test_objections_are_named_together() -> None:
    readiness = Readiness(Store(), lambda: 0.0)
    readiness.draining = True
    assert len(readiness.objections()) == 3


def test_readiness_waits_for_sources() -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    awaited = ["the Kartas of the cluster have not been read yet"]
    readiness = Readiness(store, awaited=lambda: awaited[0])
    assert readiness.objections() == awaited
    awaited[0] = ""
    assert readiness.objections() == []


def test_plain_http_needs_no_certificate() -> None:
    assert Readiness(Store()).objections() == ["no definition is served"]


async def test_objects_that_cannot_be_looked_up_are_doubts(tmp_path: Path) -> None:
    folder = tmp_path / "kartas"
    folder.mkdir()
    (folder / "orchestra.yaml").write_text(KARTA)
    api = ScriptedApi(kinds={"toys.example.com/v1": ["Hall", "Orchestra"]})
    api.collections[HALLS] = {}
    for number in range(5):
        api.put(HALLS, f"large{number}", {"of": "x" * 60_000}, namespace="village")
    async with running_cluster(tmp_path, api, folders=(folder,), budget=Budget(300_000)) as running:
        await until(running.store.reference_gaps)
        (doubt,) = Readiness(running.store).doubts()
        assert doubt.startswith("hall.toys.example.com village cannot be looked up: not all objects of the namespace")


def test_errors_are_named_before_warnings(tmp_path: Path) -> None:
    text = KARTA.replace("kind: Karta", "kind: Karta\nmade: by hand")
    (tmp_path / "orchestra.yaml").write_text(text.replace("  structureDefinition", "  structure"))
    store = Store([tmp_path], catalogue=False)
    store.load()

    (broken,) = store.snapshot.quarantined
    assert broken.findings[0].severity is Severity.WARNING
    (doubt,) = Readiness(store).doubts()
    with mock.patch.object(log.log, "warning") as logged:
        server._log_quarantined([broken])  # noqa: SLF001 - the log of a start
    assert ": error " in doubt
    assert ": error " in logged.call_args.kwargs["reasons"][0]


class Bell:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@rows(
    ("silence", "path", "objections"),
    [
        pytest.param(0, "/healthz", [], id="alive"),
        pytest.param(0, "/readyz", ["no definition is served"], id="not ready is not dead"),
        pytest.param(59, "/healthz", [], id="a loop that is only busy is alive"),
        pytest.param(61, "/healthz", ["the event loop has not run for 61 s"], id="a loop that hangs is dead"),
        pytest.param(61, "/readyz", ["the event loop has not run for 61 s"], id="and not ready"),
    ],
)
def test_liveness_follows_last_beat(silence: int, path: str, objections: list[str]) -> None:
    clock = Bell()
    heart = Readiness(Store(), clock=clock)
    heart.beat()
    clock.now += silence
    assert heart.at_last_beat(path) == objections


def test_loop_that_runs_again_is_alive_again() -> None:
    clock = Bell()
    heart = Readiness(Store(), clock=clock)
    clock.now += 100
    heart.beat()
    assert heart.at_last_beat("/healthz") == []


def settings(**others: Any) -> Settings:
    common: dict[str, Any] = {"port": 0, "health_port": 0, "plain_http": True, "folders": (KARTAS,), "catalogue": False}
    return Settings(**common | {"grace_period": 0.0} | others)


def asked(port: int | None, path: str, method: str = "GET") -> tuple[int, bytes]:
    """Ask with blocking calls, which keep the event loop of this thread from running."""
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
    connection.request(method, path)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        pytest.param("GET", "/healthz", 200, b"ok\n", id="alive"),
        pytest.param("GET", "/readyz?verbose", 200, b"ok\n", id="ready"),
        pytest.param("HEAD", "/healthz", 200, b"", id="a head"),
        pytest.param("POST", "/healthz", 405, b"takes GET, HEAD, not POST", id="another method"),
        pytest.param("GET", "/metrics", 404, b"served are /healthz, /readyz", id="nothing else"),
        pytest.param("POST", "/interpret", 404, b"served are /healthz, /readyz", id="above all no calls"),
    ],
)
async def test_probes_are_answered_while_the_event_loop_stands(
    method: str, path: str, status: int, body: bytes
) -> None:
    async with Server(settings()) as server:
        found = asked(server.started.health_port, path, method)
    assert found[0] == status
    assert body in found[1]


async def test_probes_are_answered_while_the_event_loop_computes() -> None:
    async with Server(settings()) as server:
        answers: list[tuple[int, bytes]] = []
        probe = threading.Thread(target=lambda: answers.append(asked(server.started.health_port, "/healthz")))
        probe.start()
        while probe.is_alive():
            sum(range(1000))  # holds the interpreter's lock for as long as Python lets it
    assert answers == [(200, b"ok\n")]


async def test_stopping_server_is_alive_and_not_ready() -> None:
    async with Server(settings()) as server:
        await turns()  # the next beat is a second later
        await server.wind_down()
        assert asked(server.started.health_port, "/healthz") == (200, b"ok\n")
        status, body = asked(server.started.health_port, "/readyz")
    assert (status, json.loads(body)["message"]) == (503, "the server is about to stop")


async def test_silent_clients_keep_no_probe_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.webhook.process.health._PROBE_SECONDS", 2 * HANG)
    async with Server(settings()) as server:
        port = server.started.health_port
        assert port is not None
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        assert asked(port, "/healthz") == (200, b"ok\n")
        async with asyncio.timeout(HANG):
            assert await silent[0][0].read() == b"", "the oldest made room"
        for _, writer in silent:
            writer.transport.abort()


async def test_endless_head_is_cut_off() -> None:
    async with Server(settings()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.started.health_port)
        writer.write(b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 10_000)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.transport.abort()


async def test_health_port_in_use_is_named_and_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServeError, match=f"cannot listen on 127.0.0.1 port {port}: another process listens there"):
            async with Server(settings(health_port=port)):
                pass
    assert not [thread for thread in threading.enumerate() if thread.name == "health"]
