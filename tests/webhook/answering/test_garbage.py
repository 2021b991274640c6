"""A call that fails leaves nothing behind that refers to its body, which may be large: garbage is collected seldom."""

import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import orjson
import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.answering import calls, child_program
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import Request
from tests.support.waiting import HANG
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS

MARK = "nothing refers to this text"


def _without(field: str) -> Callable[[Any], None]:
    return lambda request: request.pop(field)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(_without("object"), 400, id="no object"),
        pytest.param(_without("operation"), 400, id="no operation"),
        pytest.param(_without("kind"), 400, id="no kind"),
        pytest.param(lambda request: request.update(operation=MARK), 400, id="an unknown operation"),
        pytest.param(lambda request: request["object"].update(kind=MARK), 400, id="an object of another kind"),
        pytest.param(lambda request: request.update(operation="AggregateStatus",
            aggregatedStatus=[{"clusterName": "a", "status": MARK}]), 400, id="a status that is a text"),
        pytest.param(lambda request: request["object"]["spec"].update(stones=MARK), 422, id="a count that is a text"),
        pytest.param(lambda request: request["object"].update(spec=MARK), 422, id="a spec that is a text"),
    ],
)  # fmt: skip
async def test_failed_call_leaves_no_garbage_with_its_body(change: Callable[[Any], None], code: int) -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    answering = Calls(store, DEFAULT_OPTIONS)
    context = orjson.loads(question("GrainMill", "InterpretReplica"))
    context["request"]["note"] = MARK
    change(context["request"])
    body = orjson.dumps(context)

    async def work() -> Any:
        return orjson.loads(await answering.answer(body, HANG))["response"]["status"]["code"]

    assert await _left_by(work) == (code, [])
    answering.close()


async def test_failed_call_of_child_leaves_no_garbage_with_its_body(monkeypatch: pytest.MonkeyPatch) -> None:
    lane, definition = ChildLane(), Definition("mill", GVK("", "v1", "Mill"), (ComponentRules("mill", "mill"),))
    call = PendingCall(0.0, MARK.encode(), Request("u", definition.gvk), definition)

    class Failing:
        def __init__(self) -> None:
            failure = orjson.dumps({"message": "it has no answer", "code": 422})
            self._messages = [(child_program.FAILURE, failure), (child_program.ABOUT, b"")]

        async def send(self, *_: object, **__: object) -> None:
            pass

        async def receive(self) -> tuple[bytes, bytes]:
            return self._messages.pop()

    @asynccontextmanager
    async def process(*_: object, **__: object) -> AsyncIterator[tuple[Failing, None]]:
        yield Failing(), None

    monkeypatch.setattr(AsyncPool, "process", process)

    async def work() -> str:
        try:
            await lane.answer(call, HANG)
        except InterpretationError as error:
            return str(error)
        return ""

    assert await _left_by(work) == ("it has no answer", [])


@pytest.mark.parametrize(
    ("types", "room", "looks"),
    [
        pytest.param(calls._MOST_LEFT, 0, 1, id="many types"),  # noqa: SLF001 - the bound
        pytest.param(calls._MOST_LEFT - 1, 0, 0, id="few types"),  # noqa: SLF001
        pytest.param(calls._MOST_LEFT, -1, 0, id="too many definitions"),  # noqa: SLF001
    ],
)
def test_types_of_replaced_readers_are_looked_for_once(
    types: int, room: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, counted, looked = Store([KARTAS], catalogue=False), 300, list[None]()
    monkeypatch.setattr(calls, "_MOST_DEFINITIONS", len(store.load().entries) + room)
    monkeypatch.setattr(calls, "count_types", lambda: counted)
    monkeypatch.setattr(calls, "collect_garbage", lambda: looked.append(None))
    Calls(store, DEFAULT_OPTIONS)
    counted += types
    for _ in range(2):
        store._use(replace(store.snapshot))  # noqa: SLF001 - as a reload of a change does
    assert len(looked) == looks


async def _left_by(work: Callable[[], Awaitable[Any]]) -> tuple[Any, list[type]]:
    """Return what work returns, and the types of garbage with the mark that it leaves."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        result = await work()
        gc.collect()
        return result, [type(each) for each in gc.garbage if MARK in repr(each) or _has_mark(each)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _has_mark(each: object) -> bool:
    return isinstance(each, FrameType) and MARK in repr(each.f_locals)
