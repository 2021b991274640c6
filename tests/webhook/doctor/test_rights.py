from typing import Any

import pytest

from karta_interpreter.webhook.doctor import rights
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.rights import judge_rights
from tests.deploy import rendered

Rule = dict[str, Any]


def rule(resources: str, *verbs: str, group: str = "", names: tuple[str, ...] = ()) -> Rule:
    return {"apiGroups": [group], "resources": [resources], "verbs": list(verbs), "resourceNames": list(names)}


def found(*rules: Rule, incomplete: bool = False) -> list[tuple[Level, str]]:
    review = {"status": {"resourceRules": list(rules), "nonResourceRules": [], "incomplete": incomplete}}
    return [(result.level, result.found) for result in judge_rights(review)]


CONFIGURATIONS = "resourceinterpreterwebhookconfigurations"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(rule("*", "*", group="*"), "read Secrets and write *.*", id="cluster-admin"),
        pytest.param(rule("*", "get", "list", "watch", group="*"), "read Secrets", id="all-reading"),
        pytest.param(rule("secrets", "get", names=("one",)), "read Secrets", id="one Secret"),
        pytest.param(rule("*", "list"), "read Secrets", id="all resources of the core group"),
        pytest.param(rule("kartas", "create", group="run.ai"), "write kartas.run.ai", id="Kartas"),
        pytest.param(rule("serviceaccounts/token", "create"), "write serviceaccounts/token", id="tokens"),
        pytest.param(rule("users", "impersonate"), "write users", id="another user"),
        pytest.param(rule(CONFIGURATIONS, "patch", group="config.karmada.io"),
            f"write {CONFIGURATIONS}.config.karmada.io", id="registrations of any name"),
        pytest.param(rule(CONFIGURATIONS, "update", group="config.karmada.io", names=("karta-interpreter",)),
            f"write {CONFIGURATIONS}.config.karmada.io", id="another verb of the own registration"),
    ],
)  # fmt: skip
def test_further_rights_are_a_warning_in_a_pod(given: Rule, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"the user of the kubeconfig may {expected}, unlike the chart's roles"
    monkeypatch.setattr(rights, "IS_IN_POD", True)
    assert found(given) == found(given, incomplete=True) == [(Level.WARNING, text)]

    monkeypatch.setattr(rights, "IS_IN_POD", False)
    assert found(given) == [(Level.OK, f"{text}: do not give this kubeconfig to the server")]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(rule("pods", "list", "watch"), id="reading"),
        pytest.param(rule("secrets", "list", group="example.com"), id="secrets of another group"),
        pytest.param(rule("secrets/status", "get"), id="a subresource"),
        pytest.param(rule("selfsubjectrulesreviews", "create", group="authorization.k8s.io"), id="asking for rights"),
    ],
)
def test_what_every_server_may_is_no_further_right(given: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "IS_IN_POD", True)
    assert [level for level, _ in found(given)] == [Level.OK]


def test_incomplete_rules_prove_no_absence() -> None:
    assert found(incomplete=True) == []


@rendered.needs_helm
@pytest.mark.parametrize("case", ["the control plane", "the control plane with admission"])
def test_roles_of_the_chart_give_no_further_right(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "IS_IN_POD", True)
    roles = rendered.of_kind(rendered.of(case), "ClusterRole")
    assert [level for level, _ in found(*(each for role in roles for each in role["rules"]))] == [Level.OK]
