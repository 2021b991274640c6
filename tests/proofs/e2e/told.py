"""What ``diff --from bindings`` tells of a fleet, and whether that is what became of it."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from tests.proofs.e2e.adopted import Seen
from tests.proofs.rig.api import Object

_SHARES = re.compile(r"and (\d+(?: \+ \d+)+) afterwards")
_ALLOWED: Mapping[str, set[str]] = {
    "divided": {"spec", "members"},
    "indivisible": {"frozen", "spec"},
    "no_room": {"frozen", "conditions"},
    "refused": {"frozen", "conditions"},
    "first": {"members", "conditions"},
    "status": set(),
}
_OF_ROWS = {"InterpretHealth": "health", "InterpretDependency": "dependencies"}
_FREEZING = ("indivisible", "no_room", "refused")
_HEALTH = {True: "Healthy", False: "Unhealthy"}


@dataclass(frozen=True)
class Told:
    """The effects and the rows about the objects by their names."""

    effects: Mapping[str, Sequence[Object]]
    rows: Mapping[str, Sequence[Object]]

    @classmethod
    def of(cls, diff: Object) -> Self:
        """Read the JSON of the command."""
        names = {each["name"] for each in diff["answers"]} | {each["object"] for each in diff["effects"]}
        return cls(
            {name: [effect for effect in diff["effects"] if effect["object"] == name] for name in names},
            {name: [row for row in diff["answers"] if row["name"] == name] for name in names},
        )

    def of_operations(self, operations: Collection[str], kinds: Collection[str] = ()) -> "Told":
        """Return what some operations do, with the effects on some kinds."""
        return Told(
            {name: [each for each in of if each["kind"] in kinds] for name, of in self.effects.items()},
            {name: [row for row in of if row.get("operation") in operations] for name, of in self.rows.items()},
        )

    def is_frozen(self, name: str) -> bool:
        return any(effect["effect"] in _FREEZING for effect in self.effects.get(name, ()))

    def is_first(self, name: str) -> bool:
        return any(effect["effect"] == "first" for effect in self.effects.get(name, ()))

    def missing(self, name: str, before: Seen, now: Seen, edit: str) -> Iterator[str]:
        """Yield what was told of a workload and has not come. Without an ``edit`` Karmada asks about health later."""
        changed = before.changes(now) | ({"frozen"} if _is_stale(now, edit) else set())
        is_frozen = self.is_frozen(name)
        for effect in self.effects.get(name, ()):
            is_asked = edit or effect["effect"] not in ("indivisible", "refused")
            if is_asked and not _has_come(effect, changed | (set() if edit else {"frozen"}), now, is_frozen=is_frozen):
                yield f"{name}: {effect['text']}"
        if is_frozen or not edit:
            return
        if "frozen" in changed:
            yield f"{name}: the change {edit}"
        for row in self.rows.get(name, ()):
            if row.get("operation") == "InterpretHealth" and not _is_health(row, now):
                yield f"{name}: {row}"

    def untold(self, name: str, before: Seen, now: Seen, edit: str) -> Iterator[str]:
        """Yield in which respects a workload changed without a word."""
        changed = before.changes(now) | ({"frozen"} if _is_stale(now, edit) else set())
        for effect in self.effects.get(name, ()):
            changed -= _ALLOWED[effect["effect"]]
        changed -= {_OF_ROWS.get(row.get("operation", ""), "") for row in self.rows.get(name, ())}
        if changed:
            yield f"{name}: {sorted(changed)} changed from {before} to {now}"
        for member in {*before.specs} & {*now.specs}:
            changes = now.generations[member] - before.generations[member]
            if changes != (before.specs[member] != now.specs[member]):
                yield f"{name}: {member} ran something else in between: {before} to {now}"


def _is_stale(now: Seen, edit: str) -> bool:
    return bool(edit) and any(arrived != edit for arrived in now.edits.values())


def _has_come(effect: Object, changed: set[str], now: Seen, *, is_frozen: bool) -> bool:
    match effect["effect"]:
        case "first":
            return bool(now.specs)
        case "divided":
            return is_frozen or _is_divided(effect, changed, now)
        case "no_room" if now.conditions.get("Scheduled") != "False Unschedulable":
            return False
    return "do not arrive" not in effect["text"] or "frozen" in changed


def _is_health(row: Object, now: Seen) -> bool:
    """Return whether a cluster that still has the workload calls it what a row says."""
    found = [each.get("to") for each in row["differences"] if each["path"] == "healthy"]
    return row["cluster"] not in now.health or not found or now.health[row["cluster"]] == _HEALTH[found[0]]


def _is_divided(effect: Object, changed: set[str], now: Seen) -> bool:
    if found := _SHARES.search(effect["text"]):
        has_come = "spec" in changed or "stays as it runs" in effect["text"]
        return sorted(map(int, found[1].split(" + "))) == sorted(now.clusters.values()) and has_come
    return bool({"spec", "members"} & changed) or any(
        words in effect["text"] for words in ("with a share", "stays as it runs")
    )
