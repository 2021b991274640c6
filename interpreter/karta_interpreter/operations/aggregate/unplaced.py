"""The status of a template that is in no cluster any more."""

from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition, Status, match_status
from karta_interpreter.karta.annotations import AggregateRule
from karta_interpreter.karta.status import status_match_reads
from karta_interpreter.operations.aggregate.conditions import Polarity
from karta_interpreter.operations.aggregate.reduce import is_number, is_time

_ENDED = frozenset({Status.COMPLETED, Status.FAILED})
_ADDS_UP = frozenset({AggregateRule.SUM, AggregateRule.COUNTER})
_OF_A_CLUSTER = frozenset({AggregateRule.FIRST, AggregateRule.WORST, AggregateRule.UNION, AggregateRule.DROP})


def has_outcome(definition: Definition, template: Object) -> bool:
    """Return whether a template that runs to completion has completed or failed, which stays true without clusters.

    One with announced outcomes has not, before it has come to one (`completion.has_ended`).
    """
    if definition.annotations.outcomes or not Polarity.of(definition.status).completes:
        return False
    return not _ENDED.isdisjoint(match_status(definition, template).matched)


def emptied(definition: Definition, status: Object) -> dict[str, JSON]:
    """Return what is left of a status when no cluster reports.

    - Counters are 0, as the sum over no cluster is; Karmada's native interpreter writes them, too.
    - Nothing is true, no condition holds, lists are empty, and text from which the definition derives a status goes.
    - Objects and what belongs to one cluster go.
    - Other text and times stay, because CRDs require some, and what has happened has happened.
    """
    rules = definition.annotations.aggregate
    told = _told(definition)
    left = {key: _left(rules.get(("status", key)), value) for key, value in status.items()}
    return {
        key: value
        for key, value in left.items()
        if value is not None and not (isinstance(value, str) and (told.is_whole or key in told.fields))
    }


def _left(rule: AggregateRule | None, value: JSON) -> JSON:
    if rule in _OF_A_CLUSTER or isinstance(value, dict):
        return None
    if isinstance(value, bool):
        return False
    if is_number(value):
        return 0
    if isinstance(value, list):
        return []
    return "0" if rule in _ADDS_UP and value and not is_time(value) else value


def _told(definition: Definition) -> Projection:
    """Return the part of a status from which the definition derives its own statuses."""
    projection = Projection()
    status_match_reads(definition, projection)
    told = projection.at("status")
    if projection.is_whole:
        told.take_all()
    return told
