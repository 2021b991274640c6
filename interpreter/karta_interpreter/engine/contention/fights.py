"""When differences that come back are a fight: Karmada writes the same value again and again, and it never stays."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, TypeAlias

import orjson

from karta_interpreter.base.k8s.values import JSON, NOTHING
from karta_interpreter.engine.contention.differences import FieldDifference

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
