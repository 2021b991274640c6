"""Exports the definition language: the JSON Schema for editors, the CustomResourceDefinition for API servers.

Both are made from the model and from the records of annotations. A Karta that fits may still be wrong: admission
reports all findings at once, and a rule here would hide them, because the API server checks the schema first. So the
only rules are the ones in Karta's own CRD.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.identity import KARTA, RESOURCE_INTERFACE, VERSION, api_group
from karta_interpreter.definitions.karta.model import Spec
from karta_interpreter.definitions.karta.schema_types import LABEL, LONGEST_LABEL, LONGEST_NAME, NAME

REFERENCE = "#/definitions/"


def model_schema() -> Object:
    """Return every part of the model by its class name. A part names another with ``{"$ref": REFERENCE + name}``.

    The description of a part is the first line of its docstring. An absent field is left out rather than null. A
    default is included only if it differs from absence.
    """
    spec = Spec.model_json_schema(ref_template=REFERENCE + "{model}", schema_generator=_Generator)
    definitions: Object = spec.pop("$defs")
    return {Spec.__name__: spec, **definitions}


class _Generator(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        definition = super().model_schema(schema)
        definition.pop("title")
        definition["description"] = definition["description"].splitlines()[0].replace("``", "`")
        return definition

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return super().default_schema(schema) if schema.get("default") else self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own signature has a private type
        del schema
        return False


# Annotations of others may have any name. No pattern looks ahead, because validators in Go cannot read that.
_ANNOTATION_NAMES: Object = {
    "anyOf": [
        {"not": {"pattern": "^" + PREFIX.replace(".", r"\.")}},
        {"enum": [PREFIX + annotation.name for annotation in ANNOTATIONS]},
    ]
}

_DESCRIPTION = "A Karta says where the pods, counts and statuses of a kind of workload are."


def json_schema(version: str) -> Object:
    """Return the schema of a file with a Karta, the older ResourceInterface, or a bare spec.

    ``version`` is the version of this program. Unlike the CRD, the schema has the annotations, and rejects unknown
    fields, because typing errors hide there.

    >>> json_schema("0.1.0")["required"]
    ['spec']
    """
    versions, kinds = zip(KARTA, RESOURCE_INTERFACE, strict=True)
    properties = {PREFIX + annotation.name: _of_draft_7(annotation.property_schema) for annotation in ANNOTATIONS}
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    annotations = {**texts, "properties": properties, "propertyNames": _ANNOTATION_NAMES}
    label = {"type": "string", "maxLength": LONGEST_LABEL, "pattern": f"^{LABEL}$"}
    metadata = {
        "name": {"type": "string", "maxLength": LONGEST_NAME, "pattern": f"^{NAME}$"},
        "labels": {"type": "object", "additionalProperties": label},
        "annotations": annotations,
    }
    return {
        # The dialect that the language servers of editors know best.
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:karta-interpreter:karta-schema:{version}",
        "title": "Karta",
        "description": _DESCRIPTION,
        "type": "object",
        "required": ["spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"anyOf": [{"enum": [*versions]}, {"pattern": f"/{VERSION}$"}]},
            "kind": {"enum": [*kinds]},
            "metadata": {"type": "object", "properties": metadata},
            "spec": {"$ref": REFERENCE + Spec.__name__},
            "status": {"type": "object"},
        },
        "definitions": {name: _of_draft_7(definition) for name, definition in model_schema().items()},
    }


def _of_draft_7(schema: Any) -> Any:  # noqa: ANN401 - a schema holds JSON of any kind
    """Return the schema without keywords that only API servers know. No keyword stays next to a ``$ref`` and hidden."""
    if isinstance(schema, list):
        return [_of_draft_7(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    structural = {key: _of_draft_7(value) for key, value in schema.items() if not key.startswith("x-kubernetes-")}
    if "$ref" not in structural or len(structural) == 1:
        return structural
    return {
        **{key: value for key, value in structural.items() if key != "$ref"},
        "allOf": [{"$ref": structural["$ref"]}],
    }


_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_REASON = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
CONDITIONS: Object = {
    "description": "Validated: the definition is good. CRDExists: its kind is there. Ready: both.",
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": {"type": "string", "maxLength": 316, "pattern": _TYPE},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "reason": {"type": "string", "minLength": 1, "maxLength": 1024, "pattern": _REASON},
            "message": {"type": "string", "maxLength": 32768},
        },
    },
}
"""The schema of `metav1.Condition` in every CRD."""

_ROOT = ".spec.structureDefinition.rootComponent"
_COLUMNS = (
    ("Framework", "string", f"{_ROOT}.kind.kind"),
    ("Root Component", "string", f"{_ROOT}.name"),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def custom_resource_definition() -> Object:
    """Return the CRD of Kartas in the group of `karta_api_group`: structural, with the defaults and rules of Karta's.

    >>> custom_resource_definition()["metadata"]["name"]
    'kartas.run.ai'
    """
    schemas = model_schema()
    # A CRD cannot have a schema of ``metadata``, so the description of the whole lists the annotations.
    listed = "".join(
        f"\n- {PREFIX}{annotation.name}: {annotation.property_schema['description']}" for annotation in ANNOTATIONS
    )
    status_description = "What was found out about the definition."
    properties = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": _structural(schemas[Spec.__name__], schemas),
        "status": {"description": status_description, "type": "object", "properties": {"conditions": CONDITIONS}},
    }
    schema = {
        "description": f"{_DESCRIPTION} Its annotations:{listed}",
        "type": "object",
        "required": ["spec"],
        "properties": properties,
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": name, "type": kind, "jsonPath": path} for name, kind, path in _COLUMNS],
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"kind": "Karta", "listKind": "KartaList", "plural": "kartas", "singular": "karta", "shortNames": ["krt"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"kartas.{api_group()}"},
        "spec": {"group": api_group(), "scope": "Cluster", "names": names, "versions": [version]},
    }


def _structural(schema: Any, schemas: Object) -> Any:  # noqa: ANN401 - a schema holds JSON of any kind
    """Return the schema with references resolved inline. A list without another rule is replaced as a whole.

    The API server drops unknown fields: a structural schema cannot forbid them.
    """
    if isinstance(schema, list):
        return [_structural(element, schemas) for element in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        referred = schemas[schema["$ref"].removeprefix(REFERENCE)]
        schema = {**referred, **{key: value for key, value in schema.items() if key != "$ref"}}
    if schema.get("type") == "array":
        schema = {"x-kubernetes-list-type": "atomic", **schema}
    return {
        key: _structural(value, schemas)
        for key, value in schema.items()
        if (key, value) != ("additionalProperties", False)
    }
