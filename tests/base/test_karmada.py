"""The tables of operations have each of them."""

from karta_interpreter.base.karmada import SLOTS, Operation, Results, by_operation
from karta_interpreter.cli import calls
from karta_interpreter.web.console import answers


def test_table_has_part_of_each_operation() -> None:
    parts = {operation.name.lower(): str(operation) for operation in Operation}

    assert by_operation(**parts) == {operation: str(operation) for operation in Operation}


def test_results_of_operations_are_typed() -> None:
    names = dict.fromkeys(name for slot in SLOTS.values() for name in slot.results)
    assert list(names) == list(Results.__annotations__)


def test_people_see_each_operation() -> None:
    assert sorted(calls.ORDER) == sorted(Operation)
    # The page has no field for the components of a cluster.
    assert {*answers.ORDER} == {*Operation} - {Operation.REVISE_COMPONENTS}
