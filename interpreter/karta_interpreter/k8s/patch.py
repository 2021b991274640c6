"""JSON Patch (RFC 6902): the difference between two documents, and applying it.

Nothing in here recurses, so that no document is too deep for it.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from karta_interpreter.errors import PatchError
from karta_interpreter.k8s.values import JSON, Object, type_name

Operation: TypeAlias = dict[str, JSON]
"""One operation of a patch, ``{"op": "add", "path": "/spec/replicas", "value": 3}``."""

_Pair: TypeAlias = tuple[str, JSON, JSON]  # pointer, value before, value after
_END = "-"  # the place after the last element of a list
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_BAD_ESCAPE = re.compile(r"~(?![01])")


def diff(before: JSON, after: JSON) -> list[Operation]:
    """The operations that make ``after`` of ``before``: only add, remove and replace, and few of them.

    Lists keep their common head and tail. Numbers of equal value are the same, true and 1 are not. The same
    documents always give the same operations, in any order of their keys.

    >>> diff({"spec": {"replicas": 1}}, {"spec": {"replicas": 3}, "status": {}})
    [{'op': 'add', 'path': '/status', 'value': {}}, {'op': 'replace', 'path': '/spec/replicas', 'value': 3}]
    """
    operations: list[Operation] = []
    pending: list[_Pair] = [("", before, after)]
    while pending:
        place, old, new = pending.pop()
        if old is new:
            continue
        if isinstance(old, dict) and isinstance(new, dict) and not _is_opaque(place):
            changes, pairs = _diff_objects(place, old, new)
        elif isinstance(old, list) and isinstance(new, list) and not _is_opaque(place):
            changes, pairs = _diff_lists(place, old, new)
        elif not _same(old, new):
            changes, pairs = [{"op": "replace", "path": place, "value": new}], []
        else:
            continue
        operations.extend(changes)
        pending.extend(reversed(pairs))
    return operations


def _is_opaque(place: str) -> bool:
    """Whether Karmada could not follow a pointer below a place, because its last key is empty.

    ``evanphx/json-patch`` takes an empty key in the middle of a pointer for the object that has it.
    """
    return place.endswith("/")


def _diff_objects(place: str, old: Object, new: Object) -> tuple[list[Operation], list[_Pair]]:
    """What comes and goes, and the pairs that may differ."""
    place += "/"
    changes: list[Operation] = []
    if old.keys() != new.keys():
        gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        changes += [{"op": "remove", "path": place + _escape(key)} for key in gone]
        changes += [{"op": "add", "path": place + _escape(key), "value": new[key]} for key in come]
    changed = sorted(
        [
            key
            for key, value in old.items()
            if key in new and value is not new[key] and not (type(value) is str and value == new[key])
        ]
    )
    return changes, [(place + _escape(key), old[key], new[key]) for key in changed]


def _diff_lists(place: str, old: list[JSON], new: list[JSON]) -> tuple[list[Operation], list[_Pair]]:
    """What comes and goes, in an order that keeps every index true, and the pairs that may differ."""
    head = tail = 0
    if len(old) != len(new):
        head = _common_head(old, new)
        tail = _common_head(old[head:][::-1], new[head:][::-1])
    paired = min(len(old), len(new)) - tail
    gone = range(paired, len(old) - tail)
    come = range(paired, len(new) - tail)
    removed = [{"op": "remove", "path": f"{place}/{index}"} for index in reversed(gone)]
    added = [{"op": "add", "path": f"{place}/{index}", "value": new[index]} for index in come]
    pairs = [
        (f"{place}/{index}", old[index], new[index]) for index in range(head, paired) if old[index] is not new[index]
    ]
    return removed + added, pairs


def _common_head(old: list[JSON], new: list[JSON]) -> int:
    """How many elements two lists start with in common."""
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if not _same(one, other):
            return index
    return min(len(old), len(new))


def _same(left: JSON, right: JSON) -> bool:
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pending.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif one != other or isinstance(one, bool) != isinstance(other, bool):
            return False
    return True


def apply(patch: Iterable[Object], document: JSON) -> JSON:
    """A new document with all operations of a patch done in their order; unchanged parts are shared.

    Raises PatchError, with nothing changed, when any of them is malformed or does not apply.

    >>> apply([{"op": "add", "path": "/spec/args/-", "value": "-v"}], {"spec": {"args": []}})
    {'spec': {'args': ['-v']}}
    """
    for number, operation in enumerate(patch):
        try:
            document = _apply(operation, document)
        except PatchError as err:
            raise PatchError(f"operation {number} of the patch: {err}") from err
    return document


def _apply(operation: Object, document: JSON) -> JSON:
    name = operation.get("op")
    tokens = _tokens(operation, "path")
    match name:
        case "add":
            return _add(document, tokens, _value(operation))
        case "remove":
            return _remove(document, tokens)
        case "replace":
            return _replace(document, tokens, _value(operation))
        case "copy":
            return _add(document, tokens, _find(document, _tokens(operation, "from")))
        case "move":
            return _move(document, _tokens(operation, "from"), tokens)
        case "test":
            if not _same(_find(document, tokens), _value(operation)):
                raise PatchError(f'the value at "{operation["path"]}" is not the one tested for')
            return document
        case _:
            raise PatchError(f"{name!r} is no operation of JSON Patch")


def _add(document: JSON, tokens: list[str], value: JSON) -> JSON:
    def act(container: JSON, token: str) -> None:
        if isinstance(container, dict):
            container[token] = value
        else:
            end = len(container)
            container.insert(end if token == _END else _index(container, token, end), value)

    return _edit(document, tokens, act) if tokens else value


def _remove(document: JSON, tokens: list[str]) -> JSON:
    def act(container: JSON, token: str) -> None:
        del container[_key(container, token)]

    if not tokens:
        raise PatchError("the whole document cannot be removed")
    return _edit(document, tokens, act)


def _replace(document: JSON, tokens: list[str], value: JSON) -> JSON:
    def act(container: JSON, token: str) -> None:
        container[_key(container, token)] = value

    return _edit(document, tokens, act) if tokens else value


def _move(document: JSON, source: list[str], target: list[str]) -> JSON:
    if source == target:
        _find(document, source)
        return document
    if target[: len(source)] == source:
        raise PatchError("a value cannot be moved into itself")
    return _add(_remove(document, source), target, _find(document, source))


def _edit(document: JSON, tokens: list[str], act: Callable[[Any, str], None]) -> JSON:
    """Let ``act`` change a copy of the container that ``tokens`` lead to; copy the containers above it."""
    parents: list[tuple[Any, str | int]] = []
    here = document
    for token in tokens[:-1]:
        key = _key(here, token)
        parents.append((here, key))
        here = here[key]
    _check_container(here, tokens[-1])
    changed = here.copy()
    act(changed, tokens[-1])
    for parent, key in reversed(parents):
        copy = parent.copy()
        copy[key] = changed
        changed = copy
    return changed


def _find(document: JSON, tokens: list[str]) -> JSON:
    for token in tokens:
        document = document[_key(document, token)]
    return document


def _key(container: JSON, token: str) -> str | int:
    """The key or index that a token of a pointer means; it must be there."""
    _check_container(container, token)
    if isinstance(container, list):
        return _index(container, token, len(container) - 1)
    if token not in container:
        raise PatchError(f'there is no "{token}"')
    return token


def _index(container: list[JSON], token: str, last: int) -> int:
    if not _INDEX.fullmatch(token) or int(token) > last:
        raise PatchError(f'"{token}" is no index into a list of {len(container)}')
    return int(token)


def _check_container(container: JSON, token: str) -> None:
    if not isinstance(container, (dict, list)):
        raise PatchError(f'there is no "{token}" in {type_name(container)}')


def _value(operation: Object) -> JSON:
    if "value" not in operation:
        raise PatchError("the operation needs a value")
    return operation["value"]


def _tokens(operation: Object, field: str) -> list[str]:
    text = operation.get(field)
    if not isinstance(text, str):
        raise PatchError(f'the operation needs a string in "{field}"')
    if (text and not text.startswith("/")) or _BAD_ESCAPE.search(text):
        raise PatchError(f'"{text}" is not a JSON Pointer')
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step
