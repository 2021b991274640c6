"""How a new value becomes part of what an object has, without loss of what the new value cannot know.

It knows the fields that its Go type has; a list of objects with ``name`` as their key is merged by their names.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.values import equal
from karta_interpreter.languages.lua.gotypes import declarations

_MERGED: Final = (
    *("PodTemplateSpec", "ObjectMeta", "PodSpec", "Container", "EphemeralContainer", "PodResourceClaim"),
    *("ResourceRequirements", "Affinity", "PodAffinity", "NodeAffinity"),
)
"""The types that are merged field by field; a value of any other belongs to its writer as a whole."""

_NEWER: Final[Mapping[str, tuple[str, ...]]] = {"PodSpec": ("evictionResponders", "schedulingGroup")}
"""Fields of Kubernetes after the version whose types are declared."""


def merge(old: JSON, new: JSON, go_type: str) -> JSON:
    """The new value with the fields of the old one that its type does not have; the same where nothing changes.

    A null in the new value removes its field, also one that the type does not have. Named elements are merged with
    the old ones of their name, in the new order.

    >>> merge({"name": "main", "image": "a", "tty": True, "gpus": 1}, {"name": "main", "image": "b"}, "Container")
    {'name': 'main', 'image': 'b', 'gpus': 1}
    """
    if equal(old, new):
        return old
    merged = _merged(old, new, go_type)
    return old if equal(old, merged) else merged


def patch(old: JSON, change: JSON) -> JSON:
    """The old value with a change applied as RFC 7386 has it: objects are merged, null removes.

    >>> patch({"image": "a", "env": {"A": "1", "B": "2"}}, {"env": {"A": None, "C": "3"}})
    {'image': 'a', 'env': {'B': '2', 'C': '3'}}
    """
    if not isinstance(change, Mapping):
        return change
    base = old if isinstance(old, dict) else {}
    patched = {**base, **{field: patch(base.get(field), value) for field, value in change.items()}}
    return {field: value for field, value in patched.items() if field not in change or change[field] is not None}


@cache
def fields_of(go_type: str) -> Mapping[str, str]:
    """The fields of a type that is merged field by field, each with its own type; none of any other type.

    >>> fields_of("PodResourceClaim")
    {'name': 'string', 'resourceClaimName': 'string', 'resourceClaimTemplateName': 'string'}
    """
    if go_type not in _MERGED:
        return {}
    declared = {field.name: field.type.removeprefix("*") for field in declarations()[go_type]}
    return declared | dict.fromkeys(_NEWER.get(go_type, ()), "")


def _merged(old: JSON, new: JSON, go_type: str) -> JSON:
    element = go_type.removeprefix("[]")
    fields = fields_of(element)
    if isinstance(new, list) and fields and element != go_type:
        known = {name_of(each): each for each in old if name_of(each)} if isinstance(old, list) else {}
        return [merge(known.get(name_of(each)), each, element) for each in new]
    if isinstance(new, dict) and fields and element == go_type:
        return _merged_fields(old if isinstance(old, dict) else {}, new, fields)
    return new


def _merged_fields(old: Mapping[str, JSON], new: Mapping[str, JSON], fields: Mapping[str, str]) -> dict[str, JSON]:
    merged: dict[str, JSON] = {}
    for field in {**old, **new}:
        if new.get(field) is not None:
            merged[field] = merge(old.get(field), new[field], fields.get(field, ""))
        # A null that was there stays, as does a field that the Go type of the new value cannot hold.
        elif field in old and (old[field] is None or not (field in new or field in fields)):
            merged[field] = old[field]
    return merged


def name_of(element: JSON) -> str | None:
    """The name of a list's element, None for one without."""
    name = element.get("name") if isinstance(element, dict) else None
    return name if isinstance(name, str) else None
