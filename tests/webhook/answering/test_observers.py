"""No observer ends, or says that it failed, by what one call brings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.answering.call_log import AnswerGaps, CallLog
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.pending_call import Answer
from karta_interpreter.webhook.answering.recorder import Recorder
from karta_interpreter.webhook.process import server
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.settings import Settings
from karta_interpreter.webhook.wire.recording import RecordedCall, files_in, read
from tests.proofs.audit.objects import body as spelled
from tests.support.examples import EXAMPLES
from tests.support.waiting import until
from tests.webhook.answering.test_fights import entries
from tests.webhook.logs import capture_logs
from tests.webhook.process.conversations import bodies as fuzzed, swept_cases

Change = Callable[[bytes], bytes]
POD = {"containers": [{"name": "a", "image": "x", "resources": {"limits": {"cpu": "1"}}}]}


def _instead(value: bytes) -> Change:
    return lambda body: body.replace(b'"unread"', value)


HOSTILE: dict[str, Change] = {
    "a number that no double holds": _instead(b"1e400"),
    "990 levels": _instead(b"[" * 990 + b"]" * 990),
    "100,000 levels": _instead(b"[" * 30_000 + b"]" * 30_000),
    "half a surrogate pair": _instead(b'"\\ud800"'),
    "a control character": _instead(b'"\x01"'),
    "managed fields that are none": lambda body: body.replace(b'"managedFields":[', b'"managedFields":[null,7,'),
    "a time that is none": lambda body: body.replace(b"2026-11-20T", b"today"),
    "fields that are none": lambda body: body.replace(b'"fieldsV1":{', b'"fieldsV1":7,"x":{'),
}


def _bodies(change: Change) -> list[bytes]:
    """Return calls of each operation about a Deployment, spelled as Karmada does, with a part that no answer reads."""
    meta: Any = {"name": "a", "namespace": "b", "resourceVersion": "1", "uid": "u", "note": "unread"}
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}
    obj["spec"] = {"replicas": 2, "template": {"spec": POD}}
    member = obj | {"metadata": meta | {"managedFields": entries(1)}, "spec": {"replicas": 3}}
    asked = {"InterpretReplica": {}, "InterpretStatus": {}, "Retain": {"observedObject": member}}
    return [change(spelled(operation, obj, **more)) for operation, more in asked.items()]


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store()
    made.load()
    return made


async def test_observers_go_on_after_every_hostile_body(store: Store, tmp_path: Path) -> None:
    metrics, resources, outcomes = Metrics(), AnswerGaps(), list[str]()
    recorder = Recorder(tmp_path, 2**30, DEFAULT_OPTIONS, outcomes.append)
    recorder.start()
    seen: list[Answer] = []
    calls = Calls(store, DEFAULT_OPTIONS, rehearses=False)
    calls.observers = [CallLog().see, metrics.see, metrics.fights.see, resources.see, recorder.see]
    calls.observers.append(lambda _, answer: seen.append(answer))
    bodies = [body for change in HOSTILE.values() for body in _bodies(change)]
    bodies += fuzzed(1, 20 * EXAMPLES, swept_cases())
    with capture_logs() as said:
        for body in bodies:
            try:
                calls.answer_soon(body)
            except RequestError:
                continue
            resources.look()
        calls.answer_soon(_bodies(lambda body: body)[0])
        recorder.close()
    calls.close()

    assert seen[-1].code == 200
    assert [entry for entry in said if entry["log_level"] == "error"] == []
    recorded = [each for path in files_in(tmp_path) for each in read(path) if isinstance(each, RecordedCall)]
    assert len(recorded) == outcomes.count("written") > 0
    assert recorded[-1].answer["successful"]


async def test_task_in_background_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def look(_: AnswerGaps) -> None:
        looks.append(1)
        raise KeyError

    monkeypatch.setattr(server, "LOOK_PAUSE", 0.0)
    monkeypatch.setattr(server, "_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(AnswerGaps, "look", look)
    async with server.Server(Settings(port=0, plain_http=True, grace_period=0.0)):
        await until(lambda: len(looks) > 2)
