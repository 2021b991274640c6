"""Fights between Karmada and a controller of a member: found in a series of Retain's answers, and ended by a rule.

A fight is a difference that comes back: Karmada writes the same value again and again, and it never stays.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.values import JSON, NOTHING, Object
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.annotation_records import parse_retain
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.retain import retain

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNCOMPARED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_LABELLING: Final = ("labels", "annotations")
_MOST: Final = 32
_LONGEST: Final = 256


class FieldDifference(NamedTuple):
    """A field of which Karmada is about to write ``ours`` where the member has ``theirs``; `NOTHING` is no field.

    ``field`` is a jq path without the indices of lists, so several elements may differ in one.
    """

    field: str
    ours: JSON
    theirs: JSON


_Pair: TypeAlias = tuple[str, JSON, JSON]


def differences(ours: Object, theirs: Object) -> list[FieldDifference]:
    """Return the first 32 differences that an update by Karmada could remove.

    Elements of lists are the same when their names are. Null is no field. What the API server owns, or Karmada takes
    over from the member, is left out.

    >>> [each.field for each in differences({"spec": {"a": [{"b": 1}], "c": 2}}, {"spec": {"a": [{"b": 2}]}})]
    ['.spec.a[].b', '.spec.c']
    """
    return list(islice(_differences(ours, theirs), _MOST))


def _differences(ours: Object, theirs: Object) -> Iterator[FieldDifference]:
    parts = [(name,) for name in dict.fromkeys([*ours, *theirs]) if name not in _UNCOMPARED]
    places = [*parts, *(("metadata", name) for name in _LABELLING)]
    pending = [("".join(map(_step, at)), get(ours, at, NOTHING), get(theirs, at, NOTHING)) for at in reversed(places)]
    while pending:
        field, old, new = pending.pop()
        if old is new or (_is_missing(old) and _is_missing(new)) or len(field) > _LONGEST:
            continue
        inner = None
        if isinstance(old, dict) and isinstance(new, dict):
            keys = dict.fromkeys([*old, *new])
            inner = [(field + _step(key), old.get(key, NOTHING), new.get(key, NOTHING)) for key in keys]
        elif isinstance(old, list) and isinstance(new, list):
            inner = _elements(f"{field}[]", old, new)
        if inner is not None:
            pending += reversed(inner)
        elif NOTHING in (old, new) or diff(old, new):
            yield FieldDifference(field, old, new)


def _elements(field: str, ours: list[JSON], theirs: list[JSON]) -> list[_Pair] | None:
    """Return the elements that belong together; None where the lists are to be compared as wholes."""
    old, new = _named(ours), _named(theirs)
    if old is not None and new is not None:
        if [name for name in old if name in new] != [name for name in new if name in old]:
            return None
        return [(field, old.get(name, NOTHING), new.get(name, NOTHING)) for name in dict.fromkeys([*old, *new])]
    if len(ours) == len(theirs) and all(isinstance(each, dict) for each in (*ours, *theirs)):
        return [(field, *pair) for pair in zip(ours, theirs, strict=True)]
    return None


def _named(elements: list[JSON]) -> dict[str, JSON] | None:
    """Return elements by their names, None where not each has one of its own."""
    names = [each.get("name") if isinstance(each, dict) else None for each in elements]
    found = {name: each for name, each in zip(names, elements, strict=True) if isinstance(name, str)}
    return found if len(found) == len(elements) else None


def _is_missing(value: JSON) -> bool:
    return value is NOTHING or value is None


def _step(key: str) -> str:
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"


TURNS: Final = 4
"""The times that a difference is found before it is a fight: a template that is changed back has two."""
WINDOW: Final = 600.0
"""Seconds without a turn after which a fight is over: Karmada sends an object again at least that often."""

_Print: TypeAlias = float | bytes
"""What a value is recognised by: a number by itself."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Differences of one object ``at`` a time in seconds, when it had a ``generation``, None where it has none.

    ``number`` is how often Retain has been asked about the object so far.
    """

    at: float
    number: int
    generation: int | None
    differences: Iterable[FieldDifference]


@dataclass(frozen=True, slots=True)
class Streak:
    """The turns of one field in which Karmada's value was the same; times are in seconds."""

    ours: tuple[_Print, ...]
    theirs: tuple[_Print, ...]
    generation: int | None
    begin: float
    last: float
    first: int
    turns: int = 1
    per_minute: float = 0.0

    @property
    def is_fight(self) -> bool:
        """Whether there were enough turns."""
        return self.turns >= TURNS


