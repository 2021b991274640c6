"""AggregateStatus: one status for the template from the statuses of the member clusters.

First each cluster's status is prepared (`member_status`) and merged field by field (`merge`, `reduce`). Then the
template's own status limits the result (`status_history`).
"""

from collections.abc import Sequence

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Object, Projection
from karta_interpreter.base.karmada import Aggregation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import status_match_reads
from karta_interpreter.engine.operations.aggregate.member_status import (
    MemberPart,
    MemberReport,
    is_new,
    ranks,
    whole_reports,
)
from karta_interpreter.engine.operations.aggregate.merge import UNTIL_THE_END, Merging, Present, are_conditions, of_all
from karta_interpreter.engine.operations.aggregate.reduce import is_time
from karta_interpreter.engine.operations.aggregate.status_history import (
    ENDED_CONTAINERS,
    emptied,
    has_ended,
    has_outcome,
    is_suspended,
    next_status,
)
from karta_interpreter.engine.operations.aggregate.unread_reports import read_items, unread_texts
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.languages.jq import equal, take_outputs

__all__ = [
    "ENDED_CONTAINERS",
    "UNTIL_THE_END",
    "MemberPart",
    "MemberReport",
    "Merging",
    "Present",
    "aggregate_status",
    "aggregation",
    "aggregation_reads",
    "are_conditions",
    "has_ended",
    "is_suspended",
    "is_time",
    "of_all",
    "ranks",
    "read_items",
    "unread_texts",
    "whole_reports",
]


def aggregate_status(definition: Definition, obj: Object, items: Sequence[StatusItem]) -> Object:
    """Return the template with the merged status, or itself if nothing changes.

    A single report is taken as it is, several are merged. Clusters that do not report change nothing, and neither do
    those with a report that cannot be read. Without any cluster the counters are 0. The template's present status
    limits the next one. A status that has come to its outcome is left alone.

    Raises InterpretationError if no report can be read, or if the definition does not fit the reports.
    """
    return aggregation(definition, obj, items)["aggregatedStatus"]


def aggregation(definition: Definition, obj: Object, items: Sequence[StatusItem]) -> Aggregation:
    """Return the answer of `aggregate_status`, and what it leaves out."""
    # API servers reject changes of a finished Job's status (`validateJobStatus`).
    if has_ended(definition, obj.get("status")):
        return {"aggregatedStatus": obj}
    left_out = dict[str, str]()
    try:
        aggregated = _aggregated(definition, obj, items, left_out, is_strict=True)
    except (InterpretationError, RecursionError):
        items, unread = read_items(definition, obj, items)
        aggregated = _aggregated(definition, obj, items, left_out, is_strict=False)
        left_out |= unread
    if left_out:
        return {"aggregatedStatus": aggregated, "unread": unread_texts(left_out)}
    return {"aggregatedStatus": aggregated}


def _aggregated(
    definition: Definition, obj: Object, items: Sequence[StatusItem], left_out: dict[str, str], *, is_strict: bool
) -> Object:
    before = obj.get("status")
    merged = _merged(definition, obj, items, left_out, is_strict=is_strict)
    if merged is None:
        return obj
    status = next_status(definition, obj, merged, items)
    # Without a patch Karmada writes nothing, but an empty status added to a template without one would be a write.
    # Python compares ten times as fast, but to it true equals 1.
    if status == (before or {}) and equal(status, before or {}):
        return obj
    return {**obj, "status": status}


def aggregation_reads(definition: Definition, projection: Projection) -> None:
    """Mark what AggregateStatus reads of the template."""
    projection.take("status", "metadata.generation")
    if definition.annotations.completions:
        projection.at("metadata", "labels", RETAIN_REPLICAS).is_whole = True
    status_match_reads(definition, projection)
    take_outputs(projection, *(action.path for action in definition.suspend), ENDED_CONTAINERS.get(definition.gvk))


def _merged(
    definition: Definition, template: Object, items: Sequence[StatusItem], left_out: dict[str, str], *, is_strict: bool
) -> Object | None:
    """Return the status of all clusters, or None if no cluster reports."""
    if not items:
        before = template.get("status")
        if not isinstance(before, dict) or has_outcome(definition, template):
            return None
        return emptied(definition, before)
    reports = whole_reports(definition, template, items)
    if len(reports) > 1:
        return Merging(definition, left_out, is_strict=is_strict).status(reports)
    if reports:
        return reports[0].status
    before = template.get("status")
    return before if isinstance(before, dict) and any(is_new(item.status) for item in items) else None
