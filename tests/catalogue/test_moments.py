"""Health between two reports of an operator, by the Karta and by its exported script: see moments/README.md."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import moments
from tests.support.both_ways import ask
from tests.support.rows import rows
from tests.support.scripts import answer


def _moments() -> Iterator[Any]:
    for name, row in moments().items():
        yield pytest.param(_definitions()[GVK.of(row["object"])], row["object"], row["right"], id=name)


@cache
def _definitions() -> dict[GVK | None, Definition]:
    return {entry.definition.gvk: entry.definition for entry in entries() if entry.definition}


@rows(("definition", "obj", "right"), _moments())
def test_moment_has_its_answer(definition: Definition, obj: Object, right: str) -> None:
    try:
        healthy = ask(knowing(definition, obj), Call(Operation.INTERPRET_HEALTH, obj))["healthy"]
    except InterpreterError:
        assert right == "error"
        return
    assert ("healthy" if healthy else "unhealthy") == right


@rows(("definition", "obj", "right"), _moments())
def test_script_has_the_answer_of_each_moment(definition: Definition, obj: Object, right: str) -> None:
    try:
        healthy = answer([_script(definition.gvk)], object=obj)["healthy"]
    except InterpreterError:
        assert right == "error"
        return
    assert ("healthy" if healthy else "unhealthy") == right


@cache
def _script(gvk: GVK) -> Script:
    return Script("InterpretHealth", script_of(_definitions()[gvk], Operation.INTERPRET_HEALTH), "moments")
