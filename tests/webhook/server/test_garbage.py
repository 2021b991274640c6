"""A call that fails leaves nothing behind that refers to its body, which may be large: garbage is collected seldom."""

import gc
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.server.calls import Calls
from tests.support.waiting import HANG
from tests.webhook.server.client import question
from tests.webhook.server.process import KARTAS

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
        pytest.param(lambda request: request["object"]["spec"].update(stones=MARK), 422, id="a count that is a text"),
        pytest.param(lambda request: request["object"].update(spec=MARK), 422, id="a spec that is a text"),
    ],
)
async def test_failed_call_leaves_no_garbage_with_its_body(change: Callable[[Any], None], code: int) -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    calls = Calls(store, DEFAULT_OPTIONS)
    context = orjson.loads(question("GrainMill", "InterpretReplica"))
    context["request"]["note"] = MARK
    change(context["request"])
    body = orjson.dumps(context)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        answer = orjson.loads(await calls.answer(body, HANG))
        gc.collect()
        held = [type(each) for each in gc.garbage if MARK in repr(each)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    calls.close()
    assert answer["response"]["status"]["code"] == code
    assert held == []
