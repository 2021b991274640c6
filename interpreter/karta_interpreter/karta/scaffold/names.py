"""Fields of a kind that name other objects: what a workload may need beside that which its pods name."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Final

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.scaffold.openapi import below, entries, fields, is_text
from karta_interpreter.karta.scaffold.place import Entries, Place

ANNOTATION: Final = f"{PREFIX}dependencies"

_KINDS: Final = {
    "secret": "Secret",
    "configmap": "ConfigMap",
    "claim": "PersistentVolumeClaim",
    "serviceaccount": "ServiceAccount",
}
_NAME: Final = re.compile(r"(?i)(secret|configmap|claim|serviceaccount)name$")
_REFERENCE: Final = re.compile(r"(?i)(secret|configmap)(key)?(ref|selector)$")
_MOST: Final = 12


def dependencies(schema: Object, pods: Collection[str]) -> str:
    """Return the text of the annotation ``dependencies``, "" without such a field; the paths in ``pods`` are left out.

    >>> tls = {"properties": {"secretName": {"type": "string"}}}
    >>> print(dependencies({"properties": {"spec": {"properties": {"tls": tls}}}}, ()), end="")
    - {apiVersion: v1, kind: Secret, name: ".spec.tls.secretName"}
    """
    found = list(_named(Place(("spec",)), below(schema, "spec"), pods))[:_MOST]
    entry = "- {{apiVersion: v1, kind: {}, name: {}}}\n"
    return "".join(entry.format(kind, json.dumps(place.jq)) for place, kind in found)


def _named(place: Place, schema: Object, pods: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Yield each field that names an object, and the kind of that."""
    if place.jq in pods:
        return
    for name, part in fields(schema):
        by_name, by_reference = _NAME.search(name), _REFERENCE.search(name)
        if by_name and is_text(part):
            yield place / name, _KINDS[by_name[1].lower()]
        elif by_reference and is_text(below(part, "name")):
            yield place / name / "name", _KINDS[by_reference[1].lower()]
        else:
            yield from _named(place / name, part, pods)
    for container, step in (("items", Entries()), ("additionalProperties", Entries(is_map=True))):
        inner = entries(schema, container)
        if inner is not None:
            yield from _named(place / step, inner, pods)
