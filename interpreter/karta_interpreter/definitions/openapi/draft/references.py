"""The fields of a schema with the names of other objects: only their own names and shapes say so."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.schema import (
    SchemaPath,
    below,
    fields,
    is_pod_spec,
    is_pod_template,
    is_text,
    listed_texts,
    parts_below,
)

_KINDS: Final = {
    "secret": "Secret",
    "configmap": "ConfigMap",
    "claim": "PersistentVolumeClaim",
    "serviceaccount": "ServiceAccount",
}
# A claim of a device is no volume.
_OF_KIND: Final = f"(?i)((?<!resource)(?:{'|'.join(_KINDS)}))"
# The text `secretName`. `secretKey` and `accessKeySecretRef` are keys in an object.
_NAME: Final = re.compile(f"{_OF_KIND}names?$")
# The object `secretRef` with a field `name`.
_OBJECT: Final = re.compile(f"{_OF_KIND}(key)?(ref|selector|reference)?s?$")
# The fields of an object that names another one, such as `LocalObjectReference` and `SecretKeySelector`.
_OF_REFERENCE: Final = {
    *("name", "namespace", "key", "optional", "kind", "apiVersion", "apiGroup", "group", "uid", "fieldPath"),
    "resourceVersion",
}


class Reference(NamedTuple):
    """A field with the name of an object of a kind. Without a ``shape`` only its own name says so."""

    field: SchemaPath
    kind: str
    has_shape: bool


def references(path: SchemaPath, schema: Object) -> Iterator[Reference]:
    """Yield the fields with names of objects. The pods of templates name theirs.

    >>> tls = {"properties": {"secretRef": {"properties": {"name": {"type": "string"}}}}}
    >>> [(each.field.jq, each.kind) for each in references(SchemaPath(("spec", "tls")), tls)]
    [('.spec.tls.secretRef.name', 'Secret')]
    """
    for at, part in parts_below(path, schema):
        name = next((step for step in reversed(at.steps) if isinstance(step, str)), "")
        named, described = _NAME.search(name), _OBJECT.search(name)
        if is_text(part) and named and not listed_texts(part):
            yield Reference(at, _KINDS[named[1].lower()], has_shape=False)
        elif described and _names_an_object(part) and not _is_claim_of_pod(at):
            yield Reference(at / "name", _KINDS[described[1].lower()], has_shape=True)
        elif not (is_pod_template(part) or is_pod_spec(part) or "accessModes" in dict(fields(part))):
            yield from references(at, part)


def _names_an_object(schema: Object) -> bool:
    return is_text(below(schema, "name")) and dict(fields(schema)).keys() <= _OF_REFERENCE


def _is_claim_of_pod(path: SchemaPath) -> bool:
    """Return whether a field names claims of the pod itself, as the `resources` of a container do."""
    return path.names[-2:] == ("resources", "claims")
