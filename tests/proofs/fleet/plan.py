"""The plan of a day: what happens to which object, and when. A pure function of the numbers that it is given."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.proofs.fleet.workloads import KINDS, Kind
from tests.proofs.rig.api import Object

_SEED = 42
_BEGINS = 0.35
"""The share of the day in which objects are created."""
_LIVES = 0.9
"""The share of the day after which objects that end are deleted."""


@dataclass(frozen=True)
class Event:
    """At ``time``, a share of the day, ``action`` happens to an object with a value."""

    time: float
    action: str
    kind: Kind
    number: int
    value: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.stem}-{self.number:03}"

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.stem, self.name


def counts(objects: int, kinds: Sequence[Kind] = KINDS) -> dict[Kind, int]:
    """Return how many objects each kind gets, at least one.

    >>> sum(counts(200).values())
    200
    """
    whole = sum(kind.weight for kind in kinds)
    found = {kind: max(1, objects * kind.weight // whole) for kind in kinds}
    largest = max(kinds, key=lambda kind: kind.weight)
    found[largest] = max(1, found[largest] + objects - sum(found.values()))
    return found


def plan(objects: int, kinds: Sequence[Kind] = KINDS) -> list[Event]:
    """Return the events of a day with so many objects, in order."""
    die = random.Random(_SEED)  # noqa: S311 - the same day each time
    events = [
        event
        for kind, count in counts(objects, kinds).items()
        for number in range(count)
        for event in _life(kind, number, die)
    ]
    return sorted(events, key=lambda event: (event.time, event.key))


def _life(kind: Kind, number: int, die: random.Random) -> Iterator[Event]:
    """Yield what happens to one object."""
    begin = die.uniform(0, _BEGINS)
    yield Event(begin, "create", kind, number)
    actions = [*_actions(kind, number)]
    for index, action in enumerate(actions):
        time = begin + (_LIVES - begin) * (index + die.uniform(0.5, 1)) / (len(actions) + 1)
        yield Event(time, action, kind, number, die.randrange(1, 4))
    if number % 6 == 5:
        yield Event(die.uniform(_LIVES, 1), "delete", kind, number)


def _actions(kind: Kind, number: int) -> Iterator[str]:
    if kind.switch and number % 2 == 0:
        yield from ("suspend", "resume")
    if kind.completes:
        yield "fail" if number % 5 == 3 else "succeed"
        return
    if kind.count and number % 3 != 2:
        yield from ("scale", "scale")
    if kind.pod:
        yield "roll"
        if number % 7 == 4:
            yield from ("stick", "roll", "unstick")
    if kind.divided and number % 5 == 1:
        yield "move"
    if kind.pod and number % 8 == 6:
        yield "meddle"
    if fails_over(kind, number):
        yield from ("hurt", "mend")


def fails_over(kind: Kind, number: int) -> bool:
    """Whether an object goes to another member where it is unhealthy: some of those that are in one."""
    return kind.name in {"Deployment", "CloneSet"} and number % 4 == 3


def labels_of(event: Event) -> Object:
    """Return the further labels of an object: every third job is queued."""
    queued = event.kind.name in {"Job", "JobSet"} and event.number % 3 == 1
    return {"kueue.x-k8s.io/queue-name": "queue"} if queued else {}