def advanced(streaks: Mapping[str, Streak], turn: Turn) -> dict[str, Streak]:
    """Return the streaks by their fields after a turn; those that are over are left out."""
    kept = {field: streak for field, streak in streaks.items() if turn.at - streak.last <= WINDOW}
    pairs: dict[str, tuple[list[_Print], list[_Print]]] = defaultdict(lambda: ([], []))
    for field, *values in turn.differences:
        for side, value in zip(pairs[field], values, strict=True):
            side.append(_print(value))
    for field, (ours, theirs) in pairs.items():
        found = Streak(tuple(ours), tuple(theirs), turn.generation, turn.at, turn.at, turn.number)
        before = kept.get(field)
        if before is None or before.ours != found.ours:
            kept[field] = found
        elif _approaches(before, found):
            kept[field] = replace(before, theirs=found.theirs, generation=found.generation, last=found.last)
        elif _has_moved(field, before, found):
            minutes = (turn.at - before.begin) / 60
            rate = (turn.number - before.first) / minutes if minutes else 0.0
            turns = before.turns + 1
            kept[field] = replace(found, begin=before.begin, first=before.first, turns=turns, per_minute=rate)
    return kept


def _has_moved(field: str, before: Streak, now: Streak) -> bool:
    """Whether Karmada has written its value meanwhile: the same difference may also be of an update that fails.

    The API server counts each change outside of metadata. Karmada's is one, and so is what brings back the member's
    value; a webhook that writes another value into Karmada's update makes one change with it.
    """
    if before.generation is None or now.generation is None or field.startswith(".metadata."):
        return True
    return now.generation - before.generation >= (2 if now.theirs == before.theirs else 1)


def _approaches(before: Streak, now: Streak) -> bool:
    """Whether the member gets closer to Karmada's number, as one does that is scaled in steps."""
    sides = (*before.ours, *before.theirs, *now.theirs)
    numbers = [each for each in sides if not isinstance(each, bytes)]
    if len(numbers) < len(sides) or len(sides) != 3:  # noqa: PLR2004 - one value of each
        return False
    wanted, old, new = numbers
    return abs(new - wanted) < abs(old - wanted) and (new > wanted) == (old > wanted)


def _print(value: JSON) -> _Print:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = b"" if value is NOTHING else orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).digest()


_PLAIN: Final = re.compile(r'[\w."/\[\]-]+')


def suggested_line(definition: Definition, desired: Object, observed: Object, difference: FieldDifference) -> str:
    """Return the line after which Retain keeps the member's value of a field, and changes nothing else; "" for none.

    Only for definitions that answer by themselves, in this process: a script keeps fields in its own way.
    """
    if definition.scripts.of(Operation.RETAIN) or definition.needs_child or definition.references:
        return ""
    karta, _ = read_karta(definition.manifest)
    if karta is None:
        return ""
    before = {each.field for each in differences(retain(definition, desired, observed), observed)}
    for line in _lines(difference):
        annotation = AnnotationText("retain", line, karta, {})
        rules = parse_retain(annotation)
        if annotation.findings or not rules:
            continue
        annotations = replace(definition.annotations, retain=(*definition.annotations.retain, *rules))
        try:
            retained = retain(replace(definition, annotations=annotations), desired, observed)
        except InterpretationError:
            continue
        if {each.field for each in differences(retained, observed)} <= before - {difference.field}:
            return line
    return ""


def _lines(difference: FieldDifference) -> Iterator[str]:
    """Yield what might do, the rule first that keeps least."""
    field, ours, theirs = difference
    if NOTHING not in (ours, theirs):
        yield f"- quantities: {_scalar(field)}"
    yield f"- unset: {_scalar(field)}"
    if field.endswith("[]"):
        yield f"- {{unset: {json.dumps(field.removesuffix('[]'))}, by: .name}}"
    yield f"- {_scalar(field)}"
    yield f"- {_scalar(f'{field} // empty')}"


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text.removesuffix(" // empty")) else json.dumps(text)
