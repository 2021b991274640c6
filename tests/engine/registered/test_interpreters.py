"""How Karmada reads webhooks and customizations, and which of them it asks."""

from typing import Any

import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.interpreters import (
    Client,
    Customization,
    Interpreters,
    RegisteredWebhook,
    Rule,
    Service,
    in_order,
    kinds_of,
    read_customization,
    read_webhooks,
)
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, Raw, configuration, hooks, lua, rule

ANY = ("*",)


@rows(
    ("written", "gvk", "operation", "matches"),
    [
        pytest.param(rule(JOB, ("Retain",)), JOB, "Retain", True, id="all named"),
        pytest.param(rule(JOB, ("Retain",)), JOB, "ReviseReplica", False, id="another operation"),
        pytest.param(rule(JOB, ("*",)), JOB, "ReviseReplica", True, id="any operation"),
        pytest.param(rule(GVK("*", "v1", "Job"), ("Retain",)), JOB, "Retain", True, id="any group"),
        pytest.param(rule(GVK("batch", "*", "Job"), ("Retain",)), JOB, "Retain", True, id="any version"),
        pytest.param(rule(GVK("batch", "v1", "*"), ("Retain",)), JOB, "Retain", True, id="any kind"),
        pytest.param(rule(GVK("", "v1", "Pod"), ("Retain",)), GVK("", "v1", "Pod"), "Retain", True, id="core group"),
        pytest.param(rule(GVK("", "v1", "Job"), ("Retain",)), JOB, "Retain", False, id="empty is not any"),
        pytest.param({}, JOB, "Retain", False, id="a rule without lists"),
    ],
)
def test_rules_match_as_in_karmada(written: Any, gvk: GVK, operation: str, *, matches: bool) -> None:
    (webhook,) = hooks(written)

    assert webhook.takes(gvk, Operation(operation)) is matches


@rows(
    ("client", "expected"),
    [
        pytest.param({"url": "https://a/b", "caBundle": "Q0E="}, Client("https://a/b", None, "Q0E="), id="a URL"),
        pytest.param({"service": {"namespace": "n", "name": "s"}}, Client("", Service("n", "s", 443, "")),
            id="port 443 by default"),
        pytest.param({"service": {"namespace": "n", "name": "s", "port": 8443, "path": "/interpret"}},
            Client("", Service("n", "s", 8443, "/interpret")), id="a whole reference"),
        pytest.param(None, Client(), id="nothing"),
    ],
)  # fmt: skip
def test_webhook_client_is_read(client: Any, expected: Client) -> None:
    (webhook,) = read_webhooks(configuration(client, rule(JOB)))

    assert (webhook.client, webhook.timeout) == (expected, 3)


@rows("strange", [{}, {"webhooks": None}, {"webhooks": []}])
def test_configuration_may_have_no_webhooks(strange: Any) -> None:
    assert read_webhooks({"metadata": {"name": "a"}, **strange}) == ()


@rows(
    ("webhooks", "message"),
    [
        pytest.param("x", "webhooks: Expected `array`, got `str`", id="webhooks of text"),
        pytest.param(["x"], "webhooks[0]: Expected `object`, got `str`", id="a webhook of text"),
        pytest.param([{"name": 7}], "webhooks[0].name: Expected `str`, got `int`", id="a number as the name"),
        pytest.param([{"rules": {}}], "webhooks[0].rules: Expected `array`, got `object`", id="no list of rules"),
        pytest.param([{"rules": [{"kinds": "Job"}]}], "webhooks[0].rules[0].kinds: Expected `array`, got `str`",
            id="kinds of text"),
        pytest.param([{"rules": [{"kinds": [["Job"]]}]}], "webhooks[0].rules[0].kinds[0]: Expected `str`",
            id="a kind that is a list"),
        pytest.param([{"clientConfig": {"service": []}}], "webhooks[0].clientConfig.service: Expected `object",
            id="a Service that is a list"),
        pytest.param([{"timeoutSeconds": "3"}], "webhooks[0].timeoutSeconds: Expected `int | null`, got `str`",
            id="a timeout of text"),
    ],
)  # fmt: skip
def test_field_of_another_type_is_named(webhooks: Any, message: str) -> None:
    with pytest.raises(ClusterError) as caught:
        read_webhooks({"metadata": {"name": "a"}, "webhooks": webhooks})

    assert str(caught.value).startswith(f"ResourceInterpreterWebhookConfiguration a: {message}")


