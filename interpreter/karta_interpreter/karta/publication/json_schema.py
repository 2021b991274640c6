"""The JSON Schema of Kartas, for editors."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
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

    A field has the docstring below it as its description, a part that of its class. An absent field is left out
    rather than null, and a default is there only where it says something.
    """
    spec = Spec.model_json_schema(ref_template=REFERENCE + "{model}", schema_generator=_Generator)
    parts: Object = spec.pop("$defs")
    return {Spec.__name__: spec, **parts}


class _Generator(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        part = super().model_schema(schema)
        part.pop("title")
        part["description"] = _plain(part["description"].splitlines()[0])
        for field, text in _field_docstrings(schema["cls"]):
            part["properties"][to_camel(field)]["description"] = _plain(text)
        return part

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return super().default_schema(schema) if schema.get("default") else self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own signature has a private type
        del schema
        return False


def _field_docstrings(part: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The fields that have a docstring below them, which Python itself does not keep."""
    classes = [node for node in ast.parse(inspect.getsource(part)).body if isinstance(node, ast.ClassDef)]
    for statement, below in pairwise(classes[0].body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(field)), ast.Expr(ast.Constant(str(text))):
                yield field, inspect.cleandoc(text)


def _plain(text: str) -> str:
    return text.replace("``", "`")


_DIALECT = "http://json-schema.org/draft-07/schema#"
"""What the language servers of editors know best."""


def json_schema() -> Object:
    """What a file may say that holds a Karta or the older ResourceInterface, or the spec of one alone.

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
