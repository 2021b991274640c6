"""Bodies that are too large for the server's own process, with the processes that answer them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.webhook.answering.lanes import is_large_body
from karta_interpreter.webhook.settings import MIB
from tests.support.waiting import HANG
from tests.webhook.process.client import Answer, Client, get, post, question
from tests.webhook.process.process import Process, running
from tests.webhook.wire.karmada import receive

UID = "3f1d8f0e-6a0b-4f4e-9c1d-000000000001"
POD = b'{"name":"rye-0","labels":{"app":"rye"},"phase":"Running","message":"\\u003cb\\u003e","ports":[80,443]},'
LARGE = question("GrainMill", "Retain") + b" " * 3 * MIB


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    # Without TLS, so that the client in this process has no work that keeps it from measuring; with less memory than
    # in production, so that less is too much; a process for jq takes up to 512 MiB of it.
    with running(plain_http=True, child_memory=576 * MIB) as process:
        yield process


@pytest.fixture
async def client(server: Process) -> AsyncIterator[Client]:
    connected = await server.connect()
    yield connected
    await connected.close()


async def ask(server: Process, body: bytes) -> Answer:
    request = memoryview(post(body, f"/interpret?timeout={HANG:.0f}s"))
    connected = await server.connect()
    for start in range(0, len(request), MIB):
        # In pieces, so that what else this process measures does not have to wait for all of them.
        connected.writer.write(request[start : start + MIB])
        await connected.writer.drain()
    answer = await connected.receive()
    await connected.close()
    return answer


def filled(body: bytes, filling: bytes) -> bytes:
    """Return a body with JSON in place of every "@"."""
    return body.replace(b'"@"', filling)


def mill(stones: int | None) -> dict[str, Any]:
    obj: dict[str, Any] = json.loads(question())["request"]["object"]
    return obj | {"spec": obj["spec"] | {"stones": stones, "pods": "@"}}


def aggregation() -> bytes:
    items = [{"clusterName": f"member-{n}", "applied": True, "status": {"turning": n}} for n in range(300)]
    return question("GrainMill", "AggregateStatus", object=mill(3), aggregatedStatus=items)


def retention() -> bytes:
    return question("GrainMill", "Retain", object=mill(None), observedObject=mill(7))


async def answers_meanwhile(task: asyncio.Task[Answer], client: Client) -> int:
    """Return how many other calls were answered until a task was done."""
    answered = 0
    while not task.done():
        assert (await client.ask(post(question()))).response["successful"]
        answered += 1
    return answered


@pytest.mark.parametrize(
    ("operation", "template", "pods"),
    [
        pytest.param(
            "AggregateStatus", aggregation(), 50_000, id="the reports of 300 clusters", marks=pytest.mark.slow
        ),
        pytest.param("Retain", retention(), 25_000, id="two objects"),
    ],
)
async def test_large_call_does_not_delay_others(
    server: Process, client: Client, operation: str, template: bytes, pods: int
) -> None:
    body = filled(template, b"[" + POD * pods + b"{}]")
    assert len(body) > 4 * MIB
    small = await ask(server, filled(template, b"[{}]"))
    async with asyncio.timeout(HANG):
        answered = 0
        # A server that works on the large call itself answers others between two pieces of its body only.
        while answered < 2 * len(body) // MIB:
            large = asyncio.create_task(ask(server, body))
            answered = await answers_meanwhile(large, client)
            assert large.result().body == small.body
    changed = receive(small.body, uid=UID, operation=operation, obj=json.loads(template)["request"]["object"])
    assert changed["spec"]["stones"] == 7 if operation == "Retain" else changed["status"]


def memory(server: Process, field: str) -> int:
    """Return a size of the server's process in MiB."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{server.pid}/status").read_text())
    assert found
    return int(found[1]) // 1024


