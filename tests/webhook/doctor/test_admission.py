import pytest

from karta_interpreter.engine.registered.interpreters import read_webhooks
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.webhooks import judge_admission
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, Raw, configuration, rule

REGISTERED = {"caBundle": "cmVnaXN0ZXJlZA=="}
OURS = read_webhooks(configuration({"url": "https://interpreter.test", **REGISTERED}, rule(BREW)))


def admission(*webhooks: Raw) -> Raw:
    return {"metadata": {"name": "karta-interpreter"}, "webhooks": list(webhooks)}


def webhook(client: Raw, policy: str = "Fail") -> Raw:
    return {"name": "validate.karta-interpreter.io", "clientConfig": client, "failurePolicy": policy}


def at(name: str, port: int = 443, path: str = "/admission/validate") -> Raw:
    return {"service": {"namespace": "karmada-system", "name": name, "port": port, "path": path}, **REGISTERED}


@rows(
    ("configuration_", "expected"),
    [
        pytest.param(None, [], id="who checks no Kartas needs nothing"),
        pytest.param(admission(), [], id="an empty one asks nobody"),
        pytest.param({"metadata": {"name": "karta-interpreter"}}, [], id="the API server leaves an empty list out"),
        pytest.param(admission(webhook(REGISTERED)), [(Level.OK, "are checked")], id="the same authority"),
        pytest.param(admission(webhook(REGISTERED), webhook({"caBundle": "b2xk"}) | {"name": "somebody.elses"}),
            [(Level.OK, "are checked")], id="another webhook next to ours trusts whom it wants"),
        pytest.param(admission(webhook({})), [(Level.PROBLEM, "are rejected")], id="nobody has filled it in"),
        pytest.param(admission(webhook({"caBundle": "b2xk"})), [(Level.PROBLEM, "are rejected")],
            id="it is left with an old one"),
        pytest.param(admission(webhook({}, "Ignore")), [(Level.PROBLEM, "are stored unchecked")],
            id="nobody hears of it"),
        pytest.param(admission(webhook(at("mine"))), [(Level.OK, "are checked")],
            id="a Service next to a registered URL"),
    ],
)  # fmt: skip
def test_admission_trusts_whom_the_registration_trusts(
    configuration_: Raw | None, expected: list[tuple[Level, str]]
) -> None:
    results = list(judge_admission(configuration_, OURS))

    assert [result.level for result in results] == [level for level, _ in expected]
    assert all(words in result.found for result, (_, words) in zip(results, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "port", "expected"),
    [
        ("karta", 443, (Level.OK, "are checked")),
        (
            "mine",
            443,
            (Level.WARNING, "mine.karmada-system.svc:443, and Karmada is to call karta.karmada-system.svc:443"),
        ),
        ("karta", 8443, (Level.WARNING, "checked at karta.karmada-system.svc:8443")),
    ],
)
def test_admission_asks_the_registered_service(name: str, port: int, expected: tuple[Level, str]) -> None:
    ours = read_webhooks(configuration(at("karta", path="/interpret"), rule(BREW)))

    (result,) = judge_admission(admission(webhook(at(name, port))), ours)

    assert (result.level, expected[1] in result.found) == (expected[0], True)


def test_without_a_registration_there_is_nothing_to_compare_with() -> None:
    assert not list(judge_admission(admission(webhook({})), []))
