"""Stages that follow each other: no number of pods follows from their order."""

from collections.abc import Sequence
from typing import Any

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import applies

_ORDER = ("dependsOn", "runAfter", "params")
_KINDS = {"JobFlow", "PipelineRun"}


@applies(lambda entry: entry.definition is not None and entry.definition.gvk.kind in _KINDS)
def test_number_of_pods_does_not_depend_on_order_of_stages(definition: Definition, cases: Sequence[Case]) -> None:
    changed = 0
    for case in cases:
        if case.call.operation is Operation.INTERPRET_REPLICA and not case.error:
            reader = Known.of(case.references)
            unordered = Call(Operation.INTERPRET_REPLICA, _unordered(case.call.object))
            answer = interpret(definition, unordered, reader=reader)
            assert answer == interpret(definition, case.call, reader=reader), case.name
            changed += unordered.object != case.call.object
    assert changed > 1, "stages wait in several cases"


def _unordered(value: Any) -> Any:
    """Return the value without what makes stages wait; tasks of ``finally`` become tasks like others."""
    if isinstance(value, list):
        return [_unordered(element) for element in value]
    if not isinstance(value, dict):
        return value
    fields = {name: _unordered(field) for name, field in value.items() if name not in _ORDER}
    last = fields.pop("finally", [])
    return {**fields, "tasks": [*fields["tasks"], *last]} if last else fields
