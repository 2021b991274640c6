"""Rounds of a fight: Karmada has overwritten a field, and the same manager has it again.

Both are read from ``metadata.managedFields``, sets of structured-merge-diff (``fieldpath/serialize-pe.go``): ``f:`` is
a field, ``k:`` an element of a list by its keys, ``v:`` one of a set by its value, and what has no parts is atomic: one
writer has all of it.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import reduce
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

import orjson

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.fields import annotation, generation
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.values import JSON, NOTHING, Object, Path

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNCOMPARED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_LABELLING: Final = ("labels", "annotations")
_LONGEST: Final = 256
_ENTRIES: Final = 64
"""Writers of one object that are told apart: an API server keeps ten, and those that apply."""
_KARMADAS: Final = frozenset({"f:work.karmada.io/name", "f:resourcetemplate.karmada.io/generation"})
"""Annotations by whose writer Karmada is known; a binary of another name takes over the second one at the next edit."""
_WINDOW: Final = 3600
"""Seconds in which three rounds are a fight."""
MOST_FIELDS: Final = 5
"""The fields of one object that are remembered."""


class Writer(NamedTuple):
    """A manager of fields, and the time of its last write in seconds since 1970; 0 for writes through ``scale``."""

    manager: str
    time: int


_KARMADA: Final = Writer("", 0)
_Owned: TypeAlias = Sequence[tuple[Writer, Object]]
"""Who has written a part of an object, with the fields of it: Karmada before others, and the last before others."""


class FieldDifference(NamedTuple):
    """A field of which Karmada is about to write ``ours`` where the member has ``theirs``; `NOTHING` is no field.

    ``field`` is a jq path without the indices of lists, so several elements may differ in one. Nobody is the ``writer``
    of what admission has changed, and of what is not there.
    """

    field: str
    ours: JSON
    theirs: JSON
    writer: Writer | None = None


class Comparison(NamedTuple):
    """What Karmada is about to change in an object that it has ``written`` last at a time in seconds since 1970."""

    written: int
    generation: int
    edition: str | None
    """The generation of the template."""
    differences: list[FieldDifference]


def compared(ours: Object, observed: Object) -> Comparison | None:
    """Compare what Karmada is about to write with the member's object; None where that has no fields of Karmada's."""
    entries = get(observed, ("metadata", "managedFields"))
    if not isinstance(entries, list) or len(entries) > _ENTRIES:
        return None
    owned = [(Writer(each["manager"][:_LONGEST], _seconds(each.get("time"))), each["fieldsV1"]) for each in entries]
    place = "f:metadata", "f:annotations"
    karmada = {writer.manager for writer, fields in owned if _KARMADAS & {*get(fields, place, ())}}
    written = max((writer.time for writer, _ in owned if writer.manager in karmada), default=0)
    if not written:
        return None
    owned = [(_KARMADA if writer.manager in karmada else writer, fields) for writer, fields in owned]
    owned.sort(key=lambda pair: (pair[0].manager != "", -pair[0].time))
    edition = annotation(ours, "resourcetemplate.karmada.io/generation")
    return Comparison(written, (generation(observed) or 0) % 2**32, edition, [*differences(ours, observed, owned)])


def _seconds(time: str | None) -> int:
    return int(datetime.fromisoformat(time).timestamp()) % 2**32 if time else 0


def differences(ours: Object, theirs: Object, owned: _Owned = ()) -> Iterator[FieldDifference]:
    """Yield the differences that an update by Karmada could remove.

    Elements of lists are the same when their keys are, or their names. Null is no field. What the API server owns, or
    Karmada takes over from the member, is left out.

    >>> [each.field for each in differences({"spec": {"a": [{"b": 1}], "c": 2}}, {"spec": {"a": [{"b": 2}]}})]
    ['.spec.a[].b', '.spec.c']
    """
    parts: list[Path] = [(name,) for name in dict.fromkeys([*ours, *theirs]) if name not in _UNCOMPARED]
    pending = [
        (
            field_of(at),
            get(ours, at, NOTHING),
            get(theirs, at, NOTHING),
            reduce(lambda owners, name: _parts(owners)(f"f:{name}"), at, owned),
        )
        for at in reversed([*parts, *(("metadata", name) for name in _LABELLING)])
    ]
    while pending:
        field, old, new, owners = pending.pop()
        if old == new or (_is_missing(old) and _is_missing(new)) or len(field) > _LONGEST:
            continue
        inner = None
        if isinstance(old, dict) and isinstance(new, dict):
            part_of = _parts(owners)
            inner = [
                (field + _step(key), old.get(key, NOTHING), new.get(key, NOTHING), part_of(f"f:{key}"))
                for key in dict.fromkeys([*old, *new])
            ]
        elif isinstance(old, list) and isinstance(new, list):
            inner = _elements(f"{field}[]", old, new, owners)
        if inner is not None:
            pending += reversed(inner)
        elif NOTHING in (old, new) or diff(old, new):
            yield FieldDifference(field, old, new, owners[0][0] if owners else None)


def field_of(path: Path) -> str:
    """Return a place as the field of a difference.

    >>> field_of(("spec", "containers", 0, "image"))
    '.spec.containers[].image'
    """
    return "".join("[]" if isinstance(step, int) else _step(step) for step in path)


def _parts(owned: _Owned) -> Callable[[str], _Owned]:
    """Return who has written each part of a part; an empty object that somebody else has filled is not atomic."""
    parts = defaultdict[str, list[tuple[Writer, Object]]](list)
    for writer, fields in owned:
        for key, inner in fields.items():
            parts[key].append((writer, inner))
    return lambda key: parts.get(key, ()) if parts else owned[:1]


def _elements(
    field: str, ours: list[JSON], theirs: list[JSON], owned: _Owned
) -> list[tuple[str, JSON, JSON, _Owned]] | None:
    """Return the elements that belong together; None where the lists are to be compared as wholes."""
    part_of = _parts(owned)
    example = next((key for _, fields in owned for key in fields if key[:2] in {"k:", "v:"}), "")
    names = [*orjson.loads(example[2:])] if example.startswith("k:") else ["name"]
    if not example and not all(isinstance(each, dict) for each in (*ours, *theirs)):
        return None

    def key_of(element: JSON) -> str:
        if isinstance(element, dict) and not example.startswith("v:"):
            return "k:" + orjson.dumps({name: element[name] for name in names if name in element}).decode()
        return "v:" + orjson.dumps(element).decode()

    def pair(old: JSON, new: JSON) -> tuple[str, JSON, JSON, _Owned]:
        return field, old, new, part_of(key_of(old if new is NOTHING else new) if example else "")

    old, new = ({key_of(each): each for each in elements} for elements in (ours, theirs))
    if len(old) == len(ours) and len(new) == len(theirs):
        if example or [key for key in old if key in new] == [key for key in new if key in old]:
            return [pair(old.get(key, NOTHING), new.get(key, NOTHING)) for key in dict.fromkeys([*old, *new])]
        return None
    return [*map(pair, ours, theirs)] if len(ours) == len(theirs) else None


def _is_missing(value: JSON) -> bool:
    return value is NOTHING or value is None


def _step(key: str) -> str:
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"


class _Round(NamedTuple):
    """The last round of a field; times are in seconds.

    ``written`` is the time of Karmada's entry, ``taken`` that of the other writer; the last two are when the round
    before this one was seen, and this one.
    """

    key: int
    written: int
    taken: int
    generation: int
    before: int
    last: int


_ROUND: Final = Struct("<qIIIII")


def advanced(rounds: bytes, comparison: Comparison, now: int) -> tuple[bytes, list[tuple[FieldDifference, int]]]:
    """Return what is to be remembered of an object, and the fields in their third round, with the time of the first.

    What Karmada writes comes first in them: with atomic lists the rest may be the work of webhooks.
    """
    fields, fought, kept = _contested(comparison), [], dict[int, _Round]()
    known = {each.key: each for each in map(_Round._make, _ROUND.iter_unpack(rounds)) if now - each.last <= _WINDOW}
    renewed = any(each.writer and not _is_missing(each.ours) for each in comparison.differences)
    for key, each in sorted(fields.items(), key=lambda pair: pair[0] not in known):
        writer = each.writer or _KARMADA
        this = _Round(key, comparison.written, writer.time, comparison.generation, 0, now)
        last = known.pop(key, this)
        # An update that only removes fields does not renew Karmada's time, and one that a webhook undoes may. An update
        # that lands and what undoes it are two changes.
        has_landed = this.written > last.written or not (renewed or each.writer is None)
        if each.writer is None or not renewed:
            has_landed = has_landed and this.generation >= last.generation + 2
        if has_landed and (this.taken > last.taken or not this.taken):
            kept[key] = this._replace(before=last.last)
            if now - last.before <= _WINDOW:
                fought.append((each, last.before))
        else:
            kept[key] = last if each.writer else this._replace(before=last.before, last=last.last)
    # Next to anything else that Karmada writes its time tells nothing about a field without a writer.
    remembered = [*kept.values(), *(each for each in known.values() if each.key >= 0)][:MOST_FIELDS]
    fought.sort(key=lambda pair: _is_missing(pair[0].ours))
    return b"".join(_ROUND.pack(*each) for each in remembered), fought


def _contested(comparison: Comparison) -> dict[int, FieldDifference]:
    """Return by their numbers the fields that others have written; else those that are only removed, by negative ones.

    A field that is nobody's is known by all that Karmada writes with it.
    """
    wanted = [(each.field, each.ours) for each in comparison.differences if not _is_missing(each.ours)]
    text = orjson.dumps([comparison.edition, wanted])
    return {
        _number(each.field, each.writer.manager): each
        for each in comparison.differences
        if each.writer and each.writer.manager
    } or {
        ~_number(each.field, text): each
        for each in comparison.differences
        if each.writer is None and _is_missing(each.theirs)
    }


def _number(*about: object) -> int:
    return hash(about) & 2**62 - 1
