"""Child processes answer calls for large definitions, and calls like those that took long."""

import json
from collections.abc import AsyncIterator, Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Call, Options, Results, interpret, script_jobs
from karta_interpreter.webhook.answering import calls, lanes, load as load_module
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.load import InterruptedWork
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import Request, decode
from tests.proofs.audit.definitions import GROUP, with_children
from tests.support.settling import settled
from tests.support.waiting import HANG
from tests.webhook.process.client import question

SHORT, LONG = 0.01, 0.2
_OBJECT = {"apiVersion": f"{GROUP}/v1", "kind": "Mill", "metadata": {"name": "x"}}


class Clocks:
    """The clock of the wall, and what every answer adds to it and takes of the processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = self.processor = 0.0
        self._passed = 0.0
        monkeypatch.setattr(lanes, "interpret", self._interpret)

    def read(self) -> float:
        return self._passed

    def pass_by(self, wall: float) -> None:
        self._passed += wall

    def _interpret(self, *asked: Any, **beside: Any) -> Results:
        self.pass_by(self.wall)
        if self.processor >= load_module.LONG:
            raise InterruptedWork
        return interpret(*asked, **beside)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the bodies that child processes have answered."""
    bodies: list[bytes] = []
    answer = ChildLane.answer

    async def counted(self: ChildLane, call: PendingCall, seconds: float) -> bytes:
        bodies.append(call.body)
        return await answer(self, call, seconds)

    monkeypatch.setattr(ChildLane, "answer", counted)
    return bodies


def _store(folder: Path, children: int, padding: int = 0) -> Store:
    """Return the store of a definition whose expressions of two children are longer by ``padding`` each."""
    made = with_children("mill", "Mill", children)
    for child in made["spec"]["structureDefinition"]["childComponents"][:2]:
        child["scaleDefinition"]["replicasPath"] += " " * padding
    (folder / "mill.yaml").write_text(json.dumps(made))
    store = Store([folder], catalogue=False)
    store.load()
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return _store(tmp_path, 2)


@pytest.fixture
async def serve(shared: ChildLane, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Calls]]:
    """Make servers of stores, with the child processes of this module."""
    monkeypatch.setattr(calls, "ChildLane", lambda _: shared)
    yield lambda store, **others: Calls(store, Options(), **others)
    await settled()


@pytest.fixture
def server(serve: Callable[..., Calls], store: Store, request: pytest.FixtureRequest) -> Calls:
    clocks = {"clock": request.getfixturevalue("clocks").read} if "clocks" in request.fixturenames else {}
    return serve(store, **clocks)


def _body(length: int = 0, operation: str = "InterpretReplica") -> bytes:
    return question("Mill", operation, object={**_OBJECT, "spec": {"note": "x" * length}})


async def _ask(server: Calls, body: bytes) -> None:
    assert json.loads(await server.answer(body, HANG))["response"]["successful"]


@pytest.mark.parametrize(
    ("seconds", "times", "after", "expected"),
    [
        pytest.param((SHORT, SHORT), 3, _body(8000), 0, id="calls that do not take long"),
        pytest.param((LONG, SHORT), 3, _body(8000), 0, id="calls that wait for a processor"),
        pytest.param((LONG, LONG), 1, _body(8000), 0, id="the first one, which compiles the expressions"),
        pytest.param((LONG, LONG), 2, _body(8000), 1, id="two long calls, and one of their size"),
        pytest.param((LONG, LONG), 2, _body(5000), 1, id="two long calls, and one more than half as long"),
        pytest.param((LONG, LONG), 2, _body(1000), 0, id="two long calls, and one less than half as long"),
        pytest.param((LONG, LONG), 2, _body(8000, "InterpretHealth"), 0, id="two long calls, and another operation"),
    ],
)
async def test_calls_like_those_that_took_long_move_to_a_child_process(
    server: Calls,
    clocks: Clocks,
    isolated: list[bytes],
    seconds: tuple[float, float],
    times: int,
    after: bytes,
    expected: int,
) -> None:
    clocks.wall, clocks.processor = seconds
    for _ in range(times):
        await _ask(server, _body(8000))
    interrupted = len(isolated)
    clocks.processor = SHORT
    await _ask(server, after)
    assert len(isolated) - interrupted == expected


async def test_new_snapshot_is_measured_anew(
    server: Calls, store: Store, clocks: Clocks, isolated: list[bytes], tmp_path: Path
) -> None:
    clocks.wall = clocks.processor = LONG
    for _ in range(2):
        await _ask(server, _body())
    store._use(_store(tmp_path, 3).snapshot)  # noqa: SLF001 - as the watch loop replaces a snapshot
    isolated.clear()
    clocks.processor = SHORT
    await _ask(server, _body())
    assert not isolated


