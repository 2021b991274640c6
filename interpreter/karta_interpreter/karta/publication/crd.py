"""The CustomResourceDefinition of Kartas.

Which Karta makes sense is for admission to tell, with all findings at once: a rule here would hide them, because the
API server checks the schema first. So there are only the rules that Karta's own CRD has.
"""

from typing import Any

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotation_records import ANNOTATIONS
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.model import Spec
from karta_interpreter.karta.publication.json_schema import REFERENCE, model_schema

CONDITIONS: Object = {
    "description": "Validated: the definition is good. CRDExists: its kind is there. Ready: both.",
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": {
                "type": "string",
                "maxLength": 316,
                "pattern": (
                    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
                ),
            },
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "reason": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1024,
                "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            },
            "message": {"type": "string", "maxLength": 32768},
        },
    },
}
"""What `metav1.Condition` is in every CRD."""

_ROOT = ".spec.structureDefinition.rootComponent"
_COLUMNS = (
    ("Framework", "string", f"{_ROOT}.kind.kind"),
    ("Root Component", "string", f"{_ROOT}.name"),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def custom_resource_definition() -> Object:
    """The CRD `kartas.run.ai`: structural, with the defaults and rules of Karta's own.

    >>> custom_resource_definition()["metadata"]["name"]
    'kartas.run.ai'
    """
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "kartas.run.ai"},
        "spec": {
            "group": "run.ai",
            "scope": "Cluster",
            "names": {
                "kind": "Karta",
                "listKind": "KartaList",
                "plural": "kartas",
                "singular": "karta",
                "shortNames": ["krt"],
            },
            "versions": [_version()],
        },
    }


def _version() -> Object:
    columns = [{"name": name, "type": type_, "jsonPath": path} for name, type_, path in _COLUMNS]
    return {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": _schema()},
    }


def _schema() -> Object:
    parts = model_schema()
    return {
        "description": _description(),
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _structural(parts[Spec.__name__], parts),
            "status": {
                "description": "What was found out about the definition.",
                "type": "object",
                "properties": {"conditions": CONDITIONS},
            },
        },
    }


def _description() -> str:
    """Return the description of the whole, which has the annotations: a CRD cannot have a schema of ``metadata``."""
    listed = "".join(f"\n- {PREFIX}{each.name}: {each.property_schema['description']}" for each in ANNOTATIONS)
    return f"A Karta says where the pods, counts and statuses of a kind of workload are. Its annotations:{listed}"


def _structural(schema: Any, parts: Object) -> Any:  # noqa: ANN401 - a schema holds JSON of any kind
    """The same with every part in its place; a list that says no other is replaced as a whole.

    Unknown fields are for the API server to drop: a structural schema cannot forbid them.
    """
    if isinstance(schema, list):
        return [_structural(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        part = parts[schema["$ref"].removeprefix(REFERENCE)]
        schema = {**part, **{key: value for key, value in schema.items() if key != "$ref"}}
    if schema.get("type") == "array":
        schema = {"x-kubernetes-list-type": "atomic", **schema}
    return {
        key: _structural(value, parts)
        for key, value in schema.items()
        if (key, value) != ("additionalProperties", False)
    }
