"""The fields that the schema of a status requires or fills in, and an aggregated one may lack or leave empty."""

from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.openapi.schema import Entries, SchemaPath, entries, fields, is_text, listed_texts

_STATUS: Final = SchemaPath(("status",))
# The values that AggregateStatus leaves in fields without clusters, by their types.
_KEPT: Final[dict[JSON, JSON]] = {"integer": 0, "number": 0, "boolean": False, "array": []}


def required_status(schema: Object, path: SchemaPath = _STATUS) -> Iterator[tuple[SchemaPath, JSON]]:
    """Yield the required fields that an aggregated status may lack, each with the value that says the least.

    A default of the status itself counts as required: an API server writes it, and Karmada would write again.

    >>> job = {"type": "object", "properties": {"timelineID": {"type": "integer"}}}
    >>> for field, value in required_status({"required": ["job"], "properties": {"job": job}}):
    ...     print(field.jq, value)
    .status.job {}
    """
    described, required = dict(fields(schema)), schema.get("required")
    # All texts of an object come from one cluster: if one is left out, nothing is left of the object.
    may_lack = isinstance(required, list) and (path == _STATUS or not all(map(is_text, described.values())))
    names = required if may_lack and isinstance(required, list) else ()
    for name, field_schema in described.items():
        # AggregateStatus fills in some types, and a member has the defaults of what it reports.
        may_be_missing = path == _STATUS if "default" in field_schema else name in names
        if may_be_missing and field_schema.get("type") not in _KEPT:
            yield path / name, least_value(field_schema)
        yield from required_status(field_schema, path / name)


def may_be_empty(schema: Object, path: SchemaPath = _STATUS) -> Iterator[SchemaPath]:
    """Yield the required parts that may be an empty object or list. Lua cannot write one.

    >>> job = {"type": "object", "required": ["labels"], "properties": {"labels": {"type": "object"}}}
    >>> jobs = {"type": "array", "items": job}
    >>> [field.jq for field in may_be_empty({"required": ["jobs"], "properties": {"jobs": jobs, "job": job}})]
    ['.status.jobs', '.status.jobs[].labels', '.status.job.labels']
    """
    required = schema.get("required")
    names = required if isinstance(required, list) else ()
    for name, field_schema in fields(schema):
        is_any = not {"type", "enum", "x-kubernetes-int-or-string"} & field_schema.keys()
        may_be = is_any or (field_schema.get("type") in ("object", "array") and not field_schema.get("required"))
        if name in names and may_be:
            yield path / name
        yield from may_be_empty(field_schema, path / name)
    for container in ("items", "additionalProperties"):
        if inner := entries(schema, container):
            yield from may_be_empty(inner, path / Entries(is_map=container != "items"))


def least_value(schema: Object) -> JSON:
    """Return the value that says the least: the default, or an empty value.

    >>> least_value({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "m": {}}})
    {'n': 0}
    """
    if "default" in schema:
        default: JSON = schema["default"]
        return default
    match schema.get("type"):
        case "object":
            required = schema.get("required")
            names = required if isinstance(required, list) else ()
            return {name: least_value(part) for name, part in fields(schema) if name in names}
        case str(name) if name in _KEPT:
            return _KEPT[name]
    return next(iter(listed_texts(schema)), "")
