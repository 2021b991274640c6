"""Copy-on-write edits of JSON documents: an edit shares all unchanged parts with the original."""

from typing import TypeVar

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Path, field_path, type_name

Document = TypeVar("Document")


def get(document: JSON, path: Path, default: JSON = None) -> JSON:
    """Return the value at ``path``, or ``default`` if there is no such place.

    >>> get({"spec": {"replicas": 3}}, ("spec", "replicas"))
    3
    >>> get({"spec": None}, ("spec", "replicas"), 1)
    1
    """
    for step in path:
        if not (step in document if isinstance(document, dict) else _has(document, step)):
            return default
        document = document[step]
    return document


def set_value(document: Document, path: Path, value: JSON) -> Document:
    """Return a new document with ``value`` at ``path``. Missing and null parents become objects.

    Raises InterpretationError unless every parent is an object, or a list that has the index.

    >>> set_value({"kind": "Job"}, ("spec", "suspend"), True)
    {'kind': 'Job', 'spec': {'suspend': True}}
    """
    parents: list[JSON] = []
    nested: JSON = document
    for depth, step in enumerate(path):
        if nested is None and isinstance(step, str):
            nested = {}
        if not (isinstance(nested, dict) if isinstance(step, str) else _has(nested, step)):
            raise _unwritable(path, depth, nested)
        parents.append(nested)
        nested = nested.get(step) if isinstance(step, str) else nested[step]
    for parent, step in zip(reversed(parents), reversed(path), strict=True):
        copy = parent.copy()
        copy[step] = value
        value = copy
    edited: Document = value
    return edited


def remove(document: Document, path: Path) -> Document:
    """Return a new document without the value at ``path``, or the same document if there is no such place.

    >>> remove({"a": {"b": 1, "c": 2}}, ("a", "b"))
    {'a': {'c': 2}}
    """
    if not path:
        return set_value(document, path, None)
    parent = get(document, path[:-1])
    if not _has(parent, path[-1]):
        return document
    shorter = parent.copy()
    del shorter[path[-1]]
    return set_value(document, path[:-1], shorter)


def sharing(old: JSON, new: JSON, levels: int = 4) -> JSON:
    """Return the new value with the parts of the old one that are equal, so that a later comparison skips them.

    Parts are compared down to some levels of objects, because each level compares all below it again.

    >>> old = {"env": [1], "image": "a"}
    >>> sharing(old, {"env": [1], "image": "b"})["env"] is old["env"]
    True
    """
    if old == new:
        return old
    if not levels or not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {key: sharing(old.get(key), value, levels - 1) for key, value in new.items()}


def _has(container: JSON, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(container, dict) and step in container
    return isinstance(container, list) and 0 <= step < len(container)


def _unwritable(path: Path, depth: int, container: JSON) -> InterpretationError:
    is_outside = isinstance(container, list) and isinstance(path[depth], int)
    actual = f"a list of {len(container)}" if is_outside else type_name(container)
    return InterpretationError(f"cannot write {field_path(path)}: {field_path(path[:depth])} is {actual}")
