"""A server with two workers, asked over many connections: each answer is as from one process."""

import json
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.server.client import PATIENCE, Answer, Client, get, post, question
from tests.server.process import KARTAS, Process, running
from tests.server.test_metrics import samples
from tests.server.workers.processes import close_all, connected, connections, workers

OVERRIDES = KARTAS.with_name("overrides")
KIND = "mill.example.org/v1/GrainMill"
COUNT = 8


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the definitions and of the scripts over them, for tests to change."""
    root = tmp_path_factory.mktemp("folders")
    shutil.copytree(KARTAS, root / "kartas")
    shutil.copytree(OVERRIDES, root / "overrides")
    return root


@pytest.fixture(scope="module")
def server(folders: Path) -> Iterator[Process]:
    with running(folders / "kartas", overrides=[str(folders / "overrides")], workers=2, call_limit=PATIENCE) as process:
        yield process


@pytest.fixture
async def clients(server: Process) -> AsyncIterator[list[Client]]:
    found = await connected(server, COUNT)
    yield found
    await close_all(found)


async def each(clients: list[Client], request: bytes) -> list[Answer]:
    return [await client.ask(request) for client in clients]


async def test_connections_are_shared_out_evenly(server: Process, clients: list[Client]) -> None:
    await each(clients, get("/healthz"))
    assert sorted(connections(server.child.pid, server.port).values()) == [COUNT // 2, COUNT // 2]


async def test_those_that_have_ended_do_not_count(server: Process) -> None:
    for _ in range(2):
        first = await connected(server, 4)
        await each(first, get("/healthz"))
        await close_all(first)
    await test_connections_are_shared_out_evenly(server, again := await connected(server, COUNT))
    await close_all(again)


async def test_every_worker_answers_by_scripts_and_kartas(clients: list[Client]) -> None:
    for answer in await each(clients, post(question())):
        assert answer.response["replicas"] == 4, "three stones, and one more, which a script adds to the Karta's answer"
    for answer in await each(clients, post(question(operation="InterpretDependency"))):
        assert answer.response["successful"], "a Karta alone"
    [status] = {answer.body for answer in await each(clients, post(question("Nothing")))}
    assert json.loads(status)["response"]["status"]["code"] == 404


async def test_a_large_call_is_answered(clients: list[Client]) -> None:
    answer = await clients[0].ask(post(question() + b" " * 3 * 2**20, "/interpret"))
    assert answer.response["replicas"] == 4


async def test_a_karta_is_admitted_and_another_one_refused(clients: list[Client]) -> None:
    obj = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "empty"}, "spec": {}}
    kind = {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"}
    request = {"uid": "r", "kind": kind, "operation": "CREATE", "name": "empty", "object": obj}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    for answer in await each(clients[:2], post(json.dumps(review).encode(), "/admission/validate")):
        assert not answer.response["allowed"]


async def test_metrics_are_those_of_all_processes(server: Process, clients: list[Client]) -> None:
    name = "calls_total", "InterpretStatus", KIND, "success"
    before = samples((await clients[0].ask(get("/metrics"))).body)
    await each(clients, post(question(operation="InterpretStatus")))
    pages = [samples(answer.body) for answer in await each(clients, get("/metrics"))]
    assert {page[name] - before.get(name, 0) for page in pages} == {COUNT}
    page = pages[0]
    assert page["call_seconds_count", "InterpretStatus", KIND] == page[name]
    assert page["requests_in_flight",] == 1
    assert page["definitions", "served"] == 5, "three Kartas and two kinds with scripts alone; not that for each worker"
    assert page["certificate_expiry_timestamp_seconds",] < 2**32, "a time, not a sum of times"
    assert page["process_max_fds",] == before["process_max_fds",]
    ours = [server.child.pid, *workers(server.child.pid)]
    assert page["process_open_fds",] == pytest.approx(sum(map(_open_files, ours)), abs=3)


def _open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def test_it_is_ready(clients: list[Client]) -> None:
    assert {answer.status for answer in await each(clients, get("/readyz"))} == {200}


def has_replicas(count: int, answer: Answer) -> bool:
    return bool(answer.response["replicas"] == count)


async def test_a_change_reaches_every_worker_within_two_seconds(folders: Path, clients: list[Client]) -> None:
    script, karta = folders / "overrides" / "mill.yaml", folders / "kartas" / "mill.yaml"
    good = script.read_text(), karta.read_text()
    for more in (5, 6, 7, 8, 9):  # a busy machine takes longer, but not always
        start = time.monotonic()
        script.write_text(good[0].replace("replicas + 1", f"replicas + {more}"))
        karta.write_text(good[1].replace(".spec.stones // 1", ".spec.stones + 90"))
        for client in clients:
            await client.ask_until(post(question()), partial(has_replicas, 93 + more))
        if (took := time.monotonic() - start) < 2:
            break
    assert took < 2

    script.unlink()
    for client in clients:
        await client.ask_until(post(question()), lambda answer: answer.response["replicas"] == 93)
    script.write_text(good[0])
    karta.write_text(good[1])
    for client in clients:
        await client.ask_until(post(question()), lambda answer: answer.response["replicas"] == 4)
