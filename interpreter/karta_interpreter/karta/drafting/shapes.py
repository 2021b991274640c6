"""What a part of an OpenAPI schema looks like."""

from collections.abc import Iterator

from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.values import Object

OPAQUE = frozenset({"template", "podTemplate", "podTemplateSpec", "podSpec"})
"""Names of pod definitions, where the schema leaves out what is in them."""

_NAMES = ("name", "groupName", "id", "role", "replicaType", "component", "serviceName", "type")
"""Fields that tell the entries of a list apart, the most telling first."""


def fields(schema: Object) -> Iterator[tuple[str, Object]]:
    """The fields of an object, each with its schema."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from ((name, field) for name, field in properties.items() if isinstance(field, dict))


def below(schema: Object, *names: str) -> Object:
    """The schema of a field, or of one below it; empty where there is none."""
    for name in names:
        schema = next((field for each, field in fields(schema) if each == name), {})
    return schema


def entries(schema: Object, container: str) -> Object | None:
    """The schema of what a list (``items``) or a map (``additionalProperties``) holds; None when it is neither."""
    inner = schema.get(container)
    return inner if isinstance(inner, dict) else None


def is_pod_template(schema: Object) -> bool:
    """Whether it has a pod spec in ``spec``, and beside that only what a template or a Pod has."""
    names = {name for name, _ in fields(schema)}
    return is_pod_spec(below(schema, "spec")) and names <= {"metadata", "spec", "apiVersion", "kind", "status"}


def is_pod_spec(schema: Object) -> bool:
    """Whether it has a list of containers, of which each has a name and an image."""
    container = entries(below(schema, "containers"), "items") or {}
    return {"name", "image"} <= {name for name, _ in fields(container)}


def is_unsaid(schema: Object) -> bool:
    """Whether it is an object about whose fields the schema says nothing."""
    return schema.get("type") == "object" and not any(fields(schema)) and not schema.get("additionalProperties")


def is_resources(schema: Object) -> bool:
    """Whether it is like the resources of a container."""
    return {"limits", "requests"} <= {name for name, _ in fields(schema)}


def is_claim(schema: Object) -> bool:
    """Whether it is like a PersistentVolumeClaim's spec, which has resources as well."""
    return any(name in ("accessModes", "storageClassName") for name, _ in fields(schema))


def is_number(schema: Object) -> bool:
    """Whether it is a whole number, or may be one."""
    return schema.get("type") == "integer" or schema.get("x-kubernetes-int-or-string") is True


def is_text(schema: Object) -> bool:
    """Whether it is a string."""
    return schema.get("type") == "string"


def has_conditions(schema: Object) -> bool:
    """Whether it has a list of conditions as Kubernetes has them."""
    condition = entries(below(schema, "conditions"), "items") or {}
    return {"type", "status"} <= {name for name, _ in fields(condition)}


def key_of(schema: Object, items: Object) -> str | None:
    """The field that tells the entries of a list apart: the key of the list, else one whose name says so."""
    keys = schema.get("x-kubernetes-list-map-keys")
    texts = [name for name, field in fields(items) if is_text(field)]
    if isinstance(keys, list) and len(keys) == 1 and keys[0] in texts:
        return str(keys[0])
    return next((name for name in _NAMES if name in texts), None)


def choices(schema: Object) -> tuple[str, ...]:
    """The values that a text may have, as far as the schema says them; without the empty one."""
    values = get(schema, ("enum",))
    return tuple(value for value in values if isinstance(value, str) and value) if isinstance(values, list) else ()
