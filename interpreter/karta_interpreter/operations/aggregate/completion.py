"""How a workload ends that has parts in several clusters: the definition's ``outcomes`` annotation.

It names the conditions that end a workload for good, each with the one that announces it. API servers may hold a
status to such words: what was announced has to come, and what has ended has no pods left. Therefore

- a bad end is announced as soon as one cluster announces it or has come to it, and then stays announced;
- the end itself comes when the parts in all clusters have ended, a good one together with its announcement;
- a time of completion appears only with an end that the clusters themselves have come to.
"""

from collections.abc import Mapping

from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition
from karta_interpreter.operations.aggregate.conditions import Polarity, are_conditions
from karta_interpreter.operations.aggregate.reduce import is_end, is_time

_Conditions = Mapping[str, Object]
"""Conditions by their types."""


def has_ended(definition: Definition, status: JSON) -> bool:
    """Return whether a status has come to one of the definition's outcomes."""
    outcomes = definition.annotations.outcomes
    return bool(outcomes) and not outcomes.keys().isdisjoint(_true_conditions(status))


def concluded(definition: Definition, merged: dict[str, JSON], before: JSON, *, over: bool) -> dict[str, JSON]:
    """Return the merged status with the outcome that it may show.

    ``before`` is the status that the template has; ``over`` is true when the parts in all clusters have ended.
    """
    outcomes = definition.annotations.outcomes
    if not outcomes:
        return merged
    said = _true_conditions(merged)
    outcome = _outcome(definition, said, _true_conditions(before), over=over)
    others = [one for one in _conditions(merged) if one["type"] not in {*outcomes, *outcomes.values()}]
    status = {**merged, "conditions": [*others, *outcome.values()]} if outcome or _conditions(merged) else merged
    if any(name in outcome and name in said for name in outcomes):
        return status
    return {key: value for key, value in status.items() if not (is_end(key) and is_time(value))}


def _outcome(definition: Definition, said: _Conditions, before: _Conditions, *, over: bool) -> _Conditions:
    """Return the announcement and, when it has come, the end: of what was announced, else of what is bad."""
    outcomes = definition.annotations.outcomes
    failing = [name for name in outcomes if (name, "True") in Polarity.of(definition.status).failing]
    bound = [name for name in outcomes if outcomes[name] in before]
    bad = [name for name in failing if name in said or outcomes[name] in said]
    good = [name for name in outcomes if name in said]
    for name in (*bound, *bad, *good):
        announcement = outcomes[name]
        found = said.get(announcement) or said.get(name) or before[announcement]
        announced = {announcement: {**found, "type": announcement}}
        comes = over and (name in said or name in failing)
        return announced | {name: {**said.get(name, found), "type": name}} if comes else announced
    return {}


def _true_conditions(status: JSON) -> _Conditions:
    return {condition["type"]: condition for condition in _conditions(status) if condition["status"] == "True"}


def _conditions(status: JSON) -> list[Object]:
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(conditions, list):
        return []
    conditions = [condition for condition in conditions if condition is not None]
    return conditions if are_conditions(conditions) else []
