"""The JSON Schema of Kartas, for editors."""

from typing import Any

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotations import NAMES, PREFIX
from karta_interpreter.karta.model import Spec
from karta_interpreter.karta.publication.model_schema import REFERENCE, model_schema
from karta_interpreter.karta.schema import KARTA, RESOURCE_INTERFACE

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
    known = {PREFIX + name: text for name in NAMES}
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
