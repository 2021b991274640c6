import orjson
import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor.connection import Reply
from karta_interpreter.webhook.doctor.endpoint import UNDEFINED, call_body, is_defined, judge_call, judge_readiness
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.wire import decode, encode_failure, encode_status
from tests.support.rows import rows
from tests.webhook.doctor.karmada import JOB

GOOD = encode_failure("doctor", 404, "no definition")


@rows(
    ("status", "body", "level", "found"),
    [
        pytest.param(200, b"ok\n", Level.OK, "ready", id="ready"),
        pytest.param(
            503, encode_status(503, "stopping"), Level.PROBLEM, "HTTP 503 stopping", id="not ready, with reason"
        ),
        pytest.param(502, b"<html>", Level.PROBLEM, "HTTP 502", id="a proxy without server"),
        pytest.param(404, b"", Level.WARNING, "the server has no /readyz", id="a proxy for calls alone"),
    ],
)
def test_readiness(status: int, body: bytes, level: Level, found: str) -> None:
    (result,) = judge_readiness(Reply(status, body, 0.01))

    assert result.level is level
    assert found in result.found


@rows(
    ("body", "found"),
    [
        pytest.param("ok\n--without Jbo: nothing\n", ["the server is ready", "--without Jbo: nothing"], id="a doubt"),
        pytest.param("ok\n" + "line\n" * 99, ["the server is ready", *["line"] * 30], id="no more than thirty"),
        pytest.param("<html>\nok\n", ["the server is ready"], id="another server"),
    ],
)
def test_doubts_of_ready_server_are_warnings(body: str, found: list[str]) -> None:
    results = [*judge_readiness(Reply(200, body.encode(), 0.01))]

    assert [result.found for result in results] == found
    assert {result.level for result in results[1:]} <= {Level.WARNING}


@rows(
    ("reply", "level", "found"),
    [
        pytest.param(Reply(200, GOOD, 0.012), Level.OK, "in 12 ms", id="as ours answers"),
        pytest.param(Reply(200, GOOD, 0.7), Level.WARNING, "700 ms", id="slow"),
        pytest.param(Reply(200, GOOD, 3.2), Level.PROBLEM, "longer than the 3 s", id="slower than Karmada waits"),
        pytest.param(Reply(404, encode_status(404, "only /interpret"), 0.0), Level.PROBLEM, "404 only /interpret",
            id="wrong path"),
        pytest.param(Reply(200, b"<html>", 0.0), Level.PROBLEM, "not a JSON object", id="a web page"),
        pytest.param(Reply(200, encode_failure("other", 404, ""), 0.0), Level.PROBLEM, "not the uid", id="another uid"),
        pytest.param(Reply(200, encode_status(200, "x"), 0.0), Level.PROBLEM, "is a Status of v1", id="another kind"),
        pytest.param(Reply(200, encode_failure("doctor", 500, ""), 0.0), Level.PROBLEM, "not answered with 404",
            id="knows it"),
        pytest.param(Reply(307, b"", 0.0), Level.PROBLEM, "HTTP 307", id="a redirect"),
    ],
)  # fmt: skip
def test_call_is_judged_by_its_reply(reply: Reply, level: Level, found: str) -> None:
    (result,) = judge_call(reply, 3)

    assert result.level is level
    assert found in result.found


def test_unknown_timeout_of_karmada_judges_only_slow_calls() -> None:
    (result,) = judge_call(Reply(200, GOOD, 12.0), None)

    assert result.level is Level.WARNING


@rows(("code", "defined"), [(404, False), (200, True), (422, True)])
def test_error_of_definition_means_it_is_defined(code: int, *, defined: bool) -> None:
    assert is_defined(Reply(200, encode_failure("doctor", code, ""), 0.0)) is defined


@rows(("gvk", "operation"), [(UNDEFINED, Operation.INTERPRET_REPLICA), *((JOB, operation) for operation in Operation)])
def test_doctor_asks_as_karmada_asks(gvk: GVK, operation: Operation) -> None:
    request = decode(call_body(gvk, operation))

    assert request.problem is None
    assert (request.uid, request.gvk, request.operation_name) == ("doctor", gvk, operation)
    assert orjson.loads(call_body(UNDEFINED, operation))["kind"] == "ResourceInterpreterContext"
