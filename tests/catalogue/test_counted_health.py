"""Health by the counters of a status: with words that nobody knows, and when fewer pods are ready.

A counter of ready pods has one of the names below and stands in a status of the suites.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, Path, get, set_value
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.engine.evaluation.status import match_with_rest
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import moments_of

_READY = re.compile(r"(?i)^((updated)?(ready|available)\w*(replicas|instances|nodes)|numberAvailable)$")
_ALWAYS_THERE = {"NIMService", "Notebook"}  # nimservice_types.go 203, notebook_types.go: without omitempty
_NESTED_GENERATIONS = {"Sandbox", "Milvus"}  # of conditions and Deployments: no member's generation is the template's
_OF_THE_WHOLE = {"Elasticsearch", "Notebook"}  # a word beside the counters says that they serve: health, containerState
_SETTLED = {Status.COMPLETED, Status.FAILED, Status.SUSPENDED}


@of_all_kinds
@applies(answers(Operation.INTERPRET_HEALTH))
def test_fewer_ready_pods_never_make_an_object_healthy(definition: Definition, cases: Sequence[Case]) -> None:
    """What has ended or rests has none, which is as it should be."""
    healed = []
    for obj in _objects(definition, cases):
        if _health(definition, obj) is not False or _is_settled(definition, obj):
            continue
        for path in _counters(obj.get("status"), ("status",)):
            for fewer in {0, get(obj, path) - 1}:
                changed = set_value(obj, path, fewer)
                if _health(definition, changed) and not _is_settled(definition, changed):
                    healed.append((path, fewer, obj))
    assert healed == []


@of_all_kinds
@applies(answers(Operation.INTERPRET_HEALTH))
def test_left_out_counter_of_ready_pods_is_none(definition: Definition, cases: Sequence[Case]) -> None:
    """Go leaves out a 0 where the API says `omitempty`. Without a counter that is always there, an error is right."""
    if definition.gvk.kind in _ALWAYS_THERE:
        return
    different = []
    for obj in _objects(definition, cases):
        for path in _counters(obj.get("status"), ("status",)):
            none, absent = (_health(definition, changed) for changed in (set_value(obj, path, 0), _without(obj, path)))
            if none is not absent:
                different.append((path, none, absent, obj))
    assert different == []


@of_all_kinds
@applies(answers(Operation.INTERPRET_HEALTH))
def test_unknown_words_leave_the_answer_to_the_counters(definition: Definition, cases: Sequence[Case]) -> None:
    """What is healthy by words has no ready pods then. Where there are no counters, an error moves nothing."""
    wrong = []
    for obj in _objects(definition, cases):
        counters = [*_counters(obj.get("status"), ("status",))]
        if definition.annotations.health or not counters or _is_settled(definition, obj):
            continue
        unworded = _unworded(definition, obj)
        for path in counters:
            unworded = set_value(unworded, path, 0)
        if _health(definition, unworded) and definition.gvk.kind not in _OF_THE_WHOLE:
            wrong.append(unworded)
    assert wrong == []


@of_all_kinds
@applies(answers(Operation.INTERPRET_HEALTH))
def test_health_of_an_object_is_that_of_its_interpreted_status(definition: Definition, cases: Sequence[Case]) -> None:
    different = []
    for obj in _objects(definition, cases):
        status = interpret(definition, Call(Operation.INTERPRET_STATUS, obj))["status"]
        if _health(definition, {**obj, "status": status}) != _health(definition, obj):
            different.append(obj)
    assert different == []


@of_all_kinds
@applies(answers(Operation.INTERPRET_HEALTH, Operation.AGGREGATE_STATUS))
def test_health_of_a_template_is_that_of_its_only_member(definition: Definition, cases: Sequence[Case]) -> None:
    """The template has the status of the last report. GitOps tools read it."""
    if definition.gvk.kind in _NESTED_GENERATIONS:
        return
    different = []
    for obj in _objects(definition, cases):
        if not obj.get("status"):
            continue
        known = knowing(definition, obj)
        status = interpret(known, Call(Operation.INTERPRET_STATUS, obj))["status"]
        merged = Call(Operation.AGGREGATE_STATUS, obj, items=(StatusItem("member1", status),))
        if _health(definition, interpret(known, merged)["aggregatedStatus"]) != _health(definition, obj):
            different.append(obj)
    assert different == []


def _objects(definition: Definition, cases: Sequence[Case]) -> list[Object]:
    asked = [case.call.object for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    return [*asked, *moments_of(definition.gvk)]


def _health(definition: Definition, obj: Object) -> bool | None:
    with suppress(InterpretationError):
        return bool(interpret(knowing(definition, obj), Call(Operation.INTERPRET_HEALTH, obj))["healthy"])
    return None


def _without(obj: Object, path: Path) -> Object:
    parents, name = path[:-1], path[-1]
    counters = get(obj, parents)
    return set_value(obj, parents, {field: value for field, value in counters.items() if field != name})


def _unworded(definition: Definition, obj: Object) -> Object:
    """Return an object whose phase and types of conditions nobody knows."""
    rules = definition.status
    assert rules
    phases = rules.phase.known_paths(obj) if rules.phase else []
    for path in filter(None, phases):
        obj = set_value(obj, path, "MadeUp") if get(obj, path) else obj
    for path in filter(None, rules.conditions.query.known_paths(obj) if rules.conditions else []):
        unknown = [{**condition, "type": f"MadeUp{number}"} for number, condition in enumerate(get(obj, path) or ())]
        obj = set_value(obj, path, unknown) if unknown else obj
    return obj


def _is_settled(definition: Definition, obj: Object) -> bool:
    return not _SETTLED.isdisjoint(match_with_rest(definition, obj).matched)


def _counters(value: JSON, path: Path) -> Iterator[Path]:
    parts: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in parts:
        if isinstance(name, str) and _READY.match(name) and type(below) is int and below > 0:
            yield (*path, name)
        yield from _counters(below, (*path, name))
