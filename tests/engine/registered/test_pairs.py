"""Which of our operations are left out where another interpreter answers a part of them.

Who is asked: ``pkg/resourceinterpreter/interpreter.go``. What is done without ReviseReplica: ``ensureWork`` in
``pkg/controllers/binding/common.go``. What becomes of components: ``pkg/detector/detector.go`` (`GetComponents` if any
interpreter has it) and ``pkg/scheduler/core/common.go``.
"""

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import OTHER_HALF, Operation
from karta_interpreter.engine.registered.interpreters import Client, Customization, RegisteredWebhook, Rule
from karta_interpreter.engine.registered.operations import REVISES_REPLICA, operations_for
from karta_interpreter.engine.registered.pairs import Agreement, Others, others_of
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows
from tests.webhook.registration.definitions import TOY, define, names, replicas

ONE = define(parts={"worker": replicas(".spec.worker.count // 1")})
TWO = define(parts={"head": replicas("1"), "worker": replicas(".spec.worker.count // 1")})
OURS = "karta-interpreter"
ALIKE, DIFFERENT, UNKNOWN = Agreement(True), Agreement(False), Agreement()


def customization(*operations: str, agrees: bool | None = None, name: str = "mills", gvk: GVK = TOY) -> Customization:
    scripts = Scripts(Script(operation, "", name) for operation in operations if operation in OTHER_HALF)
    return Customization(name, gvk, frozenset(operations), scripts, agrees)


def webhook(*operations: str, configuration: str, agrees: bool | None = None) -> RegisteredWebhook:
    rule = Rule((TOY.group,), ("*",), (TOY.kind,), operations)
    return RegisteredWebhook(configuration, "w.example.com", Client(), (rule,), 3, agrees)


@rows(
    ("answered", "agreement", "registered", "gate", "left_out"),
    [
        pytest.param("Rp", DIFFERENT, "Rp Rv", False, "Rv", id="groups that we would write as pods"),
        pytest.param("Rp", ALIKE, "", False, "", id="pods, which we divide"),
        pytest.param("Rp", UNKNOWN, "Rp Rv", False, "", id="what is divided today goes on"),
        pytest.param("Rp", UNKNOWN, "", False, "Rv", id="what is not divided today goes on"),
        pytest.param("Rv", DIFFERENT, "Rp Rv", False, "Rp", id="our pods would be written as groups"),
        pytest.param("Rv", UNKNOWN, "", False, "Rp", id="nobody counts today"),
        pytest.param("Rv", ALIKE, "", False, "", id="our count, divided by a script that writes pods"),
        pytest.param("Rp Rv", DIFFERENT, "", False, "", id="both halves from one hand"),
        pytest.param("Co", UNKNOWN, "Rp Rv", False, "", id="nobody asks for components with the gate off"),
        pytest.param("Co", UNKNOWN, "Rp Rv", True, "Rv", id="a revision of components would be one to 0"),
        pytest.param("Rv", ALIKE, "Rp Rv", True, "", id="one component is a number of replicas, gate or no gate"),
        pytest.param("Ag", UNKNOWN, "", False, "St", id="only ours strips what our InterpretStatus adds"),
        pytest.param("Ag St", UNKNOWN, "", False, "", id="both statuses from one hand"),
        pytest.param("St", UNKNOWN, "", False, "", id="what is reflected is merged, whatever it is"),
        pytest.param("He", UNKNOWN, "", False, "", id="health is asked of the member's whole object"),
        pytest.param("Re De", UNKNOWN, "", False, "", id="Retain compares fields, not counts"),
    ],
)  # fmt: skip
def test_pair_of_operations_comes_from_one_hand(
    answered: str, agreement: Agreement, registered: str, gate: bool, left_out: str
) -> None:
    theirs = [_LONG[name] for name in answered.split()]
    half = next((operation for operation in theirs if operation in ("InterpretReplica", "ReviseReplica")), None)
    both = {"InterpretReplica", "ReviseReplica"} <= {*theirs}
    others = Others(
        dict.fromkeys(theirs, "somebody"), None if both or not half else Operation(half), agreement=agreement
    )
    present = [_LONG[name] for name in registered.split()]

    alone = operations_for(ONE, multiple_pod_templates=gate)
    together = operations_for(ONE, multiple_pod_templates=gate, others=others, registered=present)

    assert names(alone) - names(together) == {*left_out.split()}
    assert names(together) <= names(alone)


_LONG = {
    "Rp": "InterpretReplica",
    "Co": "InterpretComponent",
    "Rv": "ReviseReplica",
    "Re": "Retain",
    "Ag": "AggregateStatus",
    "St": "InterpretStatus",
    "He": "InterpretHealth",
    "De": "InterpretDependency",
}


