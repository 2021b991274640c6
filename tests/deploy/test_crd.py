"""Whether the CRD is the one that the program makes of the model, and accepts the definitions that there are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.alias_generators import to_camel

from karta_interpreter.definitions.karta.model import ConditionsDefinition
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition
from tests.deploy import rendered
from tests.deploy.rendered import DEPLOY, ROOT

FILE = DEPLOY / "helm" / "karta-interpreter-control-plane" / "files" / "kartas.run.ai.yaml"
CRD = yaml.load(FILE.read_text(), yaml.CSafeLoader)
(VERSION,) = CRD["spec"]["versions"]
SCHEMA: dict[str, Any] = VERSION["schema"]["openAPIV3Schema"]
KARTAS = [*sorted((ROOT / "kartas").rglob("karta.yaml")), ROOT / "docs" / "examples" / "trainjob.yaml"]
TYPES = {"array": list, "boolean": bool, "integer": int, "object": dict, "string": str}
STRUCTURAL = {
    "additionalProperties",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxLength",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
}


def nodes(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield at, schema
    for name, field in schema.get("properties", {}).items():
        yield from nodes(field, f"{at}.{name}")
    for part in ("items", "additionalProperties"):
        if part in schema:
            yield from nodes(schema[part], f"{at}[]")


def complaints(value: Any, schema: dict[str, Any], at: str = "") -> list[str]:
    if not isinstance(value, TYPES[schema["type"]]):
        article = "an" if schema["type"][0] in "aeio" else "a"
        return [f"{at} is not {article} {schema['type']}"]
    found = []
    if isinstance(value, dict) and "properties" in schema:
        fields = schema["properties"]
        found += [f"{at}.{name} is missing" for name in schema.get("required", ()) if name not in value]
        found += [f"{at}.{name} is unknown" for name in value if name not in fields]
        for name in value.keys() & fields.keys():
            found += complaints(value[name], fields[name], f"{at}.{name}")
    if isinstance(value, list):
        found += [f"{at} is too short"] if len(value) < schema.get("minItems", 0) else []
        keys = schema.get("x-kubernetes-list-map-keys", ())
        identities = [tuple(item[key] for key in keys) for item in value] if keys else []
        found += [f"{at} repeats {one}" for one in sorted(set(identities)) if identities.count(one) > 1]
        for index, item in enumerate(value):
            found += complaints(item, schema["items"], f"{at}[{index}]")
    return found


def of_karta(document: dict[str, Any]) -> list[str]:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "metadata": {"type": "object"}}}
    return complaints(document, schema)


def test_chart_has_exported_crd() -> None:
    assert custom_resource_definition() == CRD, "stale, run make generate"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param("control-plane/base", id="kustomize: stale, run make generate"),
        pytest.param("the control plane", marks=rendered.needs_helm, id="helm"),
    ],
)
def test_crd_is_installed_and_kept_by_helm(case: str) -> None:
    found = rendered.of(case) if case in rendered.VALUES else rendered.committed(case)
    (installed,) = rendered.of_kind(found, "CustomResourceDefinition")
    kept = {"annotations": {"helm.sh/resource-policy": "keep"}} if case in rendered.VALUES else {}
    assert installed == {**CRD, "metadata": {**CRD["metadata"], **kept}}


@pytest.mark.parametrize("file", [pytest.param(file, id=str(file.relative_to(ROOT))) for file in KARTAS])
def test_definitions_are_accepted(file: Path) -> None:
    assert of_karta(yaml.load(file.read_text(), yaml.CSafeLoader)) == []


@pytest.mark.parametrize(
    ("root", "complaint"),
    [
        pytest.param({"ownerName": "b"}, "rootComponent.ownerName is unknown", id="a field that never was"),
        pytest.param({"kind": {"group": "", "version": "v1"}}, "rootComponent.kind.kind is missing", id="half a kind"),
        pytest.param(
            {"statusDefinition": {"statusMappings": {"running": {"byPhase": "Running"}}}},
            "rootComponent.statusDefinition.statusMappings.running is not an array",
            id="one matcher without its list",
        ),
        pytest.param(
            {"suspendDefinition": {"suspendActions": [], "resumeActions": [{"path": ".a", "value": "1"}]}},
            "rootComponent.suspendDefinition.suspendActions is too short",
            id="no action",
        ),
    ],
)
def test_crd_refuses_what_the_schema_refuses(root: dict[str, Any], complaint: str) -> None:
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {}}
    spec = {"structureDefinition": {"rootComponent": {"name": "a", **root}}}
    assert of_karta({**karta, "spec": spec}) == [f".spec.structureDefinition.{complaint}"]


def test_names_of_children_are_keys() -> None:
    children = SCHEMA["properties"]["spec"]["properties"]["structureDefinition"]["properties"]["childComponents"]
    assert complaints([{"name": "a"}, {"name": "a"}], children) == [" repeats ('a',)"]


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
