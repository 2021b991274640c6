"""Numbers that are divided along with the replicas, and the exported scripts that divide them."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, LuaRunError
from karta_interpreter.definitions.karta.annotations import AnnotationQuery, Divided
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, TargetComponent, interpret
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.engine.operations.conftest import Define, component, template
from tests.support.rows import rows
from tests.support.scripts import answer

_HELD = "- {held: .spec.partition, of: .spec.replicas // 1}"
_MINIMUM = "- {minimum: .spec.quorum, of: .spec.replicas // 1}"
_CARS = "- {minimum: '.spec.cars[].quorum', of: '.spec.cars[].replicas'}"


def _train(define: Define, divided: str) -> Definition:
    return define(root=component("train", ".spec.template", ".spec.replicas // 1"), divided=divided)


def _object(**spec: Any) -> Any:
    metadata = {"name": "t"}
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": metadata,
        "spec": {**spec, "template": template()},
    }


def _revised(definition: Definition, obj: Any, replicas: int) -> Any:
    """Return the revised spec that a definition and its script agree about. None for an error of both."""
    call = Call(Operation.REVISE_REPLICA, obj, replicas=replicas)
    script = Script(call.operation, script_of(definition, call.operation), "train")
    try:
        expected = interpret(definition, call)
    except InterpretationError:
        with pytest.raises(LuaRunError):
            answer([script], object=obj, replicas=replicas)
        return None
    if replicas:  # a script does not end all pods
        assert answer([script], object=obj, replicas=replicas) == expected
    return expected["revised"]["spec"]


@rows(
    ("value", "whole", "part", "minimum", "held"),
    [
        pytest.param(9, 15, 10, 6, 6, id="karmada 3159: the larger cluster"),
        pytest.param(9, 15, 5, 3, 3, id="karmada 3159: the smaller cluster"),
        pytest.param(2, 8, 2, 1, 1, id="karmada 4258: a minimum of 2 in four clusters"),
        pytest.param(1, 3, 1, 1, 1, id="a minimum of 1 stays one, and the only pod is held back"),
        pytest.param(14, 15, 10, 10, 9, id="a roll-out that has begun begins in every cluster with several pods"),
        pytest.param(14, 15, 5, 5, 4, id="and in the smaller one"),
        pytest.param(14, 15, 1, 1, 1, id="but a single pod waits, or the roll-out went further than it may"),
        pytest.param(15, 15, 5, 5, 5, id="all"),
        pytest.param(20, 15, 3, 4, 4, id="more than all holds back all"),
        pytest.param(6, 6, 0, 0, 0, id="no pods"),
        pytest.param(1, 1, 3, 3, 3, id="scaled up"),
    ],
)
def test_share_is_rounded_so_that_no_cluster_is_stuck(
    define: Define, value: int, whole: int, part: int, minimum: int, held: int
) -> None:
    assert _revised(_train(define, _MINIMUM), _object(quorum=value, replicas=whole), part)["quorum"] == minimum
    assert _revised(_train(define, _HELD), _object(partition=value, replicas=whole), part)["partition"] == held


@pytest.mark.parametrize("is_held", [False, True])
def test_shares_keep_their_bounds(is_held: bool) -> None:
    rule = Divided(AnnotationQuery.compile(".v"), AnnotationQuery.compile(".n"), is_held)
    for whole in range(1, 9):
        for value in range(1, whole + 1):
            shares = [rule.share(value, whole, part) for part in range(whole + 1)]
            assert all(share <= part for part, share in enumerate(shares)), "no gang waits for pods that cannot be"
            assert all(shares[1:]), "a minimum stays one"
            assert shares[whole] == value
            if is_held and value < whole:
                assert all(share < part for part, share in enumerate(shares) if part > 1), "the roll-out begins"


@rows(
    ("spec", "replicas", "partition"),
    [
        pytest.param({"partition": "60%", "replicas": 15}, 10, "60%", id="a percentage follows by itself"),
        pytest.param({"partition": 0, "replicas": 15}, 10, 0, id="nothing is held back"),
        pytest.param({"replicas": 15}, 10, None, id="unset"),
        pytest.param({"partition": 9, "replicas": 15}, 15, 9, id="not divided"),
        pytest.param({"partition": 1}, 4, 4, id="of the default of an unset count"),
        pytest.param({"partition": 9, "replicas": 0}, 4, 9, id="of no replicas"),
    ],
)
def test_numbers_that_are_not_divided_stay(define: Define, spec: Any, replicas: int, partition: Any) -> None:
    assert _revised(_train(define, _HELD), _object(**spec), replicas).get("partition") == partition


def test_numbers_of_instances_follow_their_own_counts(define: Define) -> None:
    cars = {
        **component("car", ".spec.cars[].template", ".spec.cars[].replicas"),
        "instanceIdPath": ".spec.cars[].name",
        "podSelector": {
            "componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": "car"},
            "componentInstanceSelector": {"idPath": ".metadata.labels.car"},
        },
    }
    obj = _object(
        cars=[
            {"name": "a", "replicas": 6, "quorum": 3, "template": template()},
            {"name": "b", "replicas": 2, "template": template()},
        ]
    )
    found = _revised(define(cars, divided=_CARS), obj, 4)["cars"]
    assert [(car["replicas"], car.get("quorum")) for car in found] == [(3, 2), (1, None)]


def test_numbers_without_their_own_count_are_an_error(define: Define) -> None:
    definition = _train(define, "- {minimum: .spec.quorum, of: '.spec.replicas, 1'}")
    assert _revised(definition, _object(quorum=2, replicas=4), 2) is None


def test_components_take_their_numbers_along(define: Define) -> None:
    components = (TargetComponent("train", 10),)
    call = Call(Operation.REVISE_COMPONENTS, _object(partition=9, replicas=15), components=components)
    assert interpret(_train(define, _HELD), call)["revised"]["spec"]["partition"] == 6


def test_share_is_explained(define: Define) -> None:
    call = Call(Operation.REVISE_REPLICA, _object(partition=9, replicas=15), replicas=10)
    (fact,) = [fact for fact in explain(_train(define, _HELD), call).facts if fact.rule == "divided"]
    assert (fact.note, fact.value, fact.answer) == ("9 of 15 are 6 of 10", 6, "/revised/spec/partition")
