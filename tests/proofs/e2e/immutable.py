"""Objects that differ from their template in one field, for every field of an OpenAPI schema.

A value for a field is made from its schema and from names that Kubernetes gives a meaning. An API server decides which
of the objects can exist.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Final, NamedTuple

from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, get, remove, set_value

_MOST_DEEP: Final = 9
_REFERENCE: Final = "#/components/schemas/"
_QUANTITY: Final = "resource.Quantity"
# What a text has to be, by the name of its field. Others are tried as well.
_TEXTS: Final = {
    "image": "i:1", "mountPath": "/added", "path": "/added", "type": "Directory", "topologyKey": "zone",
    "ip": "10.0.0.9",
    "whenUnsatisfiable": "ScheduleAnyway", "restartPolicy": "Always", "clusterIP": "None", "driver": "d.example",
    "resource": "limits.cpu", "fieldPath": "metadata.name", "devicePath": "/dev/added", "server": "nfs.example",
    "conditionType": "d.example/ready", "action": "Ignore", "preemptionPolicy": "Never", "runtimeClassName": "",
    "kind": "PersistentVolumeClaim", "storage": "1Gi", "status": "True", "key": "key", "operator": "Exists",
    "labelSelector": "", "managedBy": "d.example/manager", "succeededIndexes": "0", "procMount": "Default",
    "resourceName": "cpu", "keyType": "ED25519", "signerName": "d.example/signer", "localhostProfile": "added",
}  # fmt: skip
_NAMES: Final = ("added", "d.example/added")


class Variation(NamedTuple):
    """A template and the member's object: ``how`` is what the member has at the path: another value, more, or none."""

    path: Path
    how: str
    template: Object
    member: Object


def variations(base: Object, root: Path, schema: Object, schemas: Object) -> Iterator[list[Variation]]:
    """Yield, for each field below a path, the ways in which a member may differ there, the likeliest first."""
    for path, field in _fields(schema, schemas, root, base):
        now = get(base, path, NOTHING)
        values = [*_values(path, field, schemas, 0)]
        if now is NOTHING or now is None:
            yield [Variation(path, "added", base, set_value(base, path, value)) for value in values]
            yield [Variation(path, "missing", set_value(base, path, value), base) for value in values]
            continue
        yield [Variation(path, "missing", base, remove(base, path))]
        if not isinstance(now, dict):
            others = [value for value in (*_near(now), *values) if value != now]
            yield [Variation(path, "differs", base, set_value(base, path, value)) for value in others]


def _fields(schema: Object, schemas: Object, path: Path, base: Object) -> Iterator[tuple[Path, Object]]:
    """Yield each field below a path with its schema: of lists, of the first element."""
    found = _resolved(schema, schemas)
    if len(path) > _MOST_DEEP + 2:
        return
    for name, part in found.get("properties", {}).items():
        below = (*path, name)
        yield below, part
        if get(base, below, NOTHING) is not NOTHING or len(below) < _MOST_DEEP:
            yield from _fields(part, schemas, below, base)
    if "items" in found and get(base, path):
        for number in range(len(get(base, path))):
            yield from _fields(found["items"], schemas, (*path, number), base)


def _near(value: JSON) -> Iterator[JSON]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1)
        case str():
            yield f"{value}x"
        case [first, *_]:
            yield [*value, *_near(first)] if isinstance(first, str) else value
            yield value[1:]


def _values(path: Path, schema: Object, schemas: Object, depth: int) -> Iterator[JSON]:
    found = _resolved(schema, schemas)
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    match found.get("type"):
        case "string" if schema_name(schema).endswith(_QUANTITY):
            yield "1"
        case "string":
            yield from (*filter(None, [_TEXTS.get(name)]), *found.get("enum", ()), *_NAMES)
        case "integer" | "number":
            yield from (1, 2, 0, 1000)
        case "boolean":
            yield from (True, False)
        case "array":
            yield from ([value] for value in _values((*path, 0), found["items"], schemas, depth))
        case "object" if "additionalProperties" in found:
            yield from (
                {"d.example/added": value} for value in _values(path, found["additionalProperties"], schemas, depth)
            )
        case "object" if depth < 4:
            yield from _objects(path, found, schemas, depth)
        case None if "oneOf" in found or schema_name(schema).endswith(_QUANTITY):
            yield from ("1", 8080)


def _objects(path: Path, found: Object, schemas: Object, depth: int) -> Iterator[Object]:
    """Yield objects with what they need, each with one more field."""
    properties, needed = found.get("properties", {}), found.get("required", ())
    least = {
        name: next(_values((*path, name), properties[name], schemas, depth + 1), None)
        for name in (*needed, *(name for name in ("name",) if name in properties))
    }
    yield {**least}
    for name in properties.keys() - least.keys():
        value = next(_values((*path, name), properties[name], schemas, depth + 1), None)
        if value is not None:
            yield {**least, name: deepcopy(value)}


def schema_name(schema: Object) -> str:
    """Return the name of a schema that another one refers to."""
    references: Sequence[Any] = (schema, *schema.get("allOf", ()))
    return next((str(each["$ref"]).removeprefix(_REFERENCE) for each in references if "$ref" in each), "")


def _resolved(schema: Object, schemas: Object) -> Object:
    name = schema_name(schema)
    found: Object = schemas[name] if name else schema
    return found
