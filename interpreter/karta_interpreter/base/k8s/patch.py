"""The difference between two documents: the places that differ, and a JSON Patch (RFC 6902).

Nothing in here recurses, so that no document is too deep for it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.base.k8s.values import JSON, NOTHING, Object, Path, pointer_step

Operation: TypeAlias = dict[str, JSON]
"""One operation of a patch, ``{"op": "add", "path": "/spec/replicas", "value": 3}``."""

_Pair: TypeAlias = tuple[str, str, JSON, JSON]  # pointer of the parent, key, value before, value after


class Change(NamedTuple):
    """A place with different values. A side without the field has `NOTHING` there."""

    path: Path
    before: JSON
    after: JSON


def changes(before: JSON, after: JSON, path: Path = ()) -> Iterator[Change]:
    """Yield the places with different values, as deep as both sides are objects, or lists of the same length.

    >>> [change.path for change in changes({"spec": {"a": 1}}, {"spec": {"a": 2, "b": {"c": 3}}})]
    [('spec', 'a'), ('spec', 'b')]
    """
    pending = [Change(path, before, after)]
    while pending:
        path, old, new = change = pending.pop()
        if old is new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            keys = [key for key in dict.fromkeys([*old, *new]) if old.get(key, NOTHING) is not new.get(key, NOTHING)]
            pending += [Change((*path, key), old.get(key, NOTHING), new.get(key, NOTHING)) for key in reversed(keys)]
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            pairs = [Change((*path, index), *pair) for index, pair in enumerate(zip(old, new, strict=True))]
            pending += reversed(pairs)
        # To Python, true equals 1.
        elif old != new or isinstance(old, bool) != isinstance(new, bool):
            yield change


def diff(before: JSON, after: JSON) -> list[Operation]:
    """Return the operations that make ``after`` of ``before``: only add, remove and replace, and few of them.

    Lists keep their common head and tail. Numbers of equal value are the same, true and 1 are not. The same
    documents always give the same operations, in any order of their keys.

    >>> diff({"spec": {"replicas": 1}}, {"spec": {"replicas": 3}, "status": {}})
    [{'op': 'add', 'path': '/status', 'value': {}}, {'op': 'replace', 'path': '/spec/replicas', 'value': 3}]
    """
    operations: list[Operation] = []
    pending: list[_Pair] = [("", "", before, after)]
    while pending:
        parent, key, old, new = pending.pop()
        # Edits share unchanged parts (`edit`), so most of two documents is skipped here.
        if old is new:
            continue
        path = parent + pointer_step(key)
        # Karmada could not follow a pointer below an empty key: ``evanphx/json-patch`` takes such a key in the middle
        # of a pointer for the object that has it.
        if isinstance(old, dict) and isinstance(new, dict) and not path.endswith("/"):
            changes, pairs = _diff_objects(path, old, new)
        elif isinstance(old, list) and isinstance(new, list) and not path.endswith("/"):
            changes, pairs = _diff_lists(path, old, new)
        else:
            if not _same(old, new):
                operations.append({"op": "replace", "path": path, "value": new})
            continue
        operations += changes
        pending += reversed(pairs)
    return operations


def patched(document: JSON, operations: Iterable[Operation]) -> JSON:
    """Return a document after the operations of a `diff`. Raise LookupError and InterpretationError for others.

    >>> patched({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}])
    {'a': [1, 2, 3]}
    """
    for operation in operations:
        path = path_of_pointer(operation["path"], document)
        elements = get(document, path[:-1])
        if operation["op"] == "remove":
            document = remove(document, path)
        elif operation["op"] == "add" and isinstance(elements, list):
            longer = elements.copy()
            longer.insert(int(path[-1]), operation["value"])
            document = set_value(document, path[:-1], longer)
        else:
            document = set_value(document, path, operation["value"])
    return document


def path_of_pointer(pointer: str, document: JSON) -> Path:
    """Return the path of a JSON Pointer into a document. A number is an index of a list, and a key of an object."""
    path: Path = ()
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        path = (*path, int(key) if isinstance(get(document, path), list) and key.isdecimal() else key)
    return path


def _diff_objects(pointer: str, old: Object, new: Object) -> tuple[list[Operation], list[_Pair]]:
    """Return the additions and removals, and the pairs that may differ."""
    pointer += "/"
    changes: list[Operation] = []
    shared: Iterable[str] = old
    if old.keys() != new.keys():
        shared = old.keys() & new.keys()
        changes += [{"op": "remove", "path": pointer + pointer_step(key)} for key in sorted(old.keys() - shared)]
        changes += [
            {"op": "add", "path": pointer + pointer_step(key), "value": new[key]} for key in sorted(new.keys() - shared)
        ]
    pairs: list[_Pair] = []
    for key in shared:
        before, after = old[key], new[key]
        # Equal texts go at once, without a turn of the loop in `diff` for each.
        if before is not after and (type(before) is not str or before != after):
            pairs.append((pointer, key, before, after))
    # No two have the same key, so no values are compared.
    return changes, sorted(pairs)


def _diff_lists(pointer: str, old: list[JSON], new: list[JSON]) -> tuple[list[Operation], list[_Pair]]:
    """Return the additions and removals, in an order that keeps every index true, and the pairs that may differ."""
    changes: list[Operation] = []
    head, paired = 0, len(old)
    if len(old) != len(new):
        head = _common_head(old, new)
        tail = _common_head(old[head:][::-1], new[head:][::-1])
        paired = min(len(old), len(new)) - tail
        changes += [
            {"op": "remove", "path": f"{pointer}/{index}"} for index in reversed(range(paired, len(old) - tail))
        ]
        changes += [
            {"op": "add", "path": f"{pointer}/{index}", "value": new[index]} for index in range(paired, len(new) - tail)
        ]
    return changes, [(f"{pointer}/", str(index), old[index], new[index]) for index in range(head, paired)]


def _common_head(old: list[JSON], new: list[JSON]) -> int:
    """Return the number of elements that two lists start with in common."""
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if not _same(one, other):
            return index
    return min(len(old), len(new))


def _same(left: JSON, right: JSON) -> bool:
    return next(changes(left, right), None) is None
