"""The fields of a schema with the names of other objects: only their own names and shapes say so."""

import re
from collections.abc import Iterator
from typing import Final

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
_OF_KIND: Final = f"(?i)({'|'.join(_KINDS)})"
# The text `secretName`. `secretKey` and `accessKeySecretRef` are keys in an object.
_NAME: Final = re.compile(f"{_OF_KIND}names?$")
# The object `secretRef` with a field `name`.
_OBJECT: Final = re.compile(f"{_OF_KIND}(key)?(ref|selector|reference)?s?$")


def _is_claim_of_pod(path: SchemaPath) -> bool:
    """Return whether a field names claims of the pod itself, as the `resources` of a container do."""
    return path.names[-2:] == ("resources", "claims")


def references(path: SchemaPath, schema: Object) -> Iterator[tuple[SchemaPath, str]]:
    """Yield the fields with names of objects, each with the kind. The pods of templates name theirs.

    >>> tls = {"properties": {"secretName": {"type": "string"}, "secretKey": {"type": "string"}}}
    >>> [(field.jq, kind) for field, kind in references(SchemaPath(("spec", "tls")), tls)]
    [('.spec.tls.secretName', 'Secret')]
    """
    for at, part in parts_below(path, schema):
        name = next((step for step in reversed(at.steps) if isinstance(step, str)), "")
        named, described = _NAME.search(name), _OBJECT.search(name)
        if is_text(part) and named and not listed_texts(part):
            yield at, _KINDS[named[1].lower()]
        elif described and is_text(below(part, "name")) and not _is_claim_of_pod(at):
            yield at / "name", _KINDS[described[1].lower()]
        elif not (is_pod_template(part) or is_pod_spec(part) or "accessModes" in dict(fields(part))):
            yield from references(at, part)
