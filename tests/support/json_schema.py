"""JSON Schema as far as the schemas of Kubernetes, of the CRD and for editors use it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "string": str,
}
_ALSO_NUMBERS = ("resource.Quantity", "intstr.IntOrString")
_Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Checker:
    """What is wrong with values. An API server drops fields next to known ones, draft 7 of JSON Schema takes them."""

    definitions: _Schema = field(default_factory=dict)
    takes_others: bool = False

    def complaints(self, value: Any, schema: _Schema, at: str = "") -> Iterator[str]:
        for part in schema.get("allOf", [{"$ref": schema["$ref"]}] if "$ref" in schema else []):
            name = part["$ref"].removeprefix("#/definitions/")
            if not (name.endswith(_ALSO_NUMBERS) and isinstance(value, int | str)):
                yield from self.complaints(value, self.definitions[name], at)
        kind = schema.get("type")
        if kind and (not isinstance(value, _TYPES[kind]) or (kind != "boolean" and isinstance(value, bool))):
            yield f"{at}: {value!r} is not {'an' if kind[0] in 'aeio' else 'a'} {kind}"
        elif isinstance(value, dict):
            yield from self._of_object(value, schema, at)
        elif isinstance(value, list):
            yield from self._of_list(value, schema, at)
        elif value not in schema.get("enum", [value]):
            yield f"{at}: {value!r} is none of {schema['enum']}"

    def _of_object(self, value: dict[str, Any], schema: _Schema, at: str) -> Iterator[str]:
        fields, names = schema.get("properties", {}), schema.get("propertyNames", {})
        others = schema.get("additionalProperties", self.takes_others or not fields)
        yield from (f"{at}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, item in value.items():
            if not _is_name(name, names):
                yield f"{at}.{name} is not a name"
            if name not in fields and others is False:
                yield f"{at}.{name} is unknown"
            else:
                yield from self.complaints(item, fields.get(name, {} if others is True else others), f"{at}.{name}")

    def _of_list(self, value: list[Any], schema: _Schema, at: str) -> Iterator[str]:
        if len(value) < schema.get("minItems", 0):
            yield f"{at} is too short"
        keys = schema.get("x-kubernetes-list-map-keys", ())
        identities = [tuple(map(item.get, keys)) for item in value if keys and isinstance(item, dict)]
        yield from (f"{at} repeats {one}" for one in dict.fromkeys(identities) if identities.count(one) > 1)
        for index, item in enumerate(value):
            yield from self.complaints(item, schema.get("items", {}), f"{at}[{index}]")


def _is_name(name: str, schema: _Schema) -> bool:
    if "anyOf" in schema:
        return any(_is_name(name, part) for part in schema["anyOf"])
    if "not" in schema:
        return not _is_name(name, schema["not"])
    return name in schema.get("enum", [name]) and re.search(schema.get("pattern", ""), name) is not None


def nodes(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and all that it contains, with their places."""
    yield at, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{at}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from nodes(schema[inner], f"{at}[]")