def test_null_is_absent() -> None:
    entry = {
        "name": "hook",
        "clientConfig": None,
        "rules": [{"kinds": None, "operations": ["*"]}],
        "timeoutSeconds": None,
    }

    (webhook,) = read_webhooks({"metadata": {"name": "a"}, "webhooks": [entry]})

    assert (webhook.client, webhook.rules, webhook.timeout) == (Client(), (Rule(operations=ANY),), None)


def test_karmada_goes_through_them_in_the_order_of_their_full_names() -> None:
    webhooks = [*hooks(rule(JOB), rule(JOB), name="b"), *hooks(rule(JOB), name="a")]

    assert [webhook.full_name for webhook in in_order(reversed(webhooks))] == [
        "a/hook0.karta-interpreter.io",
        "b/hook0.karta-interpreter.io",
        "b/hook1.karta-interpreter.io",
    ]


def test_kinds_are_gathered_over_webhooks_and_rules() -> None:
    both = {**rule(JOB, ("Retain",)), "kinds": ["Job", "CronJob"]}

    assert kinds_of(hooks(both, rule(JOB, ("*",)), rule(GVK("*", "v1", "Brew")))) == {
        GVK("batch", "v1", "CronJob"): (Operation.RETAIN,),
        JOB: tuple(Operation),
    }


def test_rule_for_all_operations_names_its_kinds() -> None:
    assert not Rule(("a",), ("v1",), ("A",), ANY).wide
    assert kinds_of(hooks(rule(BREW, ANY))) == {BREW: tuple(Operation)}


def test_customization_scripts_have_operations() -> None:
    fields = {
        "retention": "Retain",
        "replicaResource": "InterpretReplica",
        "componentResource": "InterpretComponent",
        "replicaRevision": "ReviseReplica",
        "statusReflection": "InterpretStatus",
        "statusAggregation": "AggregateStatus",
        "healthInterpretation": "InterpretHealth",
        "dependencyInterpretation": "InterpretDependency",
    }
    target = {"apiVersion": "batch/v1", "kind": "Job"}
    for name, operation in fields.items():
        scripts = {name: {"luaScript": "function f() end"}, "retention2": {"luaScript": "x"}}
        read = read_customization({"metadata": {"name": "x"}, "spec": {"target": target, "customizations": scripts}})
        assert (read.name, read.gvk, set(read.operations)) == ("x", JOB, {operation})


@rows(
    "spec",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"target": {"apiVersion": "a/b/c", "kind": "X"}}, id="no version"),
        pytest.param(
            {"target": {"apiVersion": "v1"}, "customizations": {"retention": {"luaScript": ""}}}, id="no script"
        ),
    ],
)
def test_customization_without_target_is_read_as_empty(spec: Raw) -> None:
    read = read_customization({"metadata": {"name": "x"}, "spec": spec})

    assert (read.gvk, read.operations) == (None, frozenset())


@rows(
    ("customizations", "webhooks", "gvk", "operation", "expected"),
    [
        pytest.param((lua(JOB, Operation.RETAIN),), hooks(rule(JOB, ("Retain",))), JOB, Operation.RETAIN,
            "customization ours-first", id="customizations come first"),
        pytest.param((lua(BREW, Operation.RETAIN),), hooks(rule(JOB, ("*",)), name="hooks"), JOB, Operation.RETAIN,
            "webhook hooks", id="then webhooks"),
        pytest.param((), hooks(rule(BREW, ("*",))), JOB, Operation.RETAIN, "Karmada", id="then Karmada"),
        pytest.param((), (), BREW, Operation.RETAIN, "nobody", id="and else nobody"),
        pytest.param((), (), JOB, Operation.INTERPRET_COMPONENT, "nobody", id="nobody counts the parts of a Job"),
    ],
)  # fmt: skip
def test_first_interpreter_answers(
    customizations: tuple[Customization, ...],
    webhooks: tuple[RegisteredWebhook, ...],
    gvk: GVK,
    operation: Operation,
    expected: str,
) -> None:
    assert Interpreters([*customizations], [*webhooks]).answering(gvk, operation) == expected
