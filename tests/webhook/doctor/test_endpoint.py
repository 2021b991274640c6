import asyncio
import base64
import socket
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor import connection
from karta_interpreter.webhook.doctor.connection import DialAddress
from karta_interpreter.webhook.doctor.endpoint import examine_endpoint, judge_connection, judge_exchange, judge_tls
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from karta_interpreter.webhook.wire import decode, encode_failure
from tests.support.examples import few
from tests.support.rows import rows
from tests.support.waiting import HANG
from tests.webhook.doctor.authority import DAY, Authority
from tests.webhook.doctor.karmada import BREW, JOB
from tests.webhook.doctor.servers import HOST, Answer, interpreter, serving

NAME = "karta-interpreter.karmada-system.svc"
AUTHORITY = Authority()
OTHER = Authority("another authority")
OLD = {"begin": -40 * DAY, "end": timedelta(hours=-1)}


TIMEOUT = int(HANG)


pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def _brief(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - it changes what `patient` has set
    """There is nothing to wait for."""
    monkeypatch.setattr(connection, "SECONDS", 0.3)


def at(port: int) -> DialAddress:
    return DialAddress(HOST, port, NAME, "/interpret", "it is registered so", "look at it")


def worst(results: list[CheckResult]) -> list[tuple[Level, str, str]]:
    return [(result.level, result.check, result.found) for result in results if result.level is not Level.OK]


async def test_healthy_server_has_no_problem(tmp_path: Path) -> None:
    context = AUTHORITY.context(tmp_path, NAME)
    async with serving(interpreter({"Job": 422, "Brew": 200}), context) as port:
        results = await examine_endpoint(
            at(port), AUTHORITY.bundle, TIMEOUT, dict.fromkeys((JOB, BREW), (Operation.INTERPRET_STATUS,))
        )

    assert [(result.level, result.check) for result in results] == [
        (Level.OK, "connection"),
        (Level.OK, "tls"),
        (Level.OK, "certificate"),
        (Level.OK, "readiness"),
        (Level.OK, "call"),
        (Level.OK, "definitions"),
    ]


async def test_kinds_that_the_server_does_not_know(tmp_path: Path) -> None:
    async with serving(interpreter({"Job": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
        results = await examine_endpoint(
            at(port), AUTHORITY.bundle, TIMEOUT, dict.fromkeys((JOB, BREW), (Operation.INTERPRET_STATUS,))
        )

    assert worst(results) == [
        (Level.PROBLEM, "definitions", f"registered, but the server has no definition of it: {BREW}")
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("operation", few([*Operation], "asked"))
async def test_kind_with_only_a_script_is_asked_registered_operation(tmp_path: Path, operation: Operation) -> None:
    def answer(target: bytes, body: bytes) -> tuple[int, bytes]:
        if b"Brew" not in body:
            return interpreter()(target, body)
        request = decode(body)
        assert request.problem is None
        return 200, encode_failure("doctor", 422 if request.operation_name == operation else 404, "")

    async with serving(answer, AUTHORITY.context(tmp_path, NAME)) as port:
        results = await examine_endpoint(at(port), AUTHORITY.bundle, TIMEOUT, {BREW: (operation,)})

    assert worst(results) == []


@pytest.mark.parametrize(
    ("context", "bundle", "found"),
    [
        pytest.param(lambda folder: AUTHORITY.context(folder, "other.svc"), AUTHORITY.bundle,
            [f"it is valid for other.svc, and Karmada expects {NAME}"], id="another name"),
        pytest.param(lambda folder: AUTHORITY.context(folder, NAME), OTHER.bundle,
            ["its issuer CN=test authority is not in the caBundle"], id="another authority"),
        pytest.param(lambda folder: AUTHORITY.context(folder, NAME), "",
            ["its issuer CN=test authority is not in the system's CAs, and no caBundle is registered"], id="no bundle"),
        pytest.param(lambda folder: AUTHORITY.context(folder, NAME, **OLD), AUTHORITY.bundle, ["it expired"], id="old"),
        pytest.param(lambda folder: AUTHORITY.context(folder, "other.svc", **OLD), OTHER.bundle,
            ["it is valid for other.svc", "it expired", "its issuer CN=test authority"], id="all of it at once"),
        pytest.param(lambda folder: AUTHORITY.context(folder, NAME), "bm90aGluZw==",
            ["caBundle holds no PEM certificate, so Karmada makes no call"], id="a bundle of nothing"),
    ],
)  # fmt: skip
async def test_certificates_that_karmada_does_not_accept(
    tmp_path: Path, context: Callable[[Path], ssl.SSLContext], bundle: str, found: list[str]
) -> None:
    async with serving(interpreter({"Job": 200}), context(tmp_path)) as port:
        results = await examine_endpoint(at(port), bundle, TIMEOUT, {JOB: ()})

    problems = worst(results)
    assert [(level, check) for level, check, _ in problems] == [(Level.PROBLEM, "certificate")] * len(found)
    assert all(text.startswith(start) for (_, _, text), start in zip(problems, found, strict=True))
    assert results[-1].check == "definitions", "the rest is looked at all the same"


async def test_certificate_as_its_own_bundle_is_a_warning(tmp_path: Path) -> None:
    context = AUTHORITY.context(tmp_path, NAME)
    pair = (tmp_path / "pair.pem").read_text()
    own = pair[pair.index("-----BEGIN CERTIFICATE") :]

    async with serving(interpreter({"Job": 200}), context) as port:
        error = await asyncio.to_thread(connection.verify, at(port), own)
        results = await examine_endpoint(at(port), base64.b64encode(own.encode()).decode(), TIMEOUT, {JOB: ()})

    assert error is None
    ((level, check, found),) = worst(results)
    assert (level, check, found.partition(",")[0]) == (Level.WARNING, "certificate", "the caBundle has no CA")


@pytest.mark.parametrize(
    ("answer", "check", "found"),
    [
        pytest.param(interpreter(ready=503), "readiness", "HTTP 503 no definition is loaded", id="not ready"),
        pytest.param(lambda *_: (404, b"<html>"), "call", "a call is rejected: HTTP 404", id="another server"),
        pytest.param(lambda *_: (200, b"x" * 2_000_000), "call", "longer than any of ours", id="a flood"),
    ],
)
async def test_servers_that_do_not_answer_as_ours(tmp_path: Path, answer: Answer, check: str, found: str) -> None:
    async with serving(answer, AUTHORITY.context(tmp_path, NAME)) as port:
        results = await examine_endpoint(at(port), AUTHORITY.bundle, TIMEOUT, {})

    assert any(at_check == check and found in text for _, at_check, text in worst(results))


@pytest.mark.usefixtures("_brief")
async def test_server_without_tls_is_a_problem() -> None:
    async with serving(interpreter()) as port:
        results = await examine_endpoint(at(port), AUTHORITY.bundle, TIMEOUT, {})

    ((level, check, found),) = worst(results)
    assert (level, check) == (Level.PROBLEM, "tls")
    assert "does not speak TLS" in found


async def test_server_that_wants_client_certificates_is_a_problem(tmp_path: Path) -> None:
    context = AUTHORITY.context(tmp_path, NAME)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=AUTHORITY.pem)
    async with serving(interpreter(), context) as port:
        results = await examine_endpoint(at(port), AUTHORITY.bundle, TIMEOUT, {})

    ((level, check, _),) = worst(results)
    assert (level, check) == (Level.PROBLEM, "call")


async def test_doctor_names_an_endpoint_where_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        (result,) = await examine_endpoint(at(unused.getsockname()[1]), AUTHORITY.bundle, TIMEOUT, {})

    assert (result.level, result.check) == (Level.PROBLEM, "connection")
    assert "nothing listens" in result.found
    assert "(it is registered so)" in result.found
    assert result.advice.endswith("look at it")


async def test_invalid_host_is_a_problem() -> None:
    (result,) = await examine_endpoint(DialAddress("a" * 64 + ".test", 443, NAME, "/"), AUTHORITY.bundle, TIMEOUT, {})

    assert (result.level, result.check) == (Level.PROBLEM, "connection")
    assert "not a host name" in result.found


async def test_bundle_may_have_comments(tmp_path: Path) -> None:
    bundle = base64.b64encode(f"# größte Autorität\n{AUTHORITY.pem}".encode()).decode()
    async with serving(interpreter(), AUTHORITY.context(tmp_path, NAME)) as port:
        assert worst(await examine_endpoint(at(port), bundle, TIMEOUT, {})) == []


@pytest.mark.usefixtures("_brief")
async def test_silent_server_is_a_problem() -> None:
    with socket.create_server((HOST, 0)) as silent:
        results = await examine_endpoint(at(silent.getsockname()[1]), AUTHORITY.bundle, TIMEOUT, {})

    assert [check for _, check, _ in worst(results)] == ["tls"]


INSIDE = DialAddress(NAME, 443, NAME, "/interpret")
ALERT = ssl.SSLError(1, "[SSL: TLSV1_ALERT_PROTOCOL_VERSION] tlsv1 alert protocol version (_ssl.c:1002)")
OUTSIDE = DialAddress("a.test", 443, "a.test", "/interpret", advice="look at it")


@rows(
    ("result", "found", "advice"),
    [
        pytest.param(
            judge_connection(INSIDE, socket.gaierror(-2, "unknown")), "cannot be resolved", "--url", id="an inside name"
        ),
        pytest.param(judge_connection(OUTSIDE, TimeoutError()), "no answer in 10 s", "firewalls", id="dropped packets"),
        pytest.param(
            judge_connection(OUTSIDE, OSError(113, "No route to host")), "No route to host", "firewalls", id="no route"
        ),
        pytest.param(judge_tls(OUTSIDE, TimeoutError()), "no handshake in 10 s", "HTTPS", id="a silent handshake"),
        pytest.param(judge_tls(OUTSIDE, ALERT), "tlsv1 alert protocol version", "TLS 1.2 or newer", id="old TLS"),
        pytest.param(judge_exchange(TimeoutError()), "no answer after 10 s", "log", id="silence"),
    ],
)
def test_failure_has_meaning_and_advice(result: CheckResult, found: str, advice: str) -> None:
    assert result.level is Level.PROBLEM
    assert found in result.found
    assert advice in result.advice
