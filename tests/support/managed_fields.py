"""A member's API server for one object: it keeps ``metadata.managedFields`` as Kubernetes does.

It does what ``Update`` of structured-merge-diff does (``merge/update.go``), in the order of ``handlers/update.go``: who
has sent a request gets what it changes, all others lose what it changes or removes, and only then webhooks change the
object. A time moves with what is taken (``managedfieldsupdater.go``), never for the subresource ``scale``, and a
request that leaves all but times as it was is not stored (``ignoreManagedFieldsTimestampsTransformer``).
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Thing = dict[str, Any]
Place = tuple[str, ...]
Keys = Mapping[str, tuple[str, ...]]
TYPED: Keys = {"containers": ("name",), "env": ("name",), "ports": ("containerPort", "protocol"), "finalizers": ()}
"""The declared keys of lists by field. Sets have empty keys. All other lists are atomic."""


@dataclass
class Entry:
    manager: str
    subresource: str
    places: set[Place]
    time: float


@dataclass
class Member:
    """An object of a member; ``webhook`` is its admission, ``keys`` are those of its lists."""

    live: Thing
    keys: Keys = field(default_factory=lambda: TYPED)
    webhook: Callable[[Thing], None] = lambda _: None
    entries: list[Entry] = field(default_factory=list)

    def write(self, changed: Thing, manager: str, now: float, subresource: str = "") -> None:
        """Store what a manager sends, as an update."""
        old, new = dict(self._values(self.live)), dict(self._values(changed))
        taken = {place for place, value in new.items() if old.get(place, ...) != value}
        before = {(each.manager, each.subresource): each for each in self.entries}
        lost = taken | (old.keys() - new.keys())
        entries = {key: Entry(*key, each.places - lost, each.time) for key, each in before.items()}
        if taken:
            key = manager, subresource
            owned = entries[key].places if key in entries else set[Place]()
            entries[key] = Entry(*key, owned | taken, now)
        admitted = copy.deepcopy(changed)
        self.webhook(admitted)
        kept = {key: each for key, each in entries.items() if each.places}
        places = {key: each.places for key, each in kept.items()}
        same = dict(self._values(admitted)) == old
        # They are stored by time, and another order is a change, too (``managedfields/internal/managedfields.go``).
        in_order = sorted(kept, key=lambda key: int(kept[key].time)) == sorted(
            before, key=lambda key: int(before[key].time)
        )
        if same and in_order and places == {key: each.places for key, each in before.items()}:
            return
        metadata = self.live["metadata"]
        generation = metadata.get("generation", 0) + (admitted.get("spec") != self.live.get("spec"))
        version = str(int(metadata.get("resourceVersion", "0")) + 1)
        self.entries = [*kept.values()]
        uid = metadata.get("uid", "2eb61350-41d5-4af8-a0ad-dfb4a60ced05")
        own = {"generation": generation, "resourceVersion": version, "uid": uid, "managedFields": self._fields()}
        self.live = {**admitted, "metadata": {**admitted["metadata"], **own}}

    def _fields(self) -> list[Thing]:
        return [_entry(each) for each in self.entries]

    def _values(self, thing: Thing) -> Iterator[tuple[Place, object]]:
        metadata = {key: thing["metadata"][key] for key in ("annotations", "labels") if key in thing["metadata"]}
        for key in thing.keys() - {"apiVersion", "kind", "metadata", "status"}:
            yield from self._of(thing[key], (f"f:{key}",))
        for key, value in metadata.items():
            yield from self._of(value, ("f:metadata", f"f:{key}"))

    def _of(self, value: Any, place: Place) -> Iterator[tuple[Place, object]]:
        keys = self.keys.get(place[-1][2:])
        if isinstance(value, list) and keys is not None:
            yield place, None
            for each in value:
                names = {key: each[key] for key in keys} if keys else each
                yield from self._of(each, (*place, f"{'k' if keys else 'v'}:{_go(names)}"))
        elif isinstance(value, dict):
            yield place, None
            for key, inner in value.items():
                yield from self._of(inner, (*place, f"f:{key}"))
        else:
            yield place, json.dumps(value)


def _entry(entry: Entry) -> Thing:
    fields: Thing = {}
    for place in sorted(entry.places):
        here = fields
        for step in place:
            here = here.setdefault(step, {})
        if any(other[: len(place)] == place != other for other in entry.places):
            here["."] = {}
    found = {"apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": entry.manager}
    if entry.subresource:
        return {**found, "operation": "Update", "subresource": entry.subresource}
    time = datetime.fromtimestamp(int(entry.time), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**found, "operation": "Update", "time": time}


def _go(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
