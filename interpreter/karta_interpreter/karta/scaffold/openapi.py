"""The OpenAPI schema of one version in a CustomResourceDefinition, and tests of what its parts look like."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from karta_interpreter.errors import DefinitionError
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind, the OpenAPI schema of its objects, and the path of its scale subresource (empty without one)."""

    crd: str
    gvk: GVK
    schema: Object
    scale_path: str = ""

    @classmethod
    def of(cls, crd: Object, version: str | None = None) -> Self:
        """One version of a CRD, of ``apiextensions.k8s.io/v1``; the stored one when none is named.

        Raises DefinitionError when there is no such version, or no schema in it.
        """
        name, spec = get(crd, ("metadata", "name")) or "without a name", get(crd, ("spec",))
        group, kind = get(spec, ("group",)), get(spec, ("names", "kind"))
        if not (isinstance(group, str) and isinstance(kind, str) and group and kind):
            raise DefinitionError(f"CRD {name}: spec.group and spec.names.kind have to be there")
        found = _version(spec, version)
        if found is None:
            asked = "stored version" if version is None else f"version {version}"
            raise DefinitionError(
                f"CRD {name} has no {asked}; it has {', '.join(each['name'] for each in _versions(spec)) or 'none'}"
            )
        schema = get(found, ("schema", "openAPIV3Schema"))
        if not isinstance(schema, dict):
            raise DefinitionError(
                f"CRD {name}: its version {found['name']} has no schema.openAPIV3Schema to draft from"
            )
        scale = get(found, ("subresources", "scale", "specReplicasPath"), "")
        return cls(str(name), GVK(group, found["name"], kind), schema, scale if isinstance(scale, str) else "")


def _versions(spec: JSON) -> list[JSON]:
    versions = get(spec, ("versions",))
    found = versions if isinstance(versions, list) else []
    return [version for version in found if isinstance(get(version, ("name",)), str)]


def _version(spec: JSON, name: str | None) -> JSON:
    for version in _versions(spec):
        if version.get("storage") is True if name is None else version["name"] == name:
            return version
    return None


OPAQUE = frozenset({"template", "podTemplate", "podTemplateSpec", "podSpec"})
"""Names of pod definitions, where the schema leaves out what is in them."""

_NAMES = ("name", "groupName", "id", "role", "replicaType", "component", "serviceName", "type")
"""Fields that identify the entries of a list, the most specific first."""


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
    """Whether it is an object for which the schema has no fields."""
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
    """The field that identifies the entries of a list: the key of the list, else one with the name of a key."""
    keys = schema.get("x-kubernetes-list-map-keys")
    texts = [name for name, field in fields(items) if is_text(field)]
    if isinstance(keys, list) and len(keys) == 1 and keys[0] in texts:
        return str(keys[0])
    return next((name for name in _NAMES if name in texts), None)


def choices(schema: Object) -> tuple[str, ...]:
    """The values that the schema allows for a text, without the empty one; empty where it lists none."""
    values = get(schema, ("enum",))
    return tuple(value for value in values if isinstance(value, str) and value) if isinstance(values, list) else ()
