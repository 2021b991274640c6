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

from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta import Status
from karta_interpreter.karta.status_rules import StatusRules
from karta_interpreter.operations.aggregate.member_status import Part
from karta_interpreter.operations.aggregate.reduce import is_time, latest

_FAILING = frozenset({Status.FAILED, Status.DEGRADED})
_GOING_ON = frozenset({Status.INITIALIZING, Status.SUSPENDING, Status.RESUMING})
_SOUNDS_LIKE_FAILURE = ("fail", "error", "degraded", "stalled", "timeout", "exceeded")


class Polarity:
    """What a definition's status mappings make of condition types; ``completes``: the kind runs to completion."""

    def __init__(self, rules: StatusRules | None) -> None:
        mappings = dict(rules.mappings) if rules is not None else {}
        completed = mappings.get(Status.COMPLETED, ())
        self.completes = bool(completed)
        self._completes_by_expression = any(not matcher.conditions and not matcher.phase for matcher in completed)
        self._meanings: dict[tuple[str, JSON], set[Status]] = {}
        for status, matchers in mappings.items():
            for condition in (condition for matcher in matchers for condition in matcher.conditions):
                for said in (None, condition.status or "True"):
                    self._meanings.setdefault((condition.type, said), set()).add(status)

    def means(self, name: str, status: JSON = None) -> set[Status]:
        """Return to what a status of a type is mapped, or any of its statuses."""
        return self._meanings.get((name, status), set())

    def fails(self, name: str, status: JSON) -> bool:
        """Return whether a status of a type is mapped to Failed or Degraded; an absent one is not."""
        return status is not None and not _FAILING.isdisjoint(self.means(name, status))

    def may_complete(self, name: str) -> bool:
        """Return whether a type may mean that the workload has completed, which a silent cluster forbids."""
        return self._completes_by_expression or Status.COMPLETED in self.means(name)


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
    merged = (
        _merge(polarity, name, [Part(part.report, known.get(name, {})) for part, known in found]) for name in types
    )
    return [condition for condition in merged if condition is not None]


def _merge(polarity: Polarity, name: str, parts: Sequence[Part]) -> JSON:
    """Merge the conditions of one type; they are empty where a cluster does not have it."""
    if not polarity.may_complete(name):
        parts = [part for part in parts if part.report.status]
    if Status.RUNNING in polarity.means(name):
        parts = [part for part in parts if Status.COMPLETED not in part.report.matched] or parts
    status = _status(polarity, name, parts)
    if status is None:
        return None
    contributing = [part for part in parts if part.value and part.value["status"] == status]
    worst = min(contributing, key=_worst_first).value
    condition: dict[str, JSON] = {key: value for key, value in worst.items() if key != "observedGeneration"}
    condition |= {"type": name, "status": status, "message": "; ".join(map(_message, contributing))}
    for key in dict.fromkeys(key for part in contributing for key, value in part.value.items() if is_time(value)):
        condition[key] = latest([time for part in contributing if is_time(time := part.value.get(key))])
    return condition


def _status(polarity: Polarity, name: str, parts: Sequence[Part]) -> JSON:
    failing = [part for part in parts if not _FAILING.isdisjoint(part.report.matched)]
    if blamed := [part for part in failing if polarity.fails(name, part.value.get("status"))]:
        return min(blamed, key=_worst_first).value["status"]
    statuses = [part.value.get("status") for part in parts]
    mapped = [status for status in statuses if status is not None and polarity.means(name, status)]
    if going_on := [status for status in mapped if polarity.means(name, status) <= _GOING_ON]:
        return min(going_on)
    # Work goes on while it does in one cluster: in a job, and not readiness.
    runs_somewhere = polarity.completes and Status.RUNNING in polarity.means(name) and "running" in name.lower()
    if runs_somewhere and "True" in statuses and not failing:
        return "True"
    if all(status == statuses[0] for status in statuses):
        return statuses[0]
    sounds_like_failure = any(word in name.lower() for word in _SOUNDS_LIKE_FAILURE)
    if sounds_like_failure and not polarity.means(name) and "True" in statuses:
        return "True"
    return next((status for status in ("False", "Unknown") if status in statuses), None)


def _worst_first(part: Part) -> tuple[tuple[int, ...], str, str]:
    return part.report.severity, str(part.value.get("status")), str(part.value.get("reason"))


def _message(part: Part) -> str:
    message = part.value.get("message")
    return f"{part.report.cluster}: {message}" if message else part.report.cluster
