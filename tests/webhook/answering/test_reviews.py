"""Reviews of Kartas, with the processes that judge them."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.admission import read, validate
from karta_interpreter.webhook.answering import child_program
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.process import application
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.settling import processes_of, settled
from tests.support.waiting import HANG, until
from tests.webhook.process.client import Client, get, post, question
from tests.webhook.process.process import KARTAS

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PAGE = os.sysconf("SC_PAGE_SIZE")
TRAIN_JOB = GVK("example.io", "v1", "TrainJob")
ABOUT = {"uid": "u", "name": 'Karta "mine"', "is_settled": False}
READS = """
import os, signal, time
seen = []
def start():
    return answer
def answer(channel, letter, payload):
    """
KNOWS = f"{READS}channel.send({child_program.ABOUT!r}, {json.dumps(ABOUT).encode()!r}); channel.receive(); "
SETTLED = KNOWS.replace("false", "true")
ENDLESS = "time.sleep(600)"


def karta(file: str = "trainjob.yaml", **metadata: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((EXAMPLES / file).read_text(encoding="utf-8"))
    return found | {"metadata": found["metadata"] | metadata}


def review(obj: Mapping[str, Any]) -> bytes:
    kind = {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"}
    request = {"uid": "u", "kind": kind, "operation": "CREATE", "object": obj}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


@pytest.fixture
def new_calls() -> Iterator[ChildLane]:
    made = ChildLane()
    yield made
    made.pool.close()


@pytest.fixture
async def calls(shared: ChildLane) -> AsyncIterator[ChildLane]:
    """Calls with one process at most, which waits for its next request: it takes a while to start."""
    await settled()
    assert len(processes_of(shared.pool)) < 2
    yield shared
    await settled()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A function that sets the program which runs instead of the one that judges, and returns its file."""
    path = tmp_path / "child.py"
    monkeypatch.setattr(child_program, "__file__", str(path))

    def write(source: str) -> Path:
        path.write_text(source)
        return path

    return write


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        pytest.param(review(karta()), {}, id="a good one"),
        pytest.param(review(karta("trainjob-broken.yaml")), {}, id="a broken one"),
        pytest.param(review(karta(name="mine")), {TRAIN_JOB: "trainjob"}, id="a second one for a kind"),
        pytest.param(review(karta()), {TRAIN_JOB: "trainjob"}, id="the same one again"),
        pytest.param(review(karta()).replace(b"CREATE", b"DELETE"), {}, id="nothing to judge"),
    ],
)
async def test_isolated_review_agrees_with_local_one(calls: ChildLane, body: bytes, taken: Mapping[GVK, str]) -> None:
    assert await calls.review(body, HANG, taken) == validate(read(body), taken)
    assert len(processes_of(calls.pool)) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"[", "the body is not JSON", id="no JSON"),
        pytest.param(b"{}", "is not an AdmissionReview", id="no review"),
    ],
)
async def test_body_without_a_review_is_a_wrong_request(calls: ChildLane, body: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        await calls.review(body, HANG, {})
    assert caught.value.status == 400


async def test_deeply_nested_object_is_denied(calls: ChildLane) -> None:
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {"properties": nested}
    answer = json.loads(await calls.review(review(karta() | {"spec": nested}), HANG, {}))["response"]
    assert not answer["allowed"]


@pytest.mark.slow
async def test_body_with_too_much_memory_ends_only_its_process(
    calls: ChildLane, new_calls: ChildLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is lower than in production, because the largest review does not reach the production limit."""
    await calls.review(review(karta()), HANG, {})
    [pid] = processes_of(calls.pool)
    limit = size(pid)[0] + 80 * 2**20
    monkeypatch.setattr(child_program, "MEMORY", limit)
    body = review(karta() | {"spec": "@"}).replace(b'"@"', b'{"a":[%b{}]}' % (b'{"a":{}},' * 330_000))
    before = size(os.getpid())[1]
    with pytest.raises(RequestError, match="MiB of memory") as caught:
        await new_calls.review(body, HANG, {})
    assert caught.value.status == 413
    assert size(os.getpid())[1] - before < 64 * 2**20
    await until(lambda: not processes_of(new_calls.pool))
    assert json.loads(await new_calls.review(review(karta()), HANG, {}))["response"]["allowed"]


def size(pid: int) -> list[int]:
    """The virtual and the resident size of a process in bytes."""
    return [int(pages) * PAGE for pages in Path(f"/proc/{pid}/statm").read_text().split()[:2]]


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        pytest.param(f"{KNOWS}os.abort()", 200, "it needs more than 1024 MiB of memory", id="memory"),
        pytest.param(f"{KNOWS}os.kill(os.getpid(), signal.SIGPROF)", 200, "too much processor time", id="processor",
            marks=pytest.mark.slow),
        pytest.param(f"{KNOWS}os.kill(os.getpid(), 9)", 503, "was killed", id="killed from outside"),
        pytest.param(f"{KNOWS}raise ValueError('secret')", 500, "internal error", id="a bug"),
        pytest.param(f"{READS}os.abort()", 413, "it needs more than 1024 MiB of memory", id="memory for the body",
            marks=pytest.mark.slow),
        pytest.param(f"{READS}{ENDLESS}", 503, "takes long", id="time for the body", marks=pytest.mark.slow),
    ],
)  # fmt: skip
async def test_karta_that_cannot_be_judged_is_denied(
    program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, source: str, status: int, message: str
) -> None:
    """What the Karta itself causes is denied, whatever the failurePolicy is; that decides about everything else."""
    monkeypatch.setattr(application, "REVIEW_SECONDS", HANG)
    program(source)
    async with serving() as client:
        timeout = "1s" if ENDLESS in source else f"{HANG:.0f}s"
        answer = await client.ask(post(review(karta()), f"/admission/validate?timeout={timeout}"))
    assert answer.status == status
    if status == 200:
        assert (answer.response["uid"], answer.response["allowed"]) == ("u", False)
        assert answer.response["status"]["message"].startswith('Karta "mine" cannot be judged: ')
        assert message in answer.response["status"]["message"]
    else:
        assert message in answer.json["message"]


async def test_karta_that_takes_too_long_is_denied(program: Callable[[str], Path]) -> None:
    """The process has answered one review before, so that its start takes nothing from the time of the other."""
    program(f"{KNOWS}seen.append(1); channel.send({child_program.ANSWER!r}, b'{{}}') if len(seen) < 2 else {ENDLESS}")
    async with serving() as client:
        first = await client.ask(post(review(karta()), f"/admission/validate?timeout={HANG:.0f}s"))
        assert first.json == {}
        answer = await client.ask(post(review(karta()), "/admission/validate?timeout=1s"))
    assert not answer.response["allowed"]
    assert "cannot be judged: it takes longer than" in answer.response["status"]["message"]


async def test_karta_that_is_being_deleted_is_allowed(program: Callable[[str], Path]) -> None:
    program(f"{SETTLED}os.abort()")
    async with serving() as client:
        answer = await client.ask(post(review(karta()), f"/admission/validate?timeout={HANG:.0f}s"))
    assert answer.response["allowed"]
    assert answer.response["warnings"] == ['Karta "mine" cannot be judged: it needs more than 1024 MiB of memory']


async def test_endless_review_delays_no_call_and_ends_with_its_client(
    program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(application, "REVIEW_SECONDS", HANG * 20)
    asked = tmp_path / "asked"
    path = program(f"{KNOWS}open({str(asked)!r}, 'w').close(); {ENDLESS}")
    async with serving() as client:
        reviewing = await Client.connect(client.writer.get_extra_info("peername")[1], None)
        await reviewing.send(post(review(karta()), f"/admission/validate?timeout={HANG * 10:.0f}s"))
        await until(asked.exists)  # before that the process would be kept, for another review
        [pid] = running(path)
        for request in (post(question()), get("/healthz"), get("/metrics"), post(question("Treadmill", "Retain"))):
            assert (await client.ask(request)).status == 200
        assert running(path) == [pid], "the review goes on meanwhile"
        await reviewing.close()
        await until(lambda: not running(path))


@asynccontextmanager
async def serving() -> AsyncIterator[Client]:
    """A server in this process, and a client of it."""
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True)
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        yield client
        await client.close()


def running(program: Path) -> list[int]:
    """The ids of the children of this process that run a program."""
    found = []
    for children in Path("/proc/self/task").glob("*/children"):
        pids = list[str]()
        with suppress(OSError):  # a thread may have ended meanwhile
            pids = children.read_text().split()
        for pid in pids:
            with suppress(OSError):
                if str(program) in Path(f"/proc/{pid}/cmdline").read_text():
                    found.append(int(pid))
    return found
