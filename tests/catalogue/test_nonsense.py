"""A text that means nothing, where only counts and requests need it, costs no other answer."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object, Path, parts_of
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
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


def _texts(value: JSON, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, str):
        yield path
    for step, below in parts_of(value):
        yield from _texts(below, (*path, step))


def _call(operation: Operation, obj: Object) -> Call:
    return Call(operation, obj, observed=obj) if operation is Operation.RETAIN else Call(operation, obj)


def _with_nonsense(cases: Sequence[Case]) -> Iterator[tuple[Object, Path, Object]]:
    """Yield each object of the cases with nonsense at one place, once for each place in objects of the kind."""
    seen: set[tuple[object, ...]] = set()
    for obj in (case.call.object for case in cases):
        for path in _texts({field: obj.get(field) for field in ("metadata", "spec")}):
            place = tuple("[]" if isinstance(step, int) else step for step in path)
            if place not in seen and GENERATION not in path:
                seen.add(place)
                yield obj, path, edit.set_value(obj, path, NONSENSE)


@pytest.mark.sweep
def test_text_without_meaning_costs_no_other_answer(definition: Definition, cases: Sequence[Case]) -> None:
    operations = [each for each in OTHERS if definition.answers(each) and not definition.scripts.of(each)]
    failed = list[str]()
    for obj, path, changed in _with_nonsense(cases):
        for operation in operations:
            with suppress(InterpretationError):  # of an object that has no answer as it is
                interpret(knowing(definition, obj), _call(operation, obj))
                try:
                    interpret(knowing(definition, changed), _call(operation, changed))
                except InterpretationError as error:
                    failed.append(f"{operation} with {NONSENSE} at {path}: {error}")
    assert not failed, "\n".join(failed)
