from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.status import Condition, Status, match_status
from tests.support.rows import rows

Raw = dict[str, Any]


def defined(brew: Raw, status: Raw) -> Definition:
    """The brew with another status definition."""
    at = ("spec", "structureDefinition", "rootComponent", "statusDefinition")
    return load_definition(edit.set_value(brew, at, status))


def mapped(brew: Raw, *matchers: Raw) -> Definition:
    """The brew, running when one of the matchers holds."""
    status = {
        "phaseDefinition": {"path": ".status.state"},
        "conditionsDefinition": {"path": ".status.conditions"},
        "statusMappings": {"running": list(matchers)},
    }
    return defined(brew, status)


def condition(kind: object, status: object = "True", **more: object) -> Raw:
    return {"type": kind, "status": status, **more}


def by_condition(**expected: str) -> Raw:
    return {"byConditions": [expected]}


def by_expression(expression: str, expected: str) -> Raw:
    return {"byExpression": {"expression": expression, "expectedResult": expected}}


READY = {"state": "Boiling", "conditions": [condition("Ready", reason="Hot")]}


@rows(
    ("matcher", "status", "running"),
    [
        pytest.param({"byPhase": "Boiling"}, READY, True, id="the phase is equal"),
        pytest.param({"byPhase": "boiling"}, READY, False, id="and its case counts"),
        pytest.param({"byPhase": "Boiling"}, {}, False, id="there is no phase"),
        pytest.param(by_condition(type="Ready", status="True"), READY, True, id="type and status"),
        pytest.param(by_condition(type="Ready", status="False"), READY, False, id="another status"),
        pytest.param(by_condition(type="Ready"), READY, True, id="no status expected: it only has to be there"),
        pytest.param(by_condition(type="Done"), READY, False, id="it is not there"),
        pytest.param(by_condition(type="Ready", reason="Hot"), READY, True, id="its reason"),
        pytest.param(by_condition(type="Ready", reason="Cold"), READY, False, id="another reason"),
        pytest.param(by_condition(type="Ready", reason="Hot"), {"conditions": [condition("Ready")]}, False,
            id="a reason is expected and there is none"),
        pytest.param(by_condition(type="Ready", status="True"), {"conditions": [condition("Ready", status=True)]},
            False, id="a boolean is not a condition status"),
        pytest.param(by_condition(type="Ready", status="True"),
            {"conditions": [condition("Ready"), condition("Ready", "False")]}, False,
            id="the last of two conditions of one type counts"),
        pytest.param({"byConditions": [{"type": "Ready", "status": "True"}, {"type": "Done", "status": "True"}]},
            READY, False, id="every condition must be there"),
        pytest.param({"byPhase": "Boiling", **by_condition(type="Ready", status="False")}, READY, False,
            id="phase and conditions must hold together"),
        pytest.param({"byPhase": "Boiling", **by_condition(type="Ready"), **by_expression("1", "1")}, READY, True,
            id="all three hold"),
        pytest.param({}, {}, True, id="an empty matcher always holds"),
        pytest.param(by_expression(".status.n > 1", "true"), {"n": 2}, True, id="an expression, its result as text"),
        pytest.param(by_expression(".status.n", "null"), {}, True, id="null as text is null"),
        pytest.param(by_expression(".status.n", ""), {}, False, id="and not nothing"),
        pytest.param(by_expression(".status.n", "3"), {"n": 3.0}, True, id="an integral number has no point"),
        pytest.param(by_expression(".status.n", 'say "hi"'), {"n": 'say "hi"'}, True, id="strings stay bare"),
        pytest.param(by_expression(".status.n", '{"a":1,"b":[2]}'), {"n": {"b": [2], "a": 1}}, True,
            id="objects are JSON with sorted keys"),
        pytest.param(by_expression(".status.n[]", "1"), {"n": [1, 2]}, True, id="the first result counts"),
        pytest.param(by_expression(".status.n[]", "2"), {"n": [1, 2]}, False, id="and only the first"),
        pytest.param(by_expression("empty", ""), {}, False, id="no result equals nothing, not even the empty text"),
        pytest.param(by_expression(".status.n # n", "1"), {"n": 1}, True, id="a comment ends with its line"),
    ],
)  # fmt: skip
def test_matcher_gives_status(brew: Raw, matcher: Raw, status: Raw, *, running: bool) -> None:
    expected = Status.RUNNING if running else Status.UNDEFINED
    assert match_status(mapped(brew, matcher), {"status": status}).matched == (expected,)


def test_single_matcher_is_enough(brew: Raw) -> None:
    definition = mapped(brew, {"byPhase": "Cold"}, {"byPhase": "Boiling"})
    assert match_status(definition, {"status": READY}).matched == (Status.RUNNING,)


def test_first_matching_matcher_ends_the_search(brew: Raw) -> None:
    definition = mapped(brew, {"byPhase": "Boiling"}, by_expression("error", "x"))
    assert match_status(definition, {"status": READY}).matched == (Status.RUNNING,)


def test_matching_statuses_have_a_fixed_order(brew: Raw) -> None:
    names = ("initializing", "running", "completed", "failed", "degraded", "suspended", "suspending", "resuming")
    definition = defined(brew, {"statusMappings": {name: [{}] for name in names}})
    assert match_status(definition, {}).matched == (
        Status.RESUMING,
        Status.SUSPENDING,
        Status.SUSPENDED,
        Status.RUNNING,
        Status.FAILED,
        Status.COMPLETED,
        Status.INITIALIZING,
        Status.DEGRADED,
    )


