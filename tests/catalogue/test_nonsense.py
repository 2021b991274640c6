"""A text that means nothing, where only counts and requests need it, costs no other answer, and no dependency at all.

Some CRDs check no types below a field, and that of a Workflow none. Rule: InterpretDependency names what it can.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object, Path, parts_of
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies
from tests.catalogue.knowledge import knowing

NONSENSE: Final = "nonsense!"
OTHERS: Final = (
    Operation.INTERPRET_DEPENDENCY,
    Operation.RETAIN,
    Operation.INTERPRET_STATUS,
    Operation.INTERPRET_HEALTH,
)
GENERATION: Final = "resourcetemplate.karmada.io/generation"
"""An annotation of Karmada itself, which its own interpreter does not take as another text either."""


WRONG: Final[Sequence[JSON]] = (NONSENSE, 7, None, [NONSENSE], [{NONSENSE: 7}], {NONSENSE: NONSENSE})
"""Values of each type, of which most fields take one."""


def _texts(value: JSON) -> Iterator[Path]:
    return (path for path in _places(value) if isinstance(edit.get(value, path), str))


def _places(value: JSON, path: Path = ()) -> Iterator[Path]:
    yield path
    for step, below in parts_of(value):
        yield from _places(below, (*path, step))


def _call(operation: Operation, obj: Object) -> Call:
    return Call(operation, obj, observed=obj) if operation is Operation.RETAIN else Call(operation, obj)


def _with_wrong(
    cases: Sequence[Case], places: Callable[[Object], Iterator[Path]], values: Sequence[JSON]
) -> Iterator[tuple[Object, Path, Object]]:
    """Yield each object of the cases with each value at one place, once for each place in objects of the kind."""
    seen: set[tuple[object, ...]] = set()
    for obj in (case.call.object for case in cases):
        for path in places({field: obj.get(field) for field in ("metadata", "spec")}):
            place = tuple("[]" if isinstance(step, int) else step for step in path)
            if place not in seen and place and GENERATION not in path:
                seen.add(place)
                yield from ((obj, path, edit.set_value(obj, path, value)) for value in values)


@pytest.mark.slow
@pytest.mark.sweep
def test_text_without_meaning_costs_no_other_answer(definition: Definition, cases: Sequence[Case]) -> None:
    operations = [each for each in OTHERS if definition.answers(each) and not definition.scripts.of(each)]
    failed = list[str]()
    for obj, path, changed in _with_wrong(cases, _texts, [NONSENSE]):
        for operation in operations:
            with suppress(InterpretationError):  # of an object that has no answer as it is
                interpret(knowing(definition, obj), _call(operation, obj))
                try:
                    interpret(knowing(definition, changed), _call(operation, changed))
                except InterpretationError as error:
                    failed.append(f"{operation} with {NONSENSE} at {path}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.slow
@pytest.mark.sweep
@applies(answers(Operation.INTERPRET_DEPENDENCY, scripted=False))
def test_value_of_another_type_costs_no_answer_about_dependencies(
    definition: Definition, cases: Sequence[Case]
) -> None:
    failed = list[str]()
    for _, path, changed in _with_wrong(cases, _places, WRONG):
        try:
            interpret(knowing(definition, changed), Call(Operation.INTERPRET_DEPENDENCY, changed))
        except InterpretationError as error:
            failed.append(f"{edit.get(changed, path)} at {path}: {error}")
    assert not failed, "\n".join(failed)


@applies(lambda entry: entry.definition is not None and entry.definition.gvk.kind == "Workflow")
def test_parameters_that_are_no_list_cost_only_what_they_name(definition: Definition) -> None:
    spec = {
        "serviceAccountName": "runner",
        "imagePullSecrets": [{"name": "pull"}],
        "arguments": {"parameters": NONSENSE, "artifacts": [{"name": "in", "s3": {"accessKeySecret": {"name": "s3"}}}]},
        "templates": [
            {"name": "main", "inputs": {"parameters": [NONSENSE]}, "volumes": [{"secret": {"secretName": "tls"}}]}
        ],
    }
    workflow = {**definition.gvk.type_meta, "metadata": {"name": "w", "namespace": "ci"}, "spec": spec}
    found = interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, workflow))["dependencies"]
    assert {one["name"] for one in found} == {"runner", "pull", "s3", "tls"}
