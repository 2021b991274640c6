"""Operations that scripts answer: instead of the Karta, with its help, and without one."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.languages.lua.machine import worker
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.engine.operations.conftest import Define, component, template
from tests.support.rows import rows

TRAIN = GVK("example.io", "v1", "Train")
WORKER = component("worker", ".spec.template", ".spec.replicas // 1")
OBJECT = {
    "apiVersion": "example.io/v1",
    "kind": "Train",
    "metadata": {"name": "t", "namespace": "ml"},
    "spec": {"replicas": 3, "template": template(resources={"requests": {"cpu": "2"}}), "volumes": [{"emptyDir": {}}]},
    "status": {"active": 3},
}


def scripts(*bodies: tuple[Operation, str]) -> Scripts:
    """Scripts by operation; each body is that of its function, whose arguments are a and b."""
    return Scripts(
        Script(operation, f"function {SLOTS[operation].function}(a, b)\n  {body}\nend", f"mine{number}")
        for number, (operation, body) in enumerate(bodies, start=1)
    )


def alone(*bodies: tuple[Operation, str]) -> Definition:
    return Definition.of_scripts(TRAIN, scripts(*bodies))


@rows(
    ("call", "body", "expected"),
    [
        pytest.param(Call(Operation.INTERPRET_REPLICA, OBJECT),
            "return a.spec.replicas * 2, {resourceRequest = {cpu = '1'}}",
            {"replica": 6, "requires": {"resourceRequest": {"cpu": "1"}}}, id="a number and requirements"),
        pytest.param(Call(Operation.INTERPRET_COMPONENT, OBJECT),
            "return {{name = 'all', replicas = a.spec.replicas}}", {"components": [{"name": "all", "replicas": 3}]},
            id="components"),
        pytest.param(
            Call(Operation.REVISE_REPLICA, OBJECT, replicas=8),
            "a.spec.replicas = b return a",
            {"revised": {**OBJECT, "spec": {**OBJECT["spec"], "replicas": 8}}},  # type: ignore[dict-item]  # it is
            id="the wanted number is the second argument",
        ),
        pytest.param(Call(Operation.RETAIN, OBJECT, observed={**OBJECT, "status": {"active": 9}}),
            "a.status.active = b.status.active return a", {"retained": {**OBJECT, "status": {"active": 9}}},
            id="the member's object is the second argument"),
        pytest.param(Call(Operation.INTERPRET_STATUS, OBJECT),
            "return {active = a.status.active, of = a.spec.replicas}", {"status": {"active": 3, "of": 3}},
            id="the status"),
        pytest.param(Call(Operation.INTERPRET_HEALTH, OBJECT), "return true", {"healthy": True}, id="the health"),
        pytest.param(Call(Operation.INTERPRET_DEPENDENCY, OBJECT),
            "return {{apiVersion = 'v1', kind = 'Secret', namespace = a.metadata.namespace, name = 'key'}}",
            {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "namespace": "ml", "name": "key"}]},
            id="dependencies"),
    ],
)  # fmt: skip
def test_script_answers_operation(define: Define, call: Call, body: str, expected: Any) -> None:
    for definition in (alone((call.operation, body)), define(WORKER).overridden(scripts((call.operation, body)))):
        assert interpret(definition, call) == expected


def items(*active: int) -> tuple[StatusItem, ...]:
    return tuple(StatusItem(f"member{index}", {"active": count}) for index, count in enumerate(active, start=1))


@rows(
    ("given", "body", "status"),
    [
        pytest.param(items(4, 5),
            "a.status = {active = b[1].status.active + b[2].status.active, of = b[2].clusterName} return a",
            {"active": 9, "of": "member2"}, id="items are as Karmada writes them"),
        pytest.param((StatusItem("member1", applied=False, message="no", health="Unknown"),),
            "a.status = {b[1].appliedMessage, b[1].health, tostring(b[1].applied), tostring(b[1].status)} return a",
            ["no", "Unknown", "nil", "nil"], id="without what is empty"),
        pytest.param((), "a.status = {items = tostring(b)} return a", {"items": "nil"}, id="no items are nil"),
        pytest.param(items(4), "return a", {"active": 3}, id="nothing changes"),
        pytest.param(items(4), "a.spec = nil a.status = {} return a", None, id="an empty table is not a status"),
    ],
)  # fmt: skip
def test_only_the_status_of_an_aggregation_counts(given: tuple[StatusItem, ...], body: str, status: Any) -> None:
    """Lua loses the `emptyDir: {}`, and scripts may lose more; Karmada looks at nothing but the status."""
    call = Call(Operation.AGGREGATE_STATUS, OBJECT, items=given)
    rest = {key: value for key, value in OBJECT.items() if key != "status"}
    expected = rest if status is None else {**rest, "status": status}
    assert interpret(alone((call.operation, body)), call) == {"aggregatedStatus": expected}


def test_operation_without_script_is_answered_by_karta(define: Define) -> None:
    definition = define(WORKER).overridden(scripts((Operation.INTERPRET_HEALTH, "return true")))
    assert interpret(definition, Call(Operation.INTERPRET_REPLICA, OBJECT))["replica"] == 3


def test_script_answers_operation_that_annotation_omits(define: Define) -> None:
    definition = define(WORKER, operations="Retain").overridden(scripts((Operation.INTERPRET_HEALTH, "return true")))
    assert interpret(definition, Call(Operation.INTERPRET_HEALTH, OBJECT)) == {"healthy": True}


def test_without_a_karta_only_scripts_answer() -> None:
    definition = alone((Operation.INTERPRET_HEALTH, "return true"), (Operation.RETAIN, "return a"))
    with pytest.raises(InterpretationError) as caught:
        interpret(definition, Call(Operation.INTERPRET_REPLICA, OBJECT))
    assert str(caught.value) == (
        "no Karta and no script answers InterpretReplica for example.io/v1, Kind=Train; "
        "scripts answer InterpretHealth, Retain"
    )
    assert caught.value.code == 404


def test_scripts_for_dependencies_run_together() -> None:
    def names(*names: str) -> str:
        refs = ", ".join(f"{{apiVersion = 'v1', kind = 'Secret', namespace = 'ml', name = '{name}'}}" for name in names)
        return f"return {{{refs}}}"

    def secrets(found: Iterable[Mapping[str, str]]) -> list[str]:
        return [each["name"] for each in found]

    operation = Operation.INTERPRET_DEPENDENCY
    definition = alone((operation, names("c", "a")), (operation, names("b", "a")))
    assert secrets(interpret(definition, Call(operation, OBJECT))["dependencies"]) == ["a", "b", "c"]


KARTA = 'local karta = require("karta") '


@rows(
    ("call", "body", "expected"),
    [
        pytest.param(Call(Operation.INTERPRET_REPLICA, OBJECT),
            f"{KARTA} local n, requirements = karta.getReplicas(a) return n + 1, requirements",
            {"replica": 4, "requires": {"resourceRequest": {"cpu": "2"}}}, id="one pod more"),
        pytest.param(
            Call(Operation.REVISE_REPLICA, OBJECT, replicas=9),
            f"{KARTA} return karta.reviseReplica(a, b - 1)",
            {"revised": {**OBJECT, "spec": {**OBJECT["spec"], "replicas": 8}}},  # type: ignore[dict-item]  # it is
            id="one pod less; what was not touched is as it was",
        ),
        pytest.param(Call(Operation.AGGREGATE_STATUS, OBJECT, items=items(4, 5)),
            f"{KARTA} local sum = karta.aggregateStatus(a, b) sum.status.clusters = #b return sum",
            {"aggregatedStatus": {**OBJECT, "status": {"active": 9, "clusters": 2}}}, id="items are passed on"),
        pytest.param(
            Call(Operation.INTERPRET_HEALTH, OBJECT),
            f"{KARTA} local ok, why = pcall(karta.reviseReplica, a, -1) return not ok and why:find('from 0 up') ~= nil",
            {"healthy": True},
            id="an error can be caught",
        ),
    ],
)  # fmt: skip
def test_script_builds_on_karta(define: Define, call: Call, body: str, expected: Any) -> None:
    assert interpret(define(WORKER).overridden(scripts((call.operation, body))), call) == expected


@rows(
    ("call", "body", "said"),
    [
        pytest.param(Call(Operation.INTERPRET_HEALTH, OBJECT), "return a.status.conditions[1]",
            "failed in line 2 (`return a.status.conditions[1]`): ", id="the line and its text"),
        pytest.param(Call(Operation.INTERPRET_HEALTH, OBJECT), "return 1", "failed: result type 2 is not bool",
            id="a wrong type"),
        pytest.param(Call(Operation.INTERPRET_REPLICA, OBJECT), "return require('karta').getReplicas(a)",
            "there is no Karta for example.io/v1, Kind=Train", id="nobody to ask"),
    ],
)  # fmt: skip
def test_failing_script_is_an_error(call: Call, body: str, said: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        interpret(alone((call.operation, body)), call)
    assert str(caught.value).startswith(f"example.io/v1, Kind=Train: script mine1 for {call.operation} failed")
    assert said in str(caught.value)
    assert caught.value.code == 422


def test_failing_script_of_several_is_named() -> None:
    operation = Operation.INTERPRET_DEPENDENCY
    with pytest.raises(InterpretationError, match="script mine2 for InterpretDependency failed in line 2"):
        interpret(alone((operation, "return {}"), (operation, "return a.b.c")), Call(operation, OBJECT))


@rows(
    ("call", "said"),
    [
        pytest.param(Call(Operation.REVISE_REPLICA, OBJECT), "replicas must be a number", id="no number"),
        pytest.param(Call(Operation.REVISE_REPLICA, OBJECT, replicas=-1), "from 0 up", id="less than none"),
        pytest.param(Call(Operation.RETAIN, OBJECT), "needs the observed object", id="no member"),
    ],
)
def test_incomplete_call_is_bad_request(define: Define, call: Call, said: str) -> None:
    for definition in (alone((call.operation, "return a")), define(WORKER)):
        with pytest.raises(InterpretationError, match=said) as caught:
            interpret(definition, call)
        assert caught.value.code == 400


def test_slow_script_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS", 0.1)
    definition = alone((Operation.INTERPRET_HEALTH, "while true do end"))
    call = Call(Operation.INTERPRET_HEALTH, OBJECT)
    with pytest.raises(InterpretationError, match="script mine1 for InterpretHealth failed") as caught:
        interpret(definition, call)
    assert caught.value.code == 504
