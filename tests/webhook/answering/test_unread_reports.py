"""An answer names the members whose report it leaves out, and so do the log and a metric."""

import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.unread_reports import UnreadReports
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.wire.deep_items import cut_items
from tests.proofs.audit.objects import body, deployment
from tests.webhook.logs import capture_logs

_SPEC: Any = {"containers": [{"name": "a", "image": "x"}]}
_HONEST = {"replicas": 2, "readyReplicas": 2}


@pytest.fixture(scope="module")
def calls() -> Iterator[Calls]:
    store = Store()
    store.load()
    calls = Calls(store, Options())
    yield calls
    calls.close()


def _body(status: bytes, honest: int = 2) -> bytes:
    """Return a call about some honest clusters, and one that reports the JSON."""
    items = [{"clusterName": f"m{number}", "status": _HONEST, "applied": True} for number in range(honest)]
    hostile = {"clusterName": "hostile", "status": "HERE", "applied": True}
    whole = body("AggregateStatus", deployment(_SPEC), aggregatedStatus=[hostile, *items])
    return whole.replace(b'"HERE"', status)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        pytest.param(b'{"x":' * 1_200 + b"1" + b"}" * 1_200, "nested more than 100 levels", id="1,200 levels"),
        pytest.param(b'{"x":' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 100 levels", id="300 levels"),
        pytest.param(b'{"x":[[' + b"[" * 30_000 + b"]" * 30_000 + b"]]}", "nested more", id="too many for any decoder"),
        pytest.param(b'{"replicas":9223372036854775808}', "status.replicas is a number of more", id="64 bits"),
        pytest.param(b'{"replicas":1e+30}', "status.replicas is a number of more", id="as Go writes a large number"),
        pytest.param(b'{"conditions":["x"]}', r"status.conditions[0] is a string", id="a condition that is text"),
        pytest.param(b"[1]", "must be an object, but is a list", id="a list"),
        pytest.param(b'{"replicas":"2"}', "status.replicas is a string, where others have a number", id="text"),
    ],
)
async def test_unread_report_is_named_in_answer_log_and_metric(status: bytes, reason: str, calls: Calls) -> None:
    metrics = Metrics()
    calls.observers = [UnreadReports(metrics.left_report_out, float).see]
    with capture_logs() as lines:
        response = orjson.loads(await calls.answer(_body(status), 5.0))["response"]
    silent = orjson.loads(await calls.answer(_body(b"null"), 5.0))["response"]
    assert response["status"]["code"] == 200
    assert f"the status of cluster hostile {'' if reason.startswith('must') else 'cannot be read: '}" in (
        message := response["status"]["message"]
    )
    assert reason in message
    assert {**response, "status": silent["status"]} == silent
    assert [line["reason"] for line in lines] == [message]
    assert b'karta_interpreter_unread_reports_total{kind="apps/v1/Deployment"} 1.0' in metrics.render()


async def test_log_has_one_line_a_minute_for_kind(calls: Calls) -> None:
    now = [0.0]
    calls.observers = [UnreadReports(lambda _: None, lambda: now[0]).see]
    with capture_logs() as lines:
        for now[0] in (0.0, 59.9, 60.0):
            await calls.answer(_body(b"[]"), 5.0)
    assert len(lines) == 2


async def test_call_without_readable_report_is_error(calls: Calls) -> None:
    response = orjson.loads(await calls.answer(_body(b'{"replicas":1e+30}', honest=0), 5.0))["response"]
    assert not response["successful"]
    assert "status.replicas is a number of more than 64 bits" in response["status"]["message"]


def test_only_items_are_cut() -> None:
    deep = b"[" * 500 + b"]" * 500
    body = b'{"request":{"object":%b,"a":"aggregatedStatus","aggregatedStatus":[1,%b,"\\"]"],"object":%b}}'
    cut = cut_items(body % (deep, deep, deep))
    assert cut.count(deep) == 2
    assert json.loads(cut)["request"]["aggregatedStatus"][::2] == [1, '"]']