@pytest.mark.parametrize(
    ("children", "padding", "expected"),
    [
        pytest.param(149, 0, 0, id="300 expressions"),
        pytest.param(150, 0, 1, id="302 expressions"),
        pytest.param(2, 15_000, 0, id="30,000 characters"),
        pytest.param(2, 17_000, 1, id="34,000 characters"),
    ],
)
async def test_child_process_answers_for_large_definition(
    serve: Callable[..., Calls], tmp_path: Path, isolated: list[bytes], children: int, padding: int, expected: int
) -> None:
    await _ask(serve(_store(tmp_path, children, padding)), _body())
    assert len(isolated) == expected


async def test_child_process_answers_interrupted_call(
    server: Calls, isolated: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second call is interrupted, too. After it this process does not try again."""
    tried = 0

    def endless(*_: Any, **__: Any) -> Results:
        nonlocal tried
        tried += 1
        while True:
            pass

    monkeypatch.setattr(lanes, "interpret", endless)
    with server.interruption.running():
        for _ in range(3):
            await _ask(server, _body())
    assert (tried, len(isolated)) == (2, 3)


@pytest.fixture
def interrupted(clocks: Clocks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt every answer of the server's process after a while."""

    def interpret(*_: Any, **__: Any) -> Results:
        clocks.pass_by(LONG)
        raise InterruptedWork

    monkeypatch.setattr(lanes, "interpret", interpret)


@pytest.mark.usefixtures("interrupted")
async def test_interrupted_call_is_tried_once_and_its_time_counts(
    server: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is nothing to be awaited, the fast lane has aiohttp ask again."""
    left = []

    async def answer(_: ChildLane, call: PendingCall, seconds: float) -> bytes:
        left.append(seconds)
        return call.body

    monkeypatch.setattr(ChildLane, "answer", answer)
    seconds = []
    server.observers = (lambda _, answer: seconds.append(answer.seconds),)
    soon = server.answer_soon(_body())
    assert callable(soon)
    assert await soon(HANG) == _body()
    assert left == [HANG - LONG]
    assert seconds == [LONG]


@pytest.mark.usefixtures("interrupted")
async def test_interrupted_call_gets_reason_of_missing_process(server: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: object) -> bytes:
        raise RequestError("every process is busy", status=503)

    monkeypatch.setattr(ChildLane, "answer", answer)
    status = json.loads(await server.answer(_body(), HANG))["response"]["status"]
    assert status == {"code": 503, "message": "every process is busy"}


async def test_time_for_reading_call_is_not_time_for_its_answer(server: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []

    def decoded(body: bytes) -> Request:
        assert server.interruption.at == inf
        return decode(body)

    def answered(*asked: Any, **beside: Any) -> Results:
        ends.append(server.interruption.at)
        return interpret(*asked, **beside)

    monkeypatch.setattr(calls, "decode", decoded)
    monkeypatch.setattr(lanes, "interpret", answered)
    await _ask(server, _body())
    assert ends == [load_module.BEGUN]


async def test_answer_in_time_and_error_are_not_interrupted_later(server: Calls) -> None:
    with server.interruption.running():
        await _ask(server, _body())
        assert server.interruption.at == inf
        assert not json.loads(await server.answer(_body(operation="Nothing"), HANG))["response"]["successful"]
        assert server.interruption.at == inf


HOARD = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: hoard}
spec:
  target: {apiVersion: mill.example.org/v1, kind: Mill}
  customizations:
    statusReflection:
      luaScript: |
        function ReflectStatus(observedObj)
          local found = {}
          for number = 1, observedObj.spec.sacks do found["sack-" .. number] = number end
          return found
        end
"""


@pytest.mark.parametrize(("sacks", "expected"), [(100, 0), (13_000, 1)])
async def test_large_result_of_script_is_decoded_in_a_child(
    serve: Callable[..., Calls], tmp_path: Path, isolated: list[bytes], sacks: int, expected: int
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "hoard.yaml").write_text(HOARD)
    store = Store([], catalogue=False, overrides=[tmp_path / "scripts"])
    store.load()
    body = question("Mill", "InterpretStatus", object={**_OBJECT, "spec": {"sacks": sacks}})
    answer = json.loads(await serve(store).answer(body, HANG))["response"]
    assert len(answer["rawStatus"]) == sacks
    assert len(isolated) == expected


@pytest.mark.slow
async def test_scripts_with_large_results_are_run_in_a_child_at_once(
    serve: Callable[..., Calls], tmp_path: Path, isolated: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "hoard.yaml").write_text(HOARD)
    store = Store([], catalogue=False, overrides=[tmp_path / "scripts"])
    store.load()
    server, first_runs = serve(store), list[Call]()

    def jobs(definition: Definition, call: Call, options: Options) -> Any:
        first_runs.append(call)
        return script_jobs(definition, call, options)

    monkeypatch.setattr(lanes, "script_jobs", jobs)
    body = question("Mill", "InterpretStatus", object={**_OBJECT, "spec": {"sacks": 13_000}})
    for _ in range(3):
        await server.answer(body, HANG)
    assert (len(first_runs), len(isolated)) == (2, 3), "the first call does not count, see `SlowCalls`"
