"""The model of a Karta's spec as JSON Schema, which both publications start from."""

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
from karta_interpreter.karta.model import Spec

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
