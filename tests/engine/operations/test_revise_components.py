"""ReviseComponents writes all components of an object, or says which name or count is wrong."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.engine.operations import Call, Operation, TargetComponent
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.rows import rows

HEAD = component("head", ".spec.head.template", "1")
WORKER = component("worker", ".spec.worker.template", ".spec.worker.replicas // 1")
SPARE = component("spare", ".spec.spare.template", ".spec.spare.replicas // 1")


def train(**replicas: int) -> dict[str, Any]:
    parts: dict[str, Any] = {"head": {}, "worker": {}, "spare": {}} | {
        name: {"replicas": count} for name, count in replicas.items()
    }
    spec = {name: {"template": template(), **part} for name, part in parts.items()}
    return {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t"}, "spec": spec}


def call(obj: dict[str, Any], *components: tuple[str, int]) -> Call:
    return Call(Operation.REVISE_COMPONENTS, obj, components=[TargetComponent(*each) for each in components])


@rows(
    ("components", "expected"),
    [
        pytest.param(
            (("head", 1), ("worker", 3), ("spare", 1)), None, id="as they are, a default is not written either"
        ),
        pytest.param((("spare", 1), ("worker", 3), ("head", 1)), None, id="in another order"),
        pytest.param((("head", 1), ("worker", 0), ("spare", 1)), (0, 1), id="the default of another one is written"),
        pytest.param((("head", 1), ("worker", 5), ("spare", 2)), (5, 2), id="two"),
        pytest.param((("head", 1), ("worker", 9), ("spare", 1_000)), (9, 1_000), id="many"),
    ],
)
def test_components_are_written(
    define: Define, components: tuple[tuple[str, int], ...], expected: tuple[int, int] | None
) -> None:
    obj = train(worker=3)
    revised = ask(define(HEAD, WORKER, SPARE), call(obj, *components))["revised"]
    if expected is None:
        assert revised is obj
    else:
        assert (revised["spec"]["worker"]["replicas"], revised["spec"]["spare"]["replicas"]) == expected


@rows(
    ("components", "reason"),
    [
        pytest.param((("head", 1), ("worker", 3)), "spare has no count; name all components", id="missing"),
        pytest.param((), "head, worker, spare has no count", id="none at all"),
        pytest.param((("head", 1), ("worker", 3), ("spare", 1), ("wroker", 2)),
            'there is no component "wroker"; did you mean worker', id="unknown"),
        pytest.param((("head", 1), ("worker", 3), ("spare", 1), ("worker", 3)), "worker is named more than once",
            id="double"),
        pytest.param((("head", 2), ("worker", 3), ("spare", 1)), "set head to 2: no field sets its count", id="fixed"),
        pytest.param((("head", 1), ("worker", -1), ("spare", 1)), "a whole number from 0 to", id="negative"),
    ],
)  # fmt: skip
def test_wrong_components_are_refused(define: Define, components: tuple[tuple[str, int], ...], reason: str) -> None:
    with pytest.raises(InterpretationError, match=reason):
        ask(define(HEAD, WORKER, SPARE), call(train(worker=3), *components))


def test_undivided_workload_has_its_components(define: Define) -> None:
    definition, obj = define(HEAD, WORKER, SPARE, elastic="none"), train(worker=3)
    assert ask(definition, call(obj, ("head", 1), ("worker", 3), ("spare", 1)))["revised"] is obj
    with pytest.raises(InterpretationError, match="elastic: none"):
        ask(definition, call(obj, ("head", 1), ("worker", 4), ("spare", 1)))


@rows(
    ("replicas", "groups"),
    [
        pytest.param(0, 0, id="no group"),
        pytest.param(36, 9, id="nine groups"),
        pytest.param(4_000, 1_000, id="many groups"),
    ],
)
def test_groups_of_pods_are_written(define: Define, replicas: int, groups: int) -> None:
    obj = train(worker=3)
    obj["spec"]["worker"]["size"] = 4
    definition = define(HEAD, component("worker", ".spec.worker.template", ".spec.worker.replicas * .spec.worker.size"))
    revised = ask(definition, call(obj, ("head", 1), ("worker", replicas)))["revised"]
    assert (revised["spec"]["worker"]["replicas"], revised["spec"]["worker"]["size"]) == (groups, 4)
    with pytest.raises(InterpretationError, match="in steps of 4"):
        ask(definition, call(obj, ("head", 1), ("worker", replicas + 1)))


def test_call_without_components_is_a_bad_request(define: Define) -> None:
    with pytest.raises(InterpretationError, match="needs components") as caught:
        ask(define(HEAD, WORKER), Call(Operation.REVISE_COMPONENTS, train()))
    assert caught.value.code == 400
