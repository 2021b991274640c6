"""Schemas of what objects show, for kinds whose CRD is not known, and for parts that a CRD leaves open."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.openapi.schema import below, entries

_TYPES: Final = {bool: "boolean", int: "integer", float: "number", str: "string"}
_CONTAINER: Final = {"properties": {"name": {"type": "string"}, "image": {"type": "string"}}}


def completed(schema: Object, values: Iterable[JSON], field: str = "") -> Object:
    """Return a schema with the fields that values have in addition.

    >>> completed({}, [{"a": 1}, {"b": [{"c": "x"}]}])["properties"]["b"]["items"]["properties"]
    {'c': {'type': 'string'}}
    """
    present = [value for value in values if value is not None]
    objects = [value for value in present if isinstance(value, dict)]
    if objects and (inner := entries(schema, "additionalProperties")):
        inside = [value for obj in objects for value in obj.values()]
        return {**schema, "additionalProperties": completed(inner, inside)}
    if objects:
        names = dict.fromkeys([*(schema.get("properties") or {}), *(name for obj in objects for name in obj)])
        parts = {name: completed(below(schema, name), [obj.get(name) for obj in objects], name) for name in names}
        return {"type": "object", **schema, "properties": parts}
    if lists := [value for value in present if isinstance(value, list)]:
        items = _items(schema, [value for listed in lists for value in listed], field)
        return {"type": "array", **schema, "items": items}
    # A field that is a number in one object and a text in another one is neither.
    types = {_TYPES.get(type(value)) for value in present}
    return {"type": types.pop(), **schema} if len(types) == 1 else schema


def _items(schema: Object, values: Sequence[Any], field: str) -> Object:
    inner = entries(schema, "items") or {}
    # Templates over an operator's own container often leave out its image.
    is_open = field in ("containers", "initContainers") and not inner.get("properties")
    return completed(_CONTAINER if is_open and all(isinstance(value, dict) for value in values) else inner, values)