@rows(
    ("theirs", "operations"),
    [
        pytest.param("InterpretReplica", {"Co"}, id="components are asked for before replicas"),
        pytest.param("ReviseReplica", {"Rv"}, id="components that somebody revises are scaled to zero"),
        pytest.param("InterpretComponent", {"Co"}, id="ours is ready for the day on which theirs goes"),
    ],
)
def test_components_of_several_interpreters_with_the_gate(theirs: str, operations: set[str]) -> None:
    (others,) = others_of([TOY], [customization(theirs)], [], OURS).values()

    registered = operations_for(TWO, multiple_pod_templates=True, others=others)

    assert names(registered) & {"Rp", "Rv", "Co"} == operations


@rows(
    ("customizations", "webhooks", "half", "agreement"),
    [
        pytest.param([customization("InterpretReplica")], [], "InterpretReplica", None, id="a script to compare"),
        pytest.param([customization("InterpretReplica", agrees=True)], [], "InterpretReplica", True,
            id="its author says that it counts pods"),
        pytest.param([customization("InterpretReplica", agrees=False)], [], "InterpretReplica", False,
            id="its author says that it counts something else"),
        pytest.param([customization("InterpretReplica"), customization("ReviseReplica", name="more")], [], None, None,
            id="two customizations are one interpreter to Karmada"),
        pytest.param([customization("ReviseReplica")], [], "ReviseReplica", None, id="the other half"),
        pytest.param([], [webhook("InterpretReplica", configuration="a")], "InterpretReplica", None,
            id="a webhook that comes first cannot be run"),
        pytest.param([], [webhook("InterpretReplica", configuration="a", agrees=True)], "InterpretReplica", True,
            id="a webhook whose configuration says that it agrees"),
        pytest.param([customization("ReviseReplica")], [webhook("InterpretReplica", configuration="a")], None, None,
            id="two others: ours answers none of it"),
    ],
)  # fmt: skip
def test_others_answer_before_us(
    customizations: list[Customization],
    webhooks: list[RegisteredWebhook],
    half: str | None,
    agreement: bool | None,
) -> None:
    (others,) = others_of([TOY], customizations, webhooks, OURS).values()

    assert (others.half, others.agreement.agrees) == (half, agreement)


@rows(
    "configuration",
    [
        pytest.param(OURS, id="our own"),
        pytest.param("z", id="after ours"),
        pytest.param(f"{OURS}0", id="after ours, because a 0 comes after the slash"),
    ],
)
def test_webhook_that_is_asked_after_us_answers_nothing_of_ours(configuration: str) -> None:
    hook = webhook("InterpretReplica", configuration=configuration)

    assert others_of([TOY], [], [hook], OURS) == {}
    assert others_of([TOY], [], [webhook("InterpretReplica", configuration=f"{OURS}-")], OURS) != {}


def test_customization_of_another_kind_changes_nothing() -> None:
    assert others_of([TOY], [customization("InterpretReplica", gvk=TOY._replace(version="v2"))], [], OURS) == {}


_OPERATIONS = st.sets(st.sampled_from([*Operation]))


@given(
    theirs=_OPERATIONS,
    registered=_OPERATIONS,
    agrees=st.sampled_from([True, False, None]),
    gate=st.booleans(),
    two=st.booleans(),
    kind=st.sampled_from([TOY, *sorted(REVISES_REPLICA)]),
)
def test_no_workload_is_counted_by_one_and_divided_by_another_that_differs(
    theirs: set[Operation], registered: set[Operation], agrees: bool | None, gate: bool, two: bool, kind: GVK
) -> None:
    parts = {"worker": replicas(".spec.worker.count // 1"), **({"head": replicas("1")} if two else {})}
    definition = define(kind, parts)
    found = others_of([kind], [customization(*theirs, agrees=agrees, gvk=kind)], [], OURS)

    ours = operations_for(definition, multiple_pod_templates=gate, others=found.get(kind), registered=registered)

    answers: Mapping[str, str] = {**dict.fromkeys(ours, "ours"), **dict.fromkeys(theirs, "theirs")}
    hands = {answers[operation] for operation in ("InterpretReplica", "ReviseReplica") if operation in answers}
    if len(hands) == 2 and not (gate and "InterpretComponent" in answers):
        mixed = ({"InterpretReplica", "ReviseReplica"} - theirs).pop()
        assert agrees or (agrees is None and mixed in registered)
    if gate and "ours" in (answers.get("InterpretComponent"), answers.get("ReviseReplica")):
        assert not {"InterpretComponent", "ReviseReplica"} <= answers.keys()
