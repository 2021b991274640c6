"""Whether the script of another interpreter counts as a definition does, on the examples of the kind.

Karmada divides what InterpretReplica counts by ReviseReplica. If they come from two interpreters, a revision to a
number has to be counted as this number. That is asked about every example, with its own number and with twice as many.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.k8s import GVK, Object
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.base.sandbox import deadline
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.registered.pairs import Agreement
from karta_interpreter.engine.suites.suite import load_suite
from karta_interpreter.languages.lua.script import Scripts

SECONDS: Final = 5.0
"""The longest that one comparison may take."""
MOST_EXAMPLES: Final = 3
"""The first cases of a suite are ordinary objects. Later ones are about limits, where two right scripts may differ."""

_SUITE: Final = Path("testdata", "interpretreplica.yaml")
_NO_EXAMPLE: Final = "this package has no example of the kind that both count"


class Example(NamedTuple):
    """An object of a kind, and the objects that it refers to."""

    object: Object
    references: tuple[Object, ...]


def examples_of(gvk: GVK) -> tuple[Example, ...]:
    """Return objects of a kind of the catalogue, from its suites."""
    path = catalogue_kinds().get(gvk)
    try:
        cases = load_suite(path.parent / _SUITE) if path else ()
    except SuiteError:  # there is none
        return ()
    return tuple(Example({**case.call.object, **gvk.type_meta}, case.references) for case in cases[:MOST_EXAMPLES])


def compare_counts(definition: Definition, half: Operation, scripts: Scripts, examples: Sequence[Example]) -> Agreement:
    """Return whether the script of one half of the counts goes with the other half of a definition.

    Scripts and bounded expressions run in other processes, and the calling thread waits for them.
    """
    theirs = definition.overridden(Scripts(script for script in scripts if script.operation == half))
    by_operation = {half: theirs, OTHER_HALF[half]: definition}
    agreement = Agreement(None, _NO_EXAMPLE)
    try:
        with deadline(SECONDS):
            for example in examples:
                found = _compare(definition, half, by_operation, example)
                if found.agrees is False:
                    return found
                agreement = found if found.agrees else agreement
    except TimeoutError as error:
        return Agreement(None, str(error))
    return agreement


def _compare(
    definition: Definition, half: Operation, by_operation: Mapping[Operation, Definition], example: Example
) -> Agreement:
    reader = Known.of(example.references)

    def count(interpreter: Definition, obj: Object) -> int:
        return interpret(interpreter, Call(Operation.INTERPRET_REPLICA, obj), reader=reader)["replica"]

    agreement = Agreement()
    try:
        number = count(definition, example.object)
        # A share of units is never more than the whole.
        other = number // 2 if definition.annotations.unit else 2 * number
        for wanted in filter(None, (number, other)):
            call = Call(Operation.REVISE_REPLICA, example.object, replicas=wanted)
            revised = interpret(by_operation[Operation.REVISE_REPLICA], call, reader=reader)["revised"]
            counted = count(by_operation[Operation.INTERPRET_REPLICA], revised)
            if counted == 0 and half is Operation.INTERPRET_REPLICA:
                continue  # to the script the object has no default for the field
            if counted != wanted:
                return Agreement(False, f"an example that is revised to {wanted} pods counts as {counted}")
            agreement = Agreement(True)
    except InterpretationError as error:
        # An example that one of them refuses says nothing. A script that takes too long may be slow only now.
        if error.code == HTTPStatus.GATEWAY_TIMEOUT:
            raise TimeoutError(str(error)) from error
    return agreement
