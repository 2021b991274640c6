"""What scripts may ask the Karta: every answer is the one that Karmada would get without the script."""

from typing import Any

import pytest

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.operations.interpretation import own_functions
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.engine.operations.conftest import Define, component, template
from tests.support.rows import rows

WORKER = component("worker", ".spec.template", ".spec.replicas // 1")
TRAIN = {
    "apiVersion": "example.io/v1",
    "kind": "Train",
    "metadata": {"name": "t", "namespace": "ml"},
    "spec": {
        "replicas": 3,
        "template": {
            "spec": {**template(resources={"requests": {"cpu": "2"}})["spec"], "serviceAccountName": "driver"}
        },
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "active": 3},
}
IDLE = {**TRAIN, "status": {"active": 0}}
REQUIRES = {"resourceRequest": {"cpu": "2"}}


def ask(definition: Definition, name: str, *arguments: Any) -> tuple[Any, ...]:
    return own_functions(definition, Call(Operation.RETAIN, TRAIN), Options())[name](*arguments)


def revised(replicas: Any) -> dict[str, Any]:
    return {**TRAIN, "spec": {**TRAIN["spec"], "replicas": replicas}}  # type: ignore[dict-item]  # it is a dict


@rows(
    ("name", "arguments", "expected"),
    [
        pytest.param("getReplicas", (TRAIN,), (3, REQUIRES), id="a number and what each needs"),
        pytest.param("getComponents", (TRAIN,),
            ([{"name": "worker", "replicas": 3, "replicaRequirements": REQUIRES}],), id="the components"),
        pytest.param("reviseReplica", (TRAIN, 5), (revised(5),), id="the object with another number"),
        pytest.param("retain", (TRAIN, revised(9)), (TRAIN,), id="nothing to keep: no label says so"),
        pytest.param("interpretHealth", (TRAIN,), (True,), id="ready is healthy"),
        pytest.param("reflectStatus", (TRAIN,), (TRAIN["status"],), id="the whole status"),
        pytest.param("getDependencies", (TRAIN,),
            ([{"apiVersion": "v1", "kind": "ServiceAccount", "namespace": "ml", "name": "driver"}],),
            id="what the pods name"),
        pytest.param("aggregateStatus", (TRAIN, [{"clusterName": "a", "applied": True, "status": {"active": 4}}]),
            ({**TRAIN, "status": {"active": 4}},), id="the one status there is"),
        pytest.param("aggregateStatus", (IDLE, []), (IDLE,), id="no clusters, and nothing is counted"),
        pytest.param("aggregateStatus", (IDLE, None), (IDLE,), id="nil for no clusters, as Karmada gives it"),
        pytest.param("interpretHealth", (TRAIN, "more"), (True,), id="Lua ignores what is too much"),
        pytest.param("interpretHealth", ([],), (False,), id="an empty table is an empty object here"),
    ],
)  # fmt: skip
def test_answers(define: Define, name: str, arguments: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    assert ask(define(WORKER), name, *arguments) == expected


@rows(
    ("name", "arguments", "said"),
    [
        pytest.param("getReplicas", (), "bad argument #1 to getReplicas (table expected, got nil)", id="no object"),
        pytest.param("getReplicas", ([1],), "bad argument #1 to getReplicas (object expected, got list)", id="a list"),
        pytest.param("reviseReplica", (TRAIN, "5"), "bad argument #2 to reviseReplica (integer expected, got string)",
            id="text"),
        pytest.param("reviseReplica", (TRAIN, 1.5), "bad argument #2 to reviseReplica (integer expected, got number)",
            id="half"),
        pytest.param("reviseReplica", (TRAIN, -1), "must be a number from 0 up to 2147483647, but is -1", id="too few"),
        pytest.param("retain", (TRAIN,), "bad argument #2 to retain (table expected, got nil)", id="no member"),
        pytest.param("aggregateStatus", (TRAIN, [{"clusterName": 1}]),
            "bad argument #2 to aggregateStatus: item 1.clusterName must be a string, but is a number",
            id="an item that Karmada would not write"),
        pytest.param("getReplicas", (revised("many"),), "definition train", id="what the definition itself says"),
    ],
)  # fmt: skip
def test_errors_are_those_of_lua(define: Define, name: str, arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(LuaRunError) as caught:
        ask(define(WORKER), name, *arguments)
    assert said in str(caught.value)


def test_operations_annotation_does_not_limit_bindings(define: Define) -> None:
    """A script may build on an answer that is not to be given as it is."""
    assert ask(define(WORKER, operations="InterpretHealth"), "getReplicas", TRAIN) == (3, REQUIRES)


def test_without_a_karta_there_is_nobody_to_ask() -> None:
    definition = Definition.of_scripts(GVK("example.io", "v1", "Train"), Scripts([Script("Retain", "", "mine")]))
    with pytest.raises(LuaRunError, match="getReplicas has no answer: there is no Karta for"):
        ask(definition, "getReplicas", TRAIN)


def test_empty_tables_are_what_they_were_in_the_object_that_the_script_was_given(define: Define) -> None:
    """`resources: {}` comes back from Lua as a list, which no pod template has there."""

    def train(replicas: int, resources: Any) -> dict[str, Any]:
        pods = {"spec": {"containers": [{"name": "main", "image": "busybox", "resources": resources}]}}
        return {**TRAIN, "spec": {"replicas": replicas, "template": pods}}

    call = Call(Operation.INTERPRET_REPLICA, train(3, {}))
    assert own_functions(define(WORKER), call, Options())["getReplicas"](train(4, [])) == (4, None)
