"""Whether the CRD that `make generate` writes is structural, is installed, and accepts the definitions."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.alias_generators import to_camel

from karta_interpreter.definitions.karta.model import ConditionsDefinition
from tests.deploy import rendered
from tests.deploy.rendered import DEPLOY, ROOT
from tests.support.json_schema import Checker, nodes
from tests.support.rows import rows

FILE = DEPLOY / "helm" / "karta-interpreter-control-plane" / "files" / "kartas.run.ai.yaml"
CRD = yaml.load(FILE.read_text(), yaml.CSafeLoader)
(VERSION,) = CRD["spec"]["versions"]
SCHEMA: dict[str, Any] = VERSION["schema"]["openAPIV3Schema"]
KARTAS = [*sorted((ROOT / "kartas").rglob("karta.yaml")), ROOT / "docs" / "examples" / "trainjob.yaml"]
STRUCTURAL = {
    "additionalProperties",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
}


def of_karta(document: dict[str, Any]) -> list[str]:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "metadata": {"type": "object"}}}
    return list(Checker().complaints(document, schema))


@rendered.needs_helm
def test_crd_is_installed_and_kept_by_helm() -> None:
    installed = rendered.the(rendered.of("the control plane"), "CustomResourceDefinition")
    kept = {"annotations": {"helm.sh/resource-policy": "keep"}}
    assert installed == {**CRD, "metadata": {**CRD["metadata"], **kept}}


@rows("file", [pytest.param(file, id=str(file.relative_to(ROOT))) for file in KARTAS])
def test_definitions_are_accepted(file: Path) -> None:
    assert of_karta(yaml.load(file.read_text(), yaml.CSafeLoader)) == []


@rows(
    ("root", "complaint"),
    [
        pytest.param({"ownerName": "b"}, "rootComponent.ownerName is unknown", id="a field that never was"),
        pytest.param({"kind": {"group": "", "version": "v1"}}, "rootComponent.kind.kind is missing", id="half a kind"),
        pytest.param({"statusDefinition": {"statusMappings": {"running": {"byPhase": "Running"}}}},
            "rootComponent.statusDefinition.statusMappings.running: {'byPhase': 'Running'} is not an array",
            id="one matcher without its list"),
        pytest.param({"suspendDefinition": {"suspendActions": [], "resumeActions": [{"path": ".a", "value": "1"}]}},
            "rootComponent.suspendDefinition.suspendActions is too short", id="no action"),
    ],
)  # fmt: skip
def test_crd_refuses_what_the_schema_refuses(root: dict[str, Any], complaint: str) -> None:
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {}}
    spec = {"structureDefinition": {"rootComponent": {"name": "a", **root}}}
    assert of_karta({**karta, "spec": spec}) == [f".spec.structureDefinition.{complaint}"]


def test_names_of_children_are_keys() -> None:
    children = SCHEMA["properties"]["spec"]["properties"]["structureDefinition"]["properties"]["childComponents"]
    assert list(Checker().complaints([{"name": "a"}, {"name": "a"}], children)) == [" repeats ('a',)"]


def test_schema_is_structural() -> None:
    for at, node in nodes(SCHEMA):
        assert node.keys() <= STRUCTURAL, at
        assert "type" in node, at
        if node["type"] == "array":
            assert "x-kubernetes-list-type" in node, at
        for key in node.get("x-kubernetes-list-map-keys", ()):
            assert key in node["items"]["required"], at


def test_defaults_are_those_of_the_model() -> None:
    defaults = {at.rpartition(".")[2]: node["default"] for at, node in nodes(SCHEMA) if "default" in node}
    fields = ConditionsDefinition.model_fields.items()
    assert defaults == {to_camel(name): field.default for name, field in fields if not field.is_required()}


def test_names_and_columns() -> None:
    names = CRD["spec"]["names"]
    assert CRD["metadata"]["name"] == f"{names['plural']}.{CRD['spec']['group']}" == "kartas.run.ai"
    assert (CRD["spec"]["scope"], names["kind"], names["shortNames"]) == ("Cluster", "Karta", ["krt"])
    assert VERSION["subresources"] == {"status": {}}
    columns = {column["name"]: column["jsonPath"] for column in VERSION["additionalPrinterColumns"]}
    known = {re.sub(r"\[\]", "", at) for at, _ in nodes(SCHEMA)} | {".metadata.creationTimestamp"}
    assert [path for path in columns.values() if re.sub(r"\[\?.*?\]", "", path) not in known] == []
