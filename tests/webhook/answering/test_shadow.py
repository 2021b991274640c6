"""Other definitions answer a sample of calls, and differences are counted."""

import base64
import shutil
from collections import Counter, deque
from pathlib import Path
from typing import Any

import orjson
import pytest

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.answering import shadow
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.shadow import Shadow, compared
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire.recording import line
from tests.support.waiting import HANG, until
from tests.webhook.answering.answered import answered
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS

KIND = "mill.example.org/v1/GrainMill"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The definitions of the tests, but that a mill has another count."""
    folder = tmp_path / "kartas"
    shutil.copytree(KARTAS, folder)
    (mill,) = (path for path in folder.rglob("*.yaml") if "kind: GrainMill" in path.read_text())
    text = mill.read_text()
    assert ".spec.stones" in text
    mill.write_text(text.replace(".spec.stones", "(.spec.stones * 2)"))
    return folder


async def _pair(operation: str = "InterpretReplica", kind: str = "GrainMill") -> tuple[bytes, bytes]:
    store = Store([KARTAS], catalogue=False)
    store.load()
    body = question(kind, operation)
    return body, await Calls(store, DEFAULT_OPTIONS).answer(body, HANG)


async def test_answers_are_compared_by_meaning(other: Path) -> None:
    snapshot = Store([other], catalogue=False).load()

    outcomes = [
        compared(snapshot, line(0, *await _pair(operation, kind)), DEFAULT_OPTIONS)
        for operation, kind in (
            ("InterpretReplica", "GrainMill"),
            ("InterpretStatus", "GrainMill"),
            ("InterpretReplica", "Unheard"),
        )
    ]

    assert outcomes == [
        (KIND, "InterpretReplica", "different", [("replica", "3", "6")]),
        (KIND, "InterpretStatus", "same", []),
        ("", "", "left out", []),
    ]


async def test_shadow_place_with_long_key_is_cut(other: Path) -> None:
    context = orjson.loads((await _pair("Retain"))[0])
    context["request"]["observedObject"] = context["request"]["object"]
    patch = base64.b64encode(orjson.dumps([{"op": "add", "path": f"/spec/{'k' * 300_000}", "value": 1}])).decode()
    response = {"uid": "1", "successful": True, "patch": patch, "patchType": "JSONPatch"}
    outcome = compared(
        Store([other], catalogue=False).load(),
        line(0, orjson.dumps(context), orjson.dumps({"response": response})),
        DEFAULT_OPTIONS,
    )
    assert outcome[2] == "different"
    assert [(len(field), there) for field, there, _ in outcome[3]] == [(256, "1")]


async def test_shadow_compares_sample_of_calls(other: Path) -> None:
    counts = Counter[tuple[str, str, str]]()
    shown = deque[Any](maxlen=1)
    made = Shadow(other, 0.5, DEFAULT_OPTIONS, lambda *labels: counts.update([labels]), shown)
    made.start()
    pair = await _pair()
    for _ in range(4):
        made.see(*answered(*pair))
    await until(lambda: counts.total() == 2)
    made.close()

    assert counts == {(KIND, "InterpretReplica", "different"): 2}
    (last,) = shown
    assert (last["kind"], last["name"], last["operation"]) == (KIND, "rye", "InterpretReplica")
    assert last["places"] == [["replica", "3", "6"]]


async def test_call_does_not_wait_for_late_shadow(other: Path) -> None:
    counts = Counter[tuple[str, str, str]]()
    made = Shadow(other, 1, DEFAULT_OPTIONS, lambda *labels: counts.update([labels]))  # its thread does not run yet
    pair = await _pair()
    for _ in range(shadow.MOST_WAITING + 10):
        made.see(*answered(*pair))
    assert counts == {("", "", "left out"): 10}
    made.start()
    await until(lambda: counts.total() == shadow.MOST_WAITING + 10)
    made.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "No such file or directory", id="a folder that is missing"),
        pytest.param("", "there is no definition in it", id="a folder without definitions"),
        pytest.param("kind: [", "[unreadable]", id="a file that is not YAML"),
    ],
)
async def test_shadow_definitions_that_cannot_be_used_are_an_error_at_the_start_and_for_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, reason: str
) -> None:
    counts = Counter[tuple[str, str, str]]()
    errors: list[dict[str, Any]] = []
    monkeypatch.setattr(log, "error", lambda message, **fields: errors.append({"message": message, **fields}))
    folder = tmp_path / "kartas"
    if content is not None:
        folder.mkdir()
        (folder / "karta.yaml" if content else folder / "README").write_text(content)
    made = Shadow(folder, 1, DEFAULT_OPTIONS, lambda *labels: counts.update([labels]))
    made.start()
    await until(lambda: bool(errors))
    made.see(*answered(*await _pair()))
    await until(lambda: counts.total() == 2)
    made.close()

    (error,) = errors
    assert (error["message"], error["definitions"]) == ("shadow definitions cannot be used", str(folder))
    assert reason in error["reasons"][0]
    assert counts == {("", "", "failed"): 2}
