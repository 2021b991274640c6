"""The first call of its kind compiles in a thread, and what was asked before a reload is compiled before its end."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.languages.jq import queries_in
from karta_interpreter.webhook.answering import calls as calls_module
from karta_interpreter.webhook.answering.calls import Calls
from tests.support.bodies import body_about
from tests.support.waiting import HANG
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS

KIND = GVK("mill.example.org", "v1", "GrainMill")
_OBJECT = json.loads(question())["request"]["object"]
BODY = body_about("InterpretReplica", _OBJECT)
OTHER = body_about("InterpretDependency", _OBJECT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = (KARTAS / "mill.yaml").read_text(encoding="utf-8")
    (tmp_path / "mill.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Store:
    made = Store([folder], catalogue=False)
    made.load()
    return made


@pytest.fixture
async def calls(store: Store) -> AsyncIterator[Calls]:
    made = Calls(store, DEFAULT_OPTIONS)
    yield made
    made.close()


class Held:
    """Holds rehearsals until they may go on, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = 0
        self.go_on = threading.Event()
        rehearse = Calls._rehearse  # noqa: SLF001 - held here

        def held(calls: Calls, new: Any, body: bytes) -> Any:
            self.begun += 1
            assert self.go_on.wait(HANG)
            return rehearse(calls, new, body)

        monkeypatch.setattr(Calls, "_rehearse", held)


def _replica(answer: bytes) -> int:
    count: int = json.loads(answer)["response"]["replicas"]
    return count


async def test_first_answer_is_that_of_each_later_call(calls: Calls) -> None:
    first = await calls.answer(BODY, HANG)
    second = calls.answer_soon(BODY)
    assert (_replica(first), second) == (3, first)


async def test_nothing_of_the_first_call_is_kept(calls: Calls) -> None:
    await calls.answer(BODY, HANG)
    asked = calls._decoder._asked.values()  # noqa: SLF001 - what it keeps of a call
    assert [each.__traceback__ for each in asked] == [None], "a traceback has the body"


async def test_others_are_answered_while_first_call_compiles(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    await calls.answer(BODY, HANG)
    held = Held(monkeypatch)
    first = asyncio.create_task(calls.answer(OTHER, HANG))
    await asyncio.sleep(0)

    assert isinstance(calls.answer_soon(BODY), bytes)
    assert not first.done()
    held.go_on.set()
    assert json.loads(await first)["response"]["successful"]


async def test_first_call_in_another_spelling_compiles_in_the_thread(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    await calls.answer(BODY, HANG)
    held = Held(monkeypatch)
    spelled = json.dumps(json.loads(OTHER)).encode()
    first = asyncio.create_task(calls.answer(spelled, HANG))
    await asyncio.sleep(0)

    assert isinstance(calls.answer_soon(BODY), bytes)
    assert not first.done()
    held.go_on.set()
    assert await first == calls.answer_soon(spelled) == calls.answer_soon(OTHER)
    assert held.begun == 1, "the spelling makes no other question"


async def test_first_calls_of_one_kind_compile_once(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    asked = [asyncio.create_task(calls.answer(BODY, HANG)) for _ in range(3)]
    await asyncio.sleep(0)
    held.go_on.set()

    assert len(set(await asyncio.gather(*asked))) == 1
    assert held.begun == 1


async def test_first_call_ends_at_its_deadline(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    status = json.loads(await calls.answer(BODY, 0.01))["response"]["status"]
    held.go_on.set()

    assert status == {"code": 504, "message": "definition grain-mill: InterpretReplica took longer than 0.01 s"}


async def test_wait_for_compilation_is_time_of_the_call(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(100))
    monkeypatch.setattr(calls, "_clock", lambda: float(next(now)))
    seconds = list[float]()
    calls.observers = (lambda _, answer: seconds.append(answer.seconds),)

    await calls.answer(BODY, HANG)

    # One before the compilation, one after it, one for the answer, and one at its end.
    assert seconds == [2.0]


async def test_call_answers_from_definition_that_came_meanwhile(
    calls: Calls, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    asked = asyncio.create_task(calls.answer(BODY, HANG))
    await asyncio.sleep(0)
    _write(folder, ".spec.stones + 1")
    await store.reload()
    held.go_on.set()

    assert _replica(await asked) == 4


async def test_broken_object_has_its_own_error(calls: Calls) -> None:
    body = body_about("InterpretReplica", _OBJECT | {"spec": {**_OBJECT["spec"], "stones": "many"}})
    first = await calls.answer(body, HANG)
    assert json.loads(first)["response"]["status"]["code"] == 422
    assert calls.answer_soon(body) == first


async def test_what_was_asked_is_compiled_before_a_reload_ends(calls: Calls, store: Store, folder: Path) -> None:
    await calls.answer(BODY, HANG)
    before = _definition(store)
    prepared = list[set[str]]()
    store.subscribe(lambda snapshot: prepared.append(_compiled(snapshot.find(KIND))))
    _write(folder, ".spec.stones + 1")

    await store.reload()

    assert _definition(store) is not before
    assert prepared == [_compiled(before) - {".spec.stones // 1"} | {".spec.stones + 1 // 1"}]
    answer = calls.answer_soon(BODY)
    assert isinstance(answer, bytes)
    assert _replica(answer) == 4


async def test_reload_does_not_wait_long_for_compilation(
    calls: Calls, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await calls.answer(BODY, HANG)
    monkeypatch.setattr(calls_module, "_PREPARING", -1.0)
    _write(folder, ".spec.stones + 2")

    await store.reload()

    assert ".spec.stones + 2 // 1" not in _compiled(_definition(store))
    assert _replica(await calls.answer(BODY, HANG)) == 5


async def test_other_kinds_need_no_compilation_after_a_reload(calls: Calls, store: Store, folder: Path) -> None:
    await calls.answer(BODY, HANG)
    text = (folder / "mill.yaml").read_text(encoding="utf-8").replace("GrainMill", "SawMill")
    (folder / "saw.yaml").write_text(text.replace("grain-mill", "saw-mill"), encoding="utf-8")
    await store.reload()
    assert isinstance(calls.answer_soon(BODY), bytes)


def _write(folder: Path, replicas: str) -> None:
    file = folder / "mill.yaml"
    text = file.read_text(encoding="utf-8")
    assert ".spec.stones" in text
    file.write_text(text.replace(".spec.stones", replicas), encoding="utf-8")


def _definition(store: Store) -> Definition:
    definition = store.snapshot.find(KIND)
    assert definition
    return definition


def _compiled(definition: Definition | None) -> set[str]:
    assert definition
    parts = definition.components, definition.status, definition.annotations
    return {query.text for query in queries_in(parts) if "outputs" in vars(query._program)}  # noqa: SLF001


async def test_definition_that_cannot_be_prepared_ends_no_reload(
    calls: Calls, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await calls.answer(BODY, HANG)

    def fails(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(Definition, "prepare_like", fails)
    file = folder / "mill.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("name: grain-mill", "name: other-mill"), encoding="utf-8")
    before = store.snapshot
    await store.reload()

    assert store.snapshot is not before
    assert _replica(await calls.answer(BODY, HANG)) == 3
