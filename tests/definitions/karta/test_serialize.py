import json
from dataclasses import replace

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.packing import pack, unpack
from karta_interpreter.languages.lua.script import Script, Scripts

SCRIPTS = Scripts(
    (
        Script("InterpretHealth", "function InterpretHealth(o)\n  return true\nend", "mine", "a.yaml", 7),
        Script("InterpretDependency", "function GetDependencies(o)\n return {} end", "b", "b.json", 1, (1, 1)),
        Script("InterpretDependency", "function GetDependencies(o) return {} end", "c"),
    )
)


def _moved(definition: Definition) -> Definition:
    return unpack(pack(definition))


@pytest.mark.parametrize("name", ["brew", "orchestra", "harbor"])
@pytest.mark.parametrize("scripts", [Scripts(), SCRIPTS], ids=["without scripts", "with scripts over it"])
def test_karta_survives_serialization(compiled: dict[str, Definition], name: str, scripts: Scripts) -> None:
    definition = compiled[name].overridden(scripts)
    assert replace(_moved(definition), findings=definition.findings) == definition


def test_scripts_of_an_annotation_arrive_as_scripts(compiled: dict[str, Definition]) -> None:
    script = "function InterpretHealth(o) return true end"
    annotations = {
        "karta-interpreter.io/lua": json.dumps({"healthInterpretation": {"luaScript": script}}),
        "karta-interpreter.io/health": "true",
    }
    definition = load_definition(
        {**compiled["brew"].manifest, "metadata": {"name": "brew", "annotations": annotations}}
    )
    moved = _moved(definition)
    (there,), (here,) = moved.scripts.of("InterpretHealth"), definition.scripts.of("InterpretHealth")
    assert there == here
    assert [*moved.manifest["metadata"]["annotations"]] == ["karta-interpreter.io/health"]
    assert _moved(moved) == moved


def test_definition_of_scripts_survives_serialization() -> None:
    definition = Definition.of_scripts(GVK("", "v1", "Pod"), SCRIPTS)
    assert _moved(definition) == definition
