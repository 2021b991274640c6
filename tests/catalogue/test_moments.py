"""Health between two reports of an operator, by the Karta and by its exported script: see moments/README.md."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.catalogue.knowledge import knowing
from tests.support.both_ways import ask
from tests.support.rows import rows
from tests.support.scripts import answer

_FAMILIES = sorted((Path(__file__).parent / "moments").glob("*.yaml"))


def _moments() -> Iterator[Any]:
    for path in _FAMILIES:
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            definition = _definitions()[GVK.of(row["object"])]
            yield pytest.param(definition, row["object"], row["right"], id=f"{path.stem}: {row['case']}")


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
