"""What must hold for any object of a kind, tried on every object of its suites."""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import pytest

from interpreter.errors import InterpretationError
from interpreter.k8s.values import JSON, Object
from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation, StatusItem, interpret
from interpreter.suites import Case

_COUNTS = range(13)
_LONGEST_NAME = 32
_BOOKKEEPING = {"generation", "resourceTemplateGeneration", "observedGeneration"}


def _objects(cases: Sequence[Case]) -> Iterator[Object]:
    for case in cases:
        yield case.call.object
        if case.call.observed is not None:
            yield case.call.observed


def _ask(definition: Definition, operation: Operation, obj: Object, replicas: int | None = None) -> JSON:
    """The only, or the first, result of an operation; None where it has no answer."""
    try:
        return next(iter(interpret(definition, Call(operation, obj, replicas=replicas)).values()))
    except InterpretationError:
        return None


def test_a_revised_object_has_the_number_of_pods_asked_for(definition: Definition, cases: Sequence[Case]) -> None:
    asked = [(obj, count) for obj in _objects(cases) for count in _COUNTS]
    revised = [(_ask(definition, Operation.REVISE_REPLICA, obj, count), count) for obj, count in asked]
    answered = [(obj, count) for obj, count in revised if obj is not None]
    assert answered
    assert all(_ask(definition, Operation.INTERPRET_REPLICA, obj) == count for obj, count in answered)


def test_revising_to_todays_number_changes_nothing(definition: Definition, cases: Sequence[Case]) -> None:
    for obj in _objects(cases):
        today = _ask(definition, Operation.INTERPRET_REPLICA, obj)
        if today is not None:
            assert _ask(definition, Operation.REVISE_REPLICA, obj, today) == obj


def test_retaining_twice_is_retaining_once(definition: Definition, cases: Sequence[Case]) -> None:
    objects = [obj for obj in _objects(cases) if _ask(definition, Operation.INTERPRET_REPLICA, obj) is not None]
    for index, desired in enumerate(objects):
        for observed in (desired, objects[index - 1], objects[index - 2]):
            once = _retained(definition, desired, observed)
            assert _retained(definition, once, observed) == once


def test_nothing_is_retained_of_an_object_that_is_as_desired(definition: Definition, cases: Sequence[Case]) -> None:
    for obj in _objects(cases):
        if _ask(definition, Operation.INTERPRET_REPLICA, obj) is not None:
            assert _retained(definition, obj, obj) == obj


def _retained(definition: Definition, desired: Object, observed: Object) -> JSON:
    return interpret(definition, Call(Operation.RETAIN, desired, observed=observed))["retained"]


def test_components_are_named_apart_and_add_up(definition: Definition, cases: Sequence[Case]) -> None:
    for obj in _objects(cases):
        components = _ask(definition, Operation.INTERPRET_COMPONENT, obj)
        if components is None:
            continue
        names = [component["name"] for component in components]
        assert len(set(names)) == len(names)
        assert all(0 < len(name) <= _LONGEST_NAME for name in names)
        total = sum(component["replicas"] for component in components)
        assert total == _ask(definition, Operation.INTERPRET_REPLICA, obj)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="an empty spec"),
        pytest.param({"spec": None}, id="a spec of null"),
        pytest.param({"spec": {}, "status": None}, id="a status of null"),
    ],
)
def test_an_object_that_says_nothing_has_no_pods(definition: Definition, spec: Object) -> None:
    bare = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": {"name": "a"}, **spec}
    assert _ask(definition, Operation.INTERPRET_COMPONENT, bare) == []
    assert _ask(definition, Operation.INTERPRET_REPLICA, bare) == 0
    assert _ask(definition, Operation.INTERPRET_STATUS, bare) == {}
    assert _ask(definition, Operation.INTERPRET_HEALTH, bare) is False
    assert _ask(definition, Operation.INTERPRET_DEPENDENCY, bare) == []
    assert _retained(definition, bare, bare) == bare


def test_the_status_of_one_cluster_is_taken_as_it_is(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        template = {key: value for key, value in case.call.object.items() if key != "status"}
        for item in case.call.items:
            merged = _aggregated(definition, template, [item]).get("status", {})
            assert _plain(merged) == _plain(item.status or {})


def test_the_order_of_clusters_is_no_matter(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        forth = _aggregated(definition, case.call.object, case.call.items)
        assert _aggregated(definition, case.call.object, case.call.items[::-1]) == forth


def _aggregated(definition: Definition, template: Object, items: Sequence[StatusItem]) -> JSON:
    call = Call(Operation.AGGREGATE_STATUS, template, items=tuple(items))
    return interpret(definition, call)["aggregatedStatus"]


def _plain(status: Object) -> Object:
    return {key: value for key, value in status.items() if key not in _BOOKKEEPING}


def test_no_answer_changes_the_question(definition: Definition, case: Case) -> None:
    before = deepcopy(case.call)
    try:
        interpret(definition, case.call)
    except InterpretationError:
        assert case.error is not None
    assert case.call == before
