"""Exported scripts answer InterpretHealth of each word that an operator can write as its Karta does."""

from collections.abc import Iterator
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.catalogue.tables import questions
from tests.support.rows import rows
from tests.support.scripts import answer


def _asked() -> Iterator[Any]:
    for entry in entries():
        assert entry.definition
        asked = [*questions(entry.definition.gvk)]
        if asked:
            script = Script("InterpretHealth", script_of(entry.definition, Operation.INTERPRET_HEALTH), "words")
            for name, obj, expected in asked:
                yield pytest.param(script, obj, expected, id=f"{entry.definition.gvk}: {name}")


@pytest.mark.slow
@rows(("script", "obj", "expected"), _asked())
def test_script_has_the_answer_of_each_word(script: Script, obj: Object, expected: str) -> None:
    try:
        found = "healthy" if answer([script], object=obj)["healthy"] else "unhealthy"
    except InterpreterError:
        found = "unknown"
    assert found == expected
