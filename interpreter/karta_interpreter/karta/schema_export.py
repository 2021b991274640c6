"""Exports the definition language: the JSON Schema for editors, the CustomResourceDefinition for API servers.

Both are made from the model and from the records of annotations. A Karta that fits may still be wrong: admission
reports all findings at once, and a rule here would hide them, because the API server checks the schema first. So there
are only the rules that Karta's own CRD has.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotation_records import ANNOTATIONS
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.model import Spec
from karta_interpreter.karta.schema import KARTA, RESOURCE_INTERFACE

REFERENCE = "#/definitions/"


def model_schema() -> Object:
    """Every part of the model by its class name; a part names another with ``{"$ref": REFERENCE + name}``.

    The description of a part is the first line of its docstring. An absent field is left out rather than null, and a
    default is there only where it differs from absence.
    """
    spec = Spec.model_json_schema(ref_template=REFERENCE + "{model}", schema_generator=_Generator)
    parts: Object = spec.pop("$defs")
    return {Spec.__name__: spec, **parts}


class _Generator(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        part = super().model_schema(schema)
        part.pop("title")
        part["description"] = part["description"].splitlines()[0].replace("``", "`")
        return part

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return super().default_schema(schema) if schema.get("default") else self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own signature has a private type
        del schema
        return False


_DIALECT = "http://json-schema.org/draft-07/schema#"
"""What the language servers of editors know best."""


def json_schema() -> Object:
    """The schema of a file with a Karta, the older ResourceInterface, or a bare spec.

    Unlike the CRD it does not know unknown fields, for that is where typing errors hide; and it knows the annotations.

    >>> json_schema()["required"]
    ['spec']
    """
    versions, kinds = zip(KARTA, RESOURCE_INTERFACE, strict=True)
    return {
        "$schema": _DIALECT,
        "title": "Karta",
        "description": "A Karta says where the pods, counts and statuses of a kind of workload are.",
        "type": "object",
        "required": ["spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"enum": [*versions]},
            "kind": {"enum": [*kinds]},
            "metadata": _metadata(),
            "spec": {"$ref": REFERENCE + Spec.__name__},
            "status": {"type": "object"},
        },
        "definitions": {name: _of_draft_7(part) for name, part in model_schema().items()},
    }


def _metadata() -> Object:
    text = {"type": "string"}
    known = {PREFIX + each.name: _of_draft_7(each.property_schema) for each in ANNOTATIONS}
    return {
        "type": "object",
        "properties": {
            "name": text,
            "labels": {"type": "object", "additionalProperties": text},
            "annotations": {"type": "object", "properties": known, "additionalProperties": text},
        },
    }


def _of_draft_7(schema: Any) -> Any:  # noqa: ANN401 - a schema holds JSON of any kind
    """The same without what only API servers know, and without anything beside a ``$ref``, which hides it."""
    if isinstance(schema, list):
        return [_of_draft_7(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    known = {key: _of_draft_7(value) for key, value in schema.items() if not key.startswith("x-kubernetes-")}
    if "$ref" not in known or len(known) == 1:
        return known
    return {**{key: value for key, value in known.items() if key != "$ref"}, "allOf": [{"$ref": known["$ref"]}]}


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
    """The same with references resolved inline; a list without another rule is replaced as a whole.

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
