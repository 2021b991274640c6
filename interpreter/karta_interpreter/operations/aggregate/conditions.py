"""Merging the conditions of several clusters, type by type.

- A status that the definition maps to Failed or Degraded counts as soon as one such cluster has it.
- So does one that it maps only to what goes on (Initializing, Suspending, Resuming): it goes on somewhere.
- Of one that it maps to Running, clusters that have completed do not count: a job runs while one does.
- A kind that completes runs, by a condition with that name, as soon as one cluster does, unless another one fails.
- Where all clusters have the same status, that is it.
- Of an unmapped type that sounds like a failure, one true is enough.
- Everything else is a success, and true only when true everywhere: else it is false if it is in any cluster, unknown
  if it is in any, and left out while clusters have not reported it.

Of the clusters with its status, the merged condition has the reason of the one that is worst off, the messages of all
behind their names, and the latest of their times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Status
from karta_interpreter.karta.status_rules import StatusRules
from karta_interpreter.operations.aggregate.member_status import Part
from karta_interpreter.operations.aggregate.reduce import is_time, latest

_FAILING = frozenset({Status.FAILED, Status.DEGRADED})
_GOING_ON = frozenset({Status.INITIALIZING, Status.SUSPENDING, Status.RESUMING})
_SOUNDS_LIKE_FAILURE = ("fail", "error", "degraded", "stalled", "timeout", "exceeded")


@dataclass(frozen=True, slots=True)
class Polarity:
    """The condition types that a definition maps, and those of their statuses for which one cluster is enough.

    ``completes``: the kind runs to completion; ``by_expression``: an expression alone decides whether it has completed.
    """

    mapped: frozenset[str]
    failing: frozenset[tuple[str, str]]
    going_on: frozenset[tuple[str, str]]
    running: frozenset[str]
    completing: frozenset[str]
    completes: bool
    by_expression: bool

    @classmethod
    def of(cls, rules: StatusRules | None) -> "Polarity":
        """Read the polarity out of a definition's status mappings."""
        meanings: dict[tuple[str, str], set[Status]] = {}
        mappings = dict(rules.mappings) if rules is not None else {}
        completed = mappings.get(Status.COMPLETED, ())
        for status, matchers in mappings.items():
            for condition in (condition for matcher in matchers for condition in matcher.conditions):
                meanings.setdefault((condition.type, condition.status or "True"), set()).add(status)
        return cls(
            mapped=frozenset(name for name, _ in meanings),
            failing=frozenset(said for said, means in meanings.items() if means & _FAILING),
            going_on=frozenset(said for said, means in meanings.items() if means <= _GOING_ON),
            running=frozenset(name for (name, _), means in meanings.items() if Status.RUNNING in means),
            completing=frozenset(name for (name, _), means in meanings.items() if Status.COMPLETED in means),
            completes=bool(completed),
            by_expression=any(not matcher.conditions and not matcher.phase for matcher in completed),
        )

    def may_complete(self, name: str) -> bool:
        """Return whether a type may mean that the workload has completed, which a silent cluster forbids."""
        return name in self.completing or self.by_expression

    def runs_somewhere(self, name: str) -> bool:
        """Return whether a type means that work goes on, so that one cluster is enough: in a job, and not readiness."""
        return self.completes and name in self.running and "running" in name.lower()


class _Told(NamedTuple):
    """One cluster's condition of a type; an absent condition is empty."""

    part: Part
    condition: Object
    status: JSON

    @classmethod
    def of(cls, part: Part, condition: Object) -> Self:
        return cls(part, condition, condition.get("status"))

    @property
    def fails(self) -> bool:
        return not _FAILING.isdisjoint(self.part.report.matched)

    @property
    def has_completed(self) -> bool:
        return Status.COMPLETED in self.part.report.matched


def are_conditions(elements: Sequence[JSON]) -> bool:
    """Return whether the elements of a list are conditions: objects with a type and a status, both text."""
    return bool(elements) and all(
        isinstance(element, dict) and isinstance(element.get("type"), str) and isinstance(element.get("status"), str)
        for element in elements
    )


def merge_conditions(polarity: Polarity, parts: Sequence[Part]) -> list[JSON]:
    """Return the merged conditions, in the order in which the clusters first name their types."""
    # Of a type that is there twice the last one counts, as Karta's status rules read them.
    found = [(part, {condition["type"]: condition for condition in part.value if condition}) for part in parts]
    types = dict.fromkeys(name for _, conditions in found for name in conditions)
    merged = (_merge(polarity, name, [_Told.of(part, known.get(name, {})) for part, known in found]) for name in types)
    return [condition for condition in merged if condition is not None]


def _merge(polarity: Polarity, name: str, told: Sequence[_Told]) -> JSON:
    if not polarity.may_complete(name):
        told = [one for one in told if one.part.report.status]
    if name in polarity.running:
        told = [one for one in told if not one.has_completed] or told
    status = _status(polarity, name, told)
    if status is None:
        return None
    return _condition(name, status, [one for one in told if one.condition and one.status == status])


def _status(polarity: Polarity, name: str, told: Sequence[_Told]) -> JSON:
    failing = [one for one in told if one.fails and (name, one.status) in polarity.failing]
    if failing:
        return min(failing, key=_worst_first).status
    statuses = [one.status for one in told]
    going_on = [status for status in statuses if (name, status) in polarity.going_on]
    if going_on:
        return min(going_on)
    if polarity.runs_somewhere(name) and "True" in statuses and not any(one.fails for one in told):
        return "True"
    if all(status == statuses[0] for status in statuses):
        return statuses[0]
    if name not in polarity.mapped and _sounds_like_failure(name) and "True" in statuses:
        return "True"
    return next((status for status in ("False", "Unknown") if status in statuses), None)


def _sounds_like_failure(name: str) -> bool:
    return any(word in name.lower() for word in _SOUNDS_LIKE_FAILURE)


def _condition(name: str, status: JSON, contributing: Sequence[_Told]) -> dict[str, JSON]:
    worst = min(contributing, key=_worst_first).condition
    condition: dict[str, JSON] = {key: value for key, value in worst.items() if key != "observedGeneration"}
    condition |= {"type": name, "status": status, "message": "; ".join(map(_message, contributing))}
    for key in dict.fromkeys(key for one in contributing for key, value in one.condition.items() if is_time(value)):
        condition[key] = latest([time for one in contributing if is_time(time := one.condition.get(key))])
    return condition


def _worst_first(one: _Told) -> tuple[tuple[int, ...], str, str]:
    return one.part.report.severity, str(one.status), str(one.condition.get("reason"))


def _message(one: _Told) -> str:
    message = one.condition.get("message")
    return f"{one.part.report.cluster}: {message}" if message else one.part.report.cluster
