"""Rounds of a fight: Karmada has overwritten a field, and the same manager has written it again.

Both are read from ``metadata.managedFields``, which are sets of structured-merge-diff (``fieldpath/serialize-pe.go``).
``f:`` is a field, ``k:`` a list element by its keys, ``v:`` a set element by its value. A field without parts is
atomic: one writer owns all of it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import reduce
from itertools import islice
from operator import itemgetter
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

import orjson

from karta_interpreter.base.k8s import (
    JSON,
    NOTHING,
    Object,
    Path,
    annotation,
    diff,
    generation,
    get,
    parts_within,
)
from karta_interpreter.base.k8s.yaml_writer import to_yaml_line
from karta_interpreter.engine.operations import MANAGED_FIELDS, MOST_ENTRIES, karmadas_managers, manager_of, respelled

_UNCOMPARED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_LABELLING: Final = (("metadata", "labels"), ("metadata", "annotations"))
AMOUNT: Final = re.compile(r"\.(requests|limits)[.\[][^\[]*$")
"""The field of an amount of a resource. Controllers write 1000m and the number 1 as "1"."""
_LONGEST: Final = 256
# Three rounds within this many seconds are a fight.
_WINDOW: Final = 3600
MOST_FIELDS: Final = 5


class Writer(NamedTuple):
    """A manager of fields, and the time of its last write in seconds since 1970 (0 for writes through ``scale``)."""

    manager: str
    time: int


_KARMADA: Final = Writer("", 0)
_EMPTY: Final[tuple[JSON, ...]] = (NOTHING, None, "", [])
# The writers of a part of an object with their fields: Karmada first, then the latest writer first.
_Owned: TypeAlias = Sequence[tuple[Writer, Object]]
_FIELDS_OF: Final = itemgetter(1)
# A part that differs: its field, both values, its writers, and the atomic field that it is in.
_Part: TypeAlias = tuple[str, JSON, JSON, _Owned, str]


class FieldDifference(NamedTuple):
    """A field that Karmada is about to change from ``theirs`` (the member's) to ``ours``. `NOTHING` is a missing field.

    ``field`` is a jq path without the indices of lists, so several elements may differ in one field. ``writer`` is None
    for missing fields and for changes by admission. ``owned`` is the field that the writer owns: in an atomic list or
    object it is the whole.
    """

    field: str
    ours: JSON
    theirs: JSON
    writer: Writer | None = None
    owned: str = ""


class Comparison(NamedTuple):
    """The changes that Karmada is about to make. Its last write was at ``written``, in seconds since 1970."""

    written: int
    generation: int
    edition: str | None
    """The generation of the template."""
    differences: list[FieldDifference]


def compared(ours: Object, observed: Object) -> Comparison | None:
    """Compare what Karmada is about to write with the member's object, or return None without fields of Karmada's."""
    owned = owners(observed)
    written = max((writer.time for writer, _ in owned if not writer.manager), default=0)
    if not written:
        return None
    return Comparison(
        written,
        (generation(observed) or 0) % 2**32,
        annotation(ours, "resourcetemplate.karmada.io/generation"),
        [*differences(ours, observed, owned)],
    )


def owners(observed: Object) -> list[tuple[Writer, Object]]:
    """Return the writers of an object with their fields: Karmada first, as "", then the latest writer first."""
    entries = get(observed, MANAGED_FIELDS)
    if not isinstance(entries, list) or len(entries) > MOST_ENTRIES:
        return []
    karmada = karmadas_managers(entries)
    owned = []
    for entry in entries:
        time = datetime.fromisoformat(entry["time"]).timestamp() if entry.get("time") else 0
        manager = manager_of(entry)
        name = "" if manager in karmada else manager[:_LONGEST]
        owned.append((Writer(name, int(time) % 2**32), entry.get("fieldsV1") or {}))
    return sorted(owned, key=lambda pair: (pair[0].manager != "", -pair[0].time))


def differences(ours: Object, theirs: Object, owned: _Owned = ()) -> Iterator[FieldDifference]:
    """Yield the differences that an update by Karmada could remove.

    List elements correspond if their keys or names are equal. Null, an empty text or list, and an object of such fields
    count as a missing field, since typed clients write them. Fields that the API server owns, or that Karmada takes
    over from the member, are left out.

    >>> [found.field for found in differences({"spec": {"a": [{"b": 1}], "c": 2}}, {"spec": {"a": [{"b": 2}]}})]
    ['.spec.a[].b', '.spec.c']
    """
    paths: list[Path] = [(name,) for name in {**ours, **theirs} if name not in _UNCOMPARED]
    pending: list[_Part] = []
    for path in reversed([*paths, *_LABELLING]):
        old, new = get(ours, path, NOTHING), get(theirs, path, NOTHING)
        # Most parts are equal, and left out before anything is made of them.
        if old != new:
            pending.append((field_of(path), old, new, reduce(_part, map("f:{}".format, path), owned), ""))
    while pending:
        field, old, new, owners, whole = pending.pop()
        if len(field) > _LONGEST:
            continue
        whole = whole or ("" if any(map(_FIELDS_OF, owners)) else field)
        inner = _inner((field, old, new, owners, whole))
        if inner is not None:
            pending += reversed(inner)
        elif _is_empty(new) and _is_empty(old):
            continue
        elif NOTHING in (old, new) or (diff(old, new) and not (AMOUNT.search(field) and respelled(old, new) is new)):
            writer = owners[0][0] if owners else None
            if writer and not writer.manager and _is_missing(new):
                # A missing field is not Karmada's: an object that has lost its parts looks like an atomic one.
                writer = None
            yield FieldDifference(field, old, new, writer, whole or field)


def field_of(path: Path) -> str:
    """Return a path as the field of a difference.

    >>> field_of(("spec", "containers", 0, "image"))
    '.spec.containers[].image'
    """
    return "".join("[]" if isinstance(step, int) else _step(step) for step in path)


def _part(owned: _Owned, key: str) -> _Owned:
    """Return the writers of a part.

    An empty object that somebody else has filled is not atomic.
    """
    owners = [(writer, fields[key]) for writer, fields in owned if fields and key in fields]
    if owners or any(map(_FIELDS_OF, owned)):
        return owners
    return owned[:1]


def _inner(part: _Part) -> list[_Part] | None:
    """Return the fields or elements of a part that differ, or None if it is to be compared as a whole."""
    field, old, new, owners, whole = part
    if isinstance(old, list) and isinstance(new, list):
        return _elements(f"{field}[]", old, new, owners, whole)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    inner: list[_Part] = []
    for key in old | new:
        left, right = old.get(key, NOTHING), new.get(key, NOTHING)
        if left != right:
            inner.append((field + _step(key), left, right, _part(owners, f"f:{key}"), whole))
    return inner


def _elements(field: str, ours: list[JSON], theirs: list[JSON], owned: _Owned, whole: str) -> list[_Part] | None:
    """Return the elements that correspond, or None if the lists are to be compared as wholes."""
    example = _example(fields for _, fields in owned)
    key_of = element_key(fields for _, fields in owned)
    types = set(map(type, (*ours, *theirs)))

    def pair(old: JSON, new: JSON) -> _Part:
        return field, old, new, _part(owned, key_of(old if new is NOTHING else new) if example else ""), whole

    old, new = dict(zip(map(key_of, ours), ours, strict=True)), dict(zip(map(key_of, theirs), theirs, strict=True))
    pairs: Iterable[tuple[JSON, JSON]]
    if len(old) == len(ours) and len(new) == len(theirs) and (example or types <= {dict}):
        if not example and [key for key in old if key in new] != [key for key in new if key in old]:
            return None
        pairs = ((old.get(key, NOTHING), new.get(key, NOTHING)) for key in {**old, **new})
    elif len(ours) != len(theirs) or not (example or types <= {dict, list}):
        return None
    else:
        pairs = zip(ours, theirs, strict=True)
    return [pair(left, right) for left, right in pairs if left != right]


def element_key(owned: Iterable[Object]) -> Callable[[JSON], str]:
    """Return a function that gives the key of a list's element among the fields of its writers."""
    example = _example(owned)
    names = [*orjson.loads(example[2:])] if example.startswith("k:") else ["name"]
    # A name that nobody has set tells nothing, unless it is a key.
    unset = NOTHING if example else ""

    def key_of(element: JSON) -> str:
        if isinstance(element, dict) and not example.startswith("v:"):
            keys = {name: element[name] for name in names if element.get(name, unset) != unset}
            return "k:" + orjson.dumps(keys).decode()
        return "v:" + orjson.dumps(element).decode()

    return key_of


def _example(owned: Iterable[Object]) -> str:
    """Return the key of an element that somebody owns, "" if the list is atomic or its keys are long.

    Only ``.`` sorts before the keys of elements. Many elements may ask about the same writers.
    """
    for fields in owned:
        for key in islice(fields, 2):
            if key[:2] == "v:" or (key[:2] == "k:" and len(key) <= _LONGEST):
                return key
    return ""


def _is_missing(value: JSON) -> bool:
    return value is NOTHING or value is None


def _is_empty(value: JSON) -> bool:
    """Return whether a value is what Go's types write for a field that nobody has set."""
    return all(isinstance(part, dict) or part in _EMPTY for _, part in parts_within(value))


def _step(key: str) -> str:
    return f".{key}" if key.isascii() and key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


class _Round(NamedTuple):
    """The last round of a field. All times are in seconds.

    ``written`` is the time of Karmada's entry, ``taken`` the time of the other writer's. ``before`` and ``last`` are
    the times at which the previous round and this round were seen.
    """

    key: int
    written: int
    taken: int
    generation: int
    before: int
    last: int


_ROUND: Final = Struct("<qIIIII")


def advanced(rounds: bytes, comparison: Comparison, now: int) -> tuple[bytes, list[tuple[FieldDifference, int]]]:
    """Return the rounds to remember for an object, and the fields in their third round with the time of the first.

    Fields that the template sets come first.
    """
    fields, fought, kept = _written_by_others(comparison), [], dict[int, _Round]()
    rounds_by_key = {}
    for row in map(_Round._make, _ROUND.iter_unpack(rounds)):
        if now - row.last <= _WINDOW:
            rounds_by_key[row.key] = row
    renewed = any(difference.writer and not _is_missing(difference.ours) for difference in comparison.differences)
    for key, difference in sorted(fields.items(), key=lambda pair: pair[0] not in rounds_by_key):
        writer = difference.writer or _KARMADA
        this = _Round(key, comparison.written, writer.time, comparison.generation, 0, now)
        last = rounds_by_key.pop(key, this)
        # An update that only removes fields does not renew Karmada's time. An update that a webhook undoes may renew
        # it. An update that lands and the change that undoes it are two changes.
        has_landed = this.written > last.written or not (renewed or difference.writer is None)
        if difference.writer is None or not renewed:
            has_landed = has_landed and this.generation >= last.generation + 2
        if has_landed and (this.taken > last.taken or not this.taken):
            kept[key] = this._replace(before=last.last)
            if now - last.before <= _WINDOW:
                fought.append((difference, last.before))
        else:
            kept[key] = last if difference.writer else this._replace(before=last.before, last=last.last)
    # If Karmada also writes other fields, its time says nothing about a field without a writer.
    remembered = [*kept.values(), *(row for row in rounds_by_key.values() if row.key >= 0)][:MOST_FIELDS]
    fought.sort(key=lambda pair: _is_missing(pair[0].ours))
    return b"".join(_ROUND.pack(*row) for row in remembered), fought


def _written_by_others(comparison: Comparison) -> dict[int, FieldDifference]:
    """Return the fields that others have written, by number, or else the removed fields, by negative numbers.

    Of an atomic list or object these are the fields that the template sets, or else one field, an element before the
    parts of another one: the others may be defaults by a webhook. A field without a writer is identified by everything
    that Karmada writes with it.
    """
    by_others: dict[int, FieldDifference] = {}
    written, overwritten = [], set()
    for difference in comparison.differences:
        if not _is_missing(difference.ours):
            written.append((difference.field, difference.ours))
            overwritten.add(difference.owned)
    # A part that Karmada only removes is more likely a default than an element.
    for difference in sorted(comparison.differences, key=lambda one: (_is_missing(one.ours), one.field[-2:] != "[]")):
        field = difference.owned if _is_missing(difference.ours) else difference.field
        may_be_default = field != difference.field and field in overwritten
        if difference.writer and difference.writer.manager and not may_be_default:
            by_others.setdefault(_number(field, difference.writer.manager), difference)
    if by_others:
        return by_others
    text, removed = orjson.dumps([comparison.edition, written]), {}
    for difference in comparison.differences:
        if difference.writer is None and _is_missing(difference.theirs):
            removed[~_number(difference.field, text)] = difference
    return removed


def _number(*identity: object) -> int:
    return hash(identity) & 2**62 - 1


def retain_line(difference: FieldDifference) -> str:
    """Return the line of the annotation ``retain`` by which Retain takes the field from the member.

    >>> retain_line(FieldDifference(".spec.replicas", 3, 7))
    '- .spec.replicas'
    >>> retain_line(FieldDifference(".spec.containers[]", NOTHING, {"name": "proxy"}))
    '- {unset: .spec.containers, by: .name}'
    """
    field, ours, theirs = difference[:3]
    if _is_missing(ours):
        if field.endswith("[]"):
            return f"- {to_yaml_line({'unset': field.removesuffix('[]'), 'by': '.name'})}"
        return f"- unset: {to_yaml_line(field)}"
    if _is_missing(theirs):
        return f"- {to_yaml_line(f'{field} // empty')}"
    if ours != theirs and respelled(ours, theirs) == theirs:
        return f"- quantities: {to_yaml_line(field)}"
    return f"- {to_yaml_line(field)}"
