"""A change of the unit: replicas that were pods are units of several pods, or the other way round."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.operations import Call, Operation, Options, units_and_pods
from karta_interpreter.engine.suites import Difference

_DIVIDING: Final = (Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA)


def size_of_unit(definition: Definition, obj: Object, options: Options) -> tuple[int, int]:
    """Return the number of units of an object, and of pods in each. Both are 0 if the unit is the pod, or unknown."""
    unit = options.counting(definition).annotations.unit
    with suppress(InterpretationError):
        if unit is not None:
            number, parts = units_and_pods(definition, unit, obj)
            return number, sum(pods for _, pods in parts)
    return 0, 0


def unit_change(
    before: Interpreter | None,
    after: Interpreter | None,
    call: Call,
    options: Options,
    changed: Sequence[Difference],
) -> str:
    """Return that two answers count in other units, or "". Without ``before`` its answer shows what it counted."""
    if after is None or call.operation not in _DIVIDING:
        return ""
    definition = options.counting(after.entry.definition)
    unit = definition.annotations.unit
    if before is not None:
        earlier = options.counting(before.entry.definition).annotations.unit
        is_same = (earlier and earlier.text) == (unit and unit.text)
    else:
        is_same = unit is None or not _counted_pods(definition, call, options, changed)
    if is_same:
        return ""
    return f"replicas are units (`{unit.text}`) instead of pods" if unit else "replicas are pods instead of units"


def _counted_pods(definition: Definition, call: Call, options: Options, changed: Sequence[Difference]) -> bool:
    number, pods = size_of_unit(definition, call.object, options)
    if call.operation is Operation.REVISE_REPLICA:
        return call.wanted > number
    return any(path == ("replica",) and earlier == number * pods for path, earlier, _ in changed)
