"""Objects that a Go program wrote: structs without ``omitempty`` are there, and say nothing."""

from collections.abc import Sequence

import pytest
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import applies, of_all_kinds

_OPERATIONS = {
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.INTERPRET_DEPENDENCY,
    Operation.INTERPRET_HEALTH,
}

_NO_CONTAINERS = {"collectorOptions": "KubeRay reads an image and resources into a type of its own, with omitempty"}


def _as_go_writes(value: JSON) -> JSON:
    """Add what ``json.Marshal`` writes of a ``corev1.Container`` and of a ``PodTemplateSpec`` that are not whole."""
    if isinstance(value, list):
        return [_as_go_writes(item) for item in value]
    if not isinstance(value, dict):
        return value
    written = {key: item if key in _NO_CONTAINERS else _as_go_writes(item) for key, item in value.items()}
    if value.keys() & {"image", "resources"}:
        written = {"name": "", "resources": {}, **written}
    spec = value.get("spec")
    if isinstance(spec, dict) and "containers" in spec:
        metadata = value.get("metadata")
        written["metadata"] = {"creationTimestamp": None, **(metadata if isinstance(metadata, dict) else {})}
    return written


@pytest.mark.slow
@of_all_kinds
@applies(lambda entry: entry.definition is not None and any(case.call.operation in _OPERATIONS for case in entry.cases))
def test_zero_values_of_go_change_no_answer(definition: Definition, cases: Sequence[Case]) -> None:
    for case in cases:
        obj = case.call.object
        written = {**obj, "spec": _as_go_writes(obj.get("spec"))}
        if case.call.operation in _OPERATIONS and written != obj:
            assert _answer(definition, case, written) == _answer(definition, case, obj), case.name


def _answer(definition: Definition, case: Case, obj: Object) -> JSON:
    try:
        return dict(interpret(definition, structs.replace(case.call, object=obj), reader=Known.of(case.references)))
    except InterpretationError as error:
        return str(error)
