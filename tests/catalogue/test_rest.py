"""Health while an object rests, is to rest, or rests no longer: of each kind with a switch, with its suite's statuses.

Kinds whose switch is no action of the definition have their cases in `moments/`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.engine.evaluation.status import match_status, match_with_rest
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.interpret_health import healthy_statuses
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.engine.workload.writing import Direction, apply_actions
from tests.catalogue.entries import Entry, applies, of_all_kinds
from tests.catalogue.knowledge import knowing


def _has_switch(entry: Entry) -> bool:
    return entry.definition is not None and bool(entry.definition.suspend)


@of_all_kinds
@applies(_has_switch)
def test_object_at_rest_is_healthy_without_a_status(definition: Definition, cases: Sequence[Case]) -> None:
    resting = [_without_status(_switched(definition, obj, rests=True)) for obj in _objects(cases)]
    asked = [obj for obj in resting if _asks_for_rest(definition, obj)]
    assert asked
    assert [obj for obj in asked if not _is_healthy(definition, obj)] == []


@of_all_kinds
@applies(_has_switch)
def test_object_that_is_to_rest_is_healthy_until_it_has_ended(definition: Definition, cases: Sequence[Case]) -> None:
    wrong = []
    for obj in _objects(cases):
        resting = _switched(definition, obj, rests=True)
        if _asks_for_rest(definition, resting) and not _has_ended(definition, resting):
            wrong += [] if _is_healthy(definition, resting) else [resting]
    assert wrong == []


@of_all_kinds
@applies(_has_switch)
def test_status_of_rest_says_nothing_about_an_object_that_is_to_go_on(
    definition: Definition, cases: Sequence[Case]
) -> None:
    """A kind that runs to completion may wait until its controller has looked. Other reasons to rest are left out."""
    if Status.INITIALIZING in healthy_statuses(definition):
        return
    resting = [obj for obj in _objects(cases) if _asks_for_rest(definition, obj)]
    resumed = [_switched(definition, obj, rests=False) for obj in resting]
    assert [obj for obj in resumed if _is_suspended(definition, obj) and not _is_managed_elsewhere(obj)] == []


def _objects(cases: Sequence[Case]) -> Iterator[Object]:
    for case in cases:
        if case.call.operation is Operation.INTERPRET_HEALTH:
            yield case.call.object


def _switched(definition: Definition, obj: Object, *, rests: bool) -> Object:
    direction: Direction = "suspend" if rests else "resume"
    with suppress(InterpretationError):
        return apply_actions(definition.components, direction, obj)
    return obj


def _asks_for_rest(definition: Definition, obj: Object) -> bool:
    assert definition.status
    assert definition.status.rest
    return definition.status.rest.first(obj) is True


def _has_ended(definition: Definition, obj: Object) -> bool:
    if definition.annotations.health:  # it says itself which ends rest causes
        return False
    matched = match_status(definition, obj).matched
    return Status.FAILED in matched or Status.COMPLETED in matched


def _without_status(obj: Object) -> Object:
    return {field: value for field, value in obj.items() if field != "status"}


def _is_suspended(definition: Definition, obj: Object) -> bool:
    return Status.SUSPENDED in match_with_rest(definition, obj).matched


def _is_managed_elsewhere(obj: Object) -> bool:
    return "managedBy" in obj["spec"]


def _is_healthy(definition: Definition, obj: Object) -> bool:
    with suppress(InterpretationError):
        return bool(interpret(knowing(definition, obj), Call(Operation.INTERPRET_HEALTH, obj))["healthy"])
    return False
