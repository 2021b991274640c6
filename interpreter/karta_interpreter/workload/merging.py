"""How a new value becomes part of what an object has, without loss of what the new value cannot know."""

from collections.abc import Mapping

from karta_interpreter.jq.inprocess.values import equal
from karta_interpreter.k8s.values import JSON
from karta_interpreter.workload.shapes import Named, Shape, Struct


def merge(old: JSON, new: JSON, shape: Shape) -> JSON:
    """The new value with the fields of the old one that ``shape`` does not know; the same where nothing changes.

    A null in the new value removes its field, also one that ``shape`` does not know. Named elements are merged with
    the old ones of their name, in the new order.

    >>> from karta_interpreter.workload.shapes import CONTAINER
    >>> merge({"name": "main", "image": "a", "tty": True, "gpus": 1}, {"name": "main", "image": "b"}, CONTAINER)
    {'name': 'main', 'image': 'b', 'gpus': 1}
    """
    if equal(old, new):
        return old
    merged = _merged(old, new, shape)
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


def _merged(old: JSON, new: JSON, shape: Shape) -> JSON:
    if isinstance(shape, Struct) and isinstance(new, dict):
        return _struct(old if isinstance(old, dict) else {}, new, shape)
    if isinstance(shape, Named) and isinstance(new, list):
        known = _by_name(old)
        return [merge(known.get(name_of(element)), element, shape.element) for element in new]
    return new


def _struct(old: Mapping[str, JSON], new: Mapping[str, JSON], shape: Struct) -> dict[str, JSON]:
    merged: dict[str, JSON] = {}
    for field in {**old, **new}:
        if new.get(field) is not None:
            merged[field] = merge(old.get(field), new[field], shape.fields.get(field))
        elif field in old and (old[field] is None or not (field in new or field in shape.fields)):
            merged[field] = old[field]
    return merged


def _by_name(elements: JSON) -> Mapping[str | None, JSON]:
    if not isinstance(elements, list):
        return {}
    return {name_of(element): element for element in elements if name_of(element) is not None}


def name_of(element: JSON) -> str | None:
    """The name of a list's element, None for one without."""
    name = element.get("name") if isinstance(element, dict) else None
    return name if isinstance(name, str) else None
