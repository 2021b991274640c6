"""The fields of a schema that name other objects: only their names and shapes say so."""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.schema import (
    SchemaPath,
    fields,
    is_pod_spec,
    is_pod_template,
    is_text,
    listed_texts,
    parts_below,
)

PODS: Final = "pods"
"""The kind of a field with whole pods."""

_KINDS: Final = {
    "secret": "Secret",
    "configmap": "ConfigMap",
    "claim": "PersistentVolumeClaim",
    "serviceaccount": "ServiceAccount",
}
_OBJECT: Final = re.compile(
    "(?i)(secret|configmap|resourceclaim(?:template)?|claim|serviceaccount)(key)?(name|ref|selector|reference)?s?$"
)
_REFERENCE: Final = re.compile("[a-z](Ref|Reference)s?$")
# The fields of objects that only refer to another object.
_REFERRING: Final = {
    *("apiGroup", "apiVersion", "fieldPath", "group", "key", "kind", "name", "namespace", "optional", "port"),
    *("resourceVersion", "scope", "uid"),
}
IsKnown: TypeAlias = Callable[[SchemaPath], bool]
FieldOfKind: TypeAlias = tuple[SchemaPath, str]
"""A field with the name of an object, and the kind of the object, "" if the field name does not tell it."""

# Fields of pods with names that are not names of objects.
_NOT_OBJECTS: Final = ("claims", "os", "resourceClaims", "schedulingGates")
# Fields of Kubernetes' own types with objects that no pod starts with.
_NOT_NEEDED: Final = ("describedObject", "ownerReferences", "status")


def references(path: SchemaPath, schema: Object, is_known: IsKnown) -> Iterator[FieldOfKind]:
    """Yield the fields that look like references, each with its kind if its name tells it. Known parts are skipped.

    Pods without any known part are one reference of the kind `PODS`.
    """
    for at, field_schema in parts_below(path, schema):
        name = next(step for step in reversed(at.steps) if isinstance(step, str))
        if is_known(at) or name in _NOT_NEEDED:
            continue
        is_reference_name = bool(_OBJECT.search(name) or _REFERENCE.search(name))
        if is_pod_template(field_schema) or is_pod_spec(field_schema):
            inside, is_any_known = _references_in_pods(at, field_schema, is_known)
            yield from inside if is_any_known or not inside else [(at, PODS)]
        elif is_text(field_schema):
            is_alias = f"{name}Name" in dict(fields(schema))
            if is_reference_name and not (is_alias or listed_texts(field_schema)):
                yield at, _kind(name)
        else:
            inner = dict(fields(field_schema))
            name_schema = inner.get("name", {})
            refers = (is_reference_name or inner.keys() <= _REFERRING) and name not in _NOT_OBJECTS
            if refers and is_text(name_schema) and not listed_texts(name_schema) and not is_known(at / "name"):
                yield at / "name", _kind(name)
            if "accessModes" not in inner:  # a claim refers to data of its cluster
                yield from references(at, field_schema, is_known)


def _references_in_pods(path: SchemaPath, schema: Object, is_known: IsKnown) -> tuple[list[FieldOfKind], bool]:
    """Return the references in pods, and whether any of their parts is known."""
    covered: list[SchemaPath] = []

    def is_known_here(at: SchemaPath) -> bool:
        covered.extend([at] if is_known(at) else [])
        return at in covered[-1:]

    return list(references(path, schema, is_known_here)), bool(covered)


def _kind(field: str) -> str:
    match = _OBJECT.search(field)
    return _KINDS.get(match[1].lower(), "") if match else ""
