import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter import __version__
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import Path as Place
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema
from tests.support.json_schema import Checker, nodes
from tests.support.rows import rows

ROOT = Path(__file__).parents[3]
CRD: dict[str, Any] = custom_resource_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
SCHEMA = json_schema(__version__)
CHECKER = Checker(SCHEMA["definitions"], takes_others=True)
SPEC = ("properties", "spec", "properties", "structureDefinition", "properties")
GOOD = sorted([*ROOT.glob("kartas/**/karta.yaml"), ROOT / "docs" / "examples" / "trainjob.yaml"])


@rows("file", [pytest.param(file, id=str(file.relative_to(ROOT))) for file in GOOD])
def test_schema_accepts_good_definitions(file: Path) -> None:
    assert list(CHECKER.complaints(yaml.safe_load(file.read_text()), SCHEMA)) == []


@rows(
    ("path", "value", "complaint"),
    [
        pytest.param(("kind",), "Carta", "enum", id="another kind of object"),
        pytest.param(("spac",), {}, "unknown", id="a field that is not there"),
        pytest.param(("spec", "structureDefinition", "rootComponent", "ownerName"), "a", "unknown", id="an old field"),
        pytest.param(("spec", "structureDefinition"), None, "is not an object", id="nothing where something belongs"),
        pytest.param(("metadata", "annotations", "karta-interpreter.io/elastic"), ["a"], "not a string", id="text"),
        pytest.param(
            ("metadata", "annotations", "karta-interpreter.io/elastik"), "a", "not a name", id="a misspelt annotation"
        ),
    ],
)
def test_schema_rejects_faults_that_validation_finds(path: Place, value: Any, complaint: str) -> None:
    good = yaml.safe_load(GOOD[-1].read_text())

    found = list(CHECKER.complaints(edit.set_value(good, path, value), SCHEMA))

    assert len(found) == 1
    assert complaint.replace("enum", "is none of") in found[0]


def test_annotations_of_others_have_any_name() -> None:
    others = {"example.com/elastik": "a", "karta-interpreter": "b", "karta-interpreterxio/c": "c"}
    good = edit.set_value(yaml.safe_load(GOOD[-1].read_text()), ("metadata", "annotations"), others)
    assert list(CHECKER.complaints(good, SCHEMA)) == []


def test_schema_id_ends_with_version() -> None:
    assert SCHEMA["$id"].endswith(f":{__version__}")


def test_schema_fields_have_descriptions() -> None:
    silent = [at for at, node in nodes(CRD["properties"]["spec"], "spec") if "[]" not in at[-2:] and not said(node)]
    assert silent == []


def test_descriptions_name_fields_as_a_karta_has_them() -> None:
    assert re.findall(r"`[a-z]+_[a-z_]+`", str(SCHEMA)) == []


def said(node: dict[str, Any]) -> bool:
    return str(node.get("description", "")).endswith((".", "!"))


def test_model_part_is_described_by_its_field() -> None:
    root = edit.get(CRD, (*SPEC, "rootComponent"))
    child = edit.get(CRD, (*SPEC, "childComponents", "items"))
    assert root["description"] == "The workload itself."
    assert child["description"] == "One component of a workload."
    assert root["properties"] == child["properties"]


@rows(
    ("path", "expected"),
    [
        pytest.param((*SPEC, "childComponents", "x-kubernetes-list-map-keys"), ["name"],
            id="names of children are unique"),
        pytest.param((*SPEC, "additionalChildKinds", "x-kubernetes-list-map-keys"), ["kind"],
            id="one entry for each kind"),
        pytest.param(
            (
                *(*SPEC, "rootComponent", "properties", "statusDefinition", "properties", "conditionsDefinition"),
                *("properties", "reasonFieldName", "default"),
            ),
            "reason",
            id="the API server fills in the names of a condition's fields",
        ),
        pytest.param((*(*SPEC, "rootComponent", "properties", "suspendDefinition", "properties", "suspendActions"),
            *("items", "properties", "value", "type")), "string", id="values of actions are JSON in a string"),
        pytest.param((*(*SPEC, "rootComponent", "properties", "podSelector", "properties", "componentTypeSelector"),
            *("x-kubernetes-validations", 1)),
            {"rule": "!has(self.value) || has(self.keyPath)", "message": "value requires keyPath"}, id="a rule in CEL"),
        pytest.param((*(*SPEC, "rootComponent", "properties", "statusDefinition", "properties", "statusMappings"),
            *("properties", "running", "x-kubernetes-list-type")), "atomic", id="matchers are replaced together"),
    ],
)  # fmt: skip
def test_crd_agrees_with_crd_of_karta(path: Place, expected: Any) -> None:
    assert edit.get(CRD, path) == expected


def test_schema_in_documentation_is_current() -> None:
    assert json.loads((ROOT / "docs" / "karta.schema.json").read_text()) == SCHEMA, "stale, run make generate"