@pytest.mark.parametrize(
    ("filling", "status", "said"),
    [
        pytest.param(lambda: b"[" + b"[[]]," * 3_700_000 + b"1]", 413, "of memory", id="7 million lists",
            marks=pytest.mark.slow),
        pytest.param(lambda: b'{%b"":1}' % b"".join(b'"%x":{},' % n for n in range(600_000)), 200, '"replicas":3',
            id="distinct keys", marks=pytest.mark.slow),
        pytest.param(lambda: b"[" * 8_000_000, 400, "is not JSON", id="nested without end"),
        pytest.param(lambda: b'{"a":' * 1_500_000, 400, "is not JSON", id="objects without end",
            marks=pytest.mark.slow),
    ],
)  # fmt: skip
async def test_hostile_body_costs_server_little(
    server: Process, filling: Callable[[], bytes], status: int, said: str
) -> None:
    answer = await ask(server, filled(question(object=mill(3)), filling()))
    assert (answer.status, said in answer.body.decode()) == (status, True), answer.body[:300]
    assert memory(server, "VmHWM") < 192


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        pytest.param(question("Windmill"), 404, "no definition for .*Windmill", id="an unknown kind"),
        pytest.param(question("GrainMill", "Prune"), 400, 'is "Prune"; it must be one of', id="no operation"),
        pytest.param(question(object=mill(-1)), 422, "grain-mill.*negative", id="an operation without an answer"),
        pytest.param(question("Treadmill", "InterpretHealth"), 422, "treadmill", id="an endless expression"),
    ],
)
async def test_large_call_fails_as_small_one(server: Process, body: bytes, code: int, said: str) -> None:
    small, large = await ask(server, body), await ask(server, body + b" " * 3 * MIB)
    assert large.response["status"]["code"] == code
    assert re.search(said, large.response["status"]["message"])
    assert large.body == small.body


async def test_large_calls_are_counted_and_logged_as_others(server: Process, client: Client) -> None:
    body = question("GrainMill", "ReviseReplica", uid="large", replicas=-1) + b" " * 3 * MIB
    assert not (await ask(server, body)).response["successful"]
    labels = 'kind="mill.example.org/v1/GrainMill",operation="ReviseReplica",outcome="invalid"'
    await client.ask_until(get("/metrics"), lambda answer: f"calls_total{{{labels}}} 1.0" in answer.body.decode())
    while (line := server.logged("call failed"))["uid"] != "large":
        pass
    assert (line["operation"], line["code"], line["object"]) == ("ReviseReplica", 400, "bakery/rye")


@pytest.mark.parametrize(("counting", "cpu"), [("scheduler", "700m"), ("karmada", "500m")])
async def test_small_and_large_calls_count_requests_as_the_server_is_told(counting: str, cpu: str) -> None:
    grinder = {"name": "stone", "resources": {"requests": {"cpu": "500m"}}}
    sidecar = {"name": "sieve", "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}
    obj: dict[str, Any] = json.loads(question())["request"]["object"]
    obj["spec"]["template"] = {"spec": {"containers": [grinder], "initContainers": [sidecar]}}
    body = question(object=obj)
    with running(plain_http=True, pod_requests=counting) as server:
        small, large = await ask(server, body), await ask(server, body + b" " * 3 * MIB)
    assert small.response["replicaRequirements"] == {"resourceRequest": {"cpu": cpu}}
    assert large.body == small.body


async def test_answer_is_limited_in_size(server: Process) -> None:
    body = question("GrainMill", "InterpretStatus", object=mill(3) | {"status": {"log": "@"}})
    answer = await ask(server, filled(body, b'"%s"' % (b"x" * 9 * MIB)))
    assert len(answer.response["rawStatus"]["log"]) == 9 * MIB
    answer = await ask(server, filled(body.replace(b'"pods": "@"', b'"pods": 0'), b'"%s"' % (b"x" * 17 * MIB)))
    assert answer.response["status"]["code"] == 422
    assert "the answer has more than" in answer.response["status"]["message"]


def test_body_is_large_by_bytes_or_values() -> None:
    assert not is_large_body(question() + b" " * MIB)
    assert is_large_body(LARGE)
    assert is_large_body(b"[" + b"1," * 12_000 + b"1]")
    fields = [b'{%b"":1}' % b"".join(b'"k%d":1,' % n for n in range(count)) for count in (5_900, 6_000)]
    assert [is_large_body(each) for each in fields] == [False, True], "a field has a key and a value"
    pair = b'{"object":[%b1],"observedObject":[%b1]}'
    assert not is_large_body(pair % (b"1," * 11_000, b"1," * 11_000))
    assert is_large_body(pair % (b"1," * 12_000, b"1," * 12_000))