def test_statuses_do_not_exclude_each_other(compiled: dict[str, Definition]) -> None:
    found = match_status(compiled["brew"], {"status": {"state": "Boiling", "foam": 4}})
    assert found.matched == (Status.RUNNING, Status.DEGRADED)


@rows(
    ("path", "status", "phase"),
    [
        pytest.param(".status.state", {"state": "Cold"}, "Cold", id="a string"),
        pytest.param(".status.state", {"state": None}, "", id="null is an empty phase"),
        pytest.param(".status.state", {}, "", id="and so is an absent field"),
        pytest.param(".status.states[]", {"states": ["a", "b"]}, "a", id="the first of several"),
        pytest.param(".status.states[]", {"states": []}, None, id="nothing is not a phase"),
    ],
)
def test_phase_is_read_at_its_path(brew: Raw, path: str, status: Raw, phase: str | None) -> None:
    definition = defined(brew, {"phaseDefinition": {"path": path}, "statusMappings": {}})
    assert match_status(definition, {"status": status}).phase == phase


@rows(
    ("conditions", "expected"),
    [
        pytest.param(None, (), id="null"),
        pytest.param([], (), id="none yet"),
        pytest.param(
            [condition("Ready", reason="Hot", message="it boils")], (Condition("Ready", "True", "Hot", "it boils"),),
            id="all four fields",
        ),
        pytest.param([{}], (Condition(None, None, None, None),), id="no field at all"),
        pytest.param([condition(1, status=True)], (Condition(None, None, None, None),), id="only strings are taken"),
        pytest.param([None], (Condition(None, None, None, None),), id="a null is a condition without type, as in Go"),
    ],
)  # fmt: skip
def test_conditions(compiled: dict[str, Definition], conditions: Any, expected: tuple[Condition, ...]) -> None:
    assert match_status(compiled["brew"], {"status": {"conditions": conditions}}).conditions == expected


def test_field_names_of_conditions(brew: Raw) -> None:
    names = {"typeFieldName": "what", "statusFieldName": "is", "messageFieldName": "text", "reasonFieldName": "why"}
    rule = {"path": ".status.list", **names}
    definition = defined(brew, {"conditionsDefinition": rule, "statusMappings": {}})
    found = match_status(definition, {"status": {"list": [{"what": "a", "is": "b", "text": "c", "why": "d"}]}})
    assert found.conditions == (Condition("a", "b", "d", "c"),)


def test_conditions_of_several_lists_are_one(brew: Raw) -> None:
    rule = {"path": ".status.parts[].conditions"}
    definition = defined(brew, {"conditionsDefinition": rule, "statusMappings": {}})
    parts = [{"conditions": [condition("A")]}, {}, {"conditions": [condition("B")]}]
    found = match_status(definition, {"status": {"parts": parts}})
    assert [one.type for one in found.conditions] == ["A", "B"]


@rows(
    ("status", "message"),
    [
        pytest.param({"state": 3}, "phaseDefinition.path `.status.state`: gives a number", id="a phase of digits"),
        pytest.param(
            {"conditions": {}}, "conditionsDefinition.path `.status.conditions`: gives an object where a list",
            id="no list",
        ),
        pytest.param({"conditions": [1]}, "gives a condition that is a number", id="no object in the list"),
        pytest.param("odd", "phaseDefinition.path `.status.state`: ", id="a status that is not an object"),
    ],
)  # fmt: skip
def test_unusable_statuses(compiled: dict[str, Definition], status: Any, message: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        match_status(compiled["brew"], {"status": status})
    assert message in str(caught.value)


def test_any_two_values_can_be_compared(compiled: dict[str, Definition]) -> None:
    assert Status.DEGRADED in match_status(compiled["brew"], {"status": {"foam": {}}}).matched


def test_failing_matcher_fails_the_status(brew: Raw) -> None:
    mappings = {"running": [{}], "degraded": [by_expression(".status.n + {}", "1")]}
    with pytest.raises(InterpretationError, match=r"definition brew, component brew, byExpression `\.status\.n"):
        match_status(defined(brew, {"statusMappings": mappings}), {"status": {"n": 1}})


@rows(
    ("expected", "conditions", "running"),
    [
        pytest.param({"type": "Synced"}, [{"type": "Synced", "message": "all"}], True, id="it is there"),
        pytest.param({"type": "Synced"}, [{"type": "Lost"}], False, id="it is not there"),
        pytest.param({"type": "Synced"}, [{"type": "Synced", "status": "False"}], True, id="a status is not read"),
        pytest.param(
            {"type": "Synced", "reason": "All"}, [{"type": "Synced", "reason": "All"}], True, id="a reason is"
        ),
    ],
)
def test_conditions_without_a_status(brew: Raw, expected: Raw, conditions: Any, *, running: bool) -> None:
    definition = defined(
        brew,
        {
            "conditionsDefinition": {"path": ".status.conditions", "statusFieldName": ""},
            "statusMappings": {"running": [by_condition(**expected)]},
        },
    )
    assert definition.findings == ()
    assert (Status.RUNNING in match_status(definition, {"status": {"conditions": conditions}}).matched) is running
