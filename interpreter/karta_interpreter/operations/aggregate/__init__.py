"""AggregateStatus: one status for the template from the statuses of the member clusters.

The order of work: each cluster's status (`member_status`), merged field by field (`merge`, `reduce`) and condition by
condition (`conditions`); then what the template's own status allows (`completion`, `status_history`, `generation`).
A template without a cluster is in `unplaced`.
"""

from collections.abc import Sequence

from karta_interpreter.jq.inprocess.reads import take_outputs
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.status import status_match_reads
from karta_interpreter.operations.aggregate.completion import concluded, has_ended
from karta_interpreter.operations.aggregate.member_status import reports_of
from karta_interpreter.operations.aggregate.merge import Merging
from karta_interpreter.operations.aggregate.status_history import continued
from karta_interpreter.operations.aggregate.unplaced import emptied, has_outcome
from karta_interpreter.operations.call import StatusItem

__all__ = ["aggregate_status", "aggregation_reads"]


def aggregate_status(definition: Definition, obj: Object, items: Sequence[StatusItem]) -> Object:
    """Return the template with the merged status, itself when nothing changes.

    A single report is taken as it is, several are merged (`merge`). Clusters that do not report change nothing; without
    any cluster the counters are 0 (`unplaced`). The template's present status limits the next one (`completion` and
    `status_history`); one that has come to its outcome is left alone.
    """
    before = obj.get("status")
    if has_ended(definition, before):
        return obj
    merged = _merged(definition, obj, items)
    if merged is None:
        return obj
    over = bool(items) and all(has_ended(definition, item.status) for item in items)
    status = continued(definition, obj, concluded(definition, merged, before, over=over), items)
    if status == (before or {}):
        return obj
    return {**obj, "status": status}


def aggregation_reads(definition: Definition, projection: Projection) -> None:
    """Mark what AggregateStatus reads of the template."""
    projection.take("status", "metadata.generation")
    status_match_reads(definition, projection)
    take_outputs(projection, *(action.path for action in definition.suspend))


def _merged(definition: Definition, template: Object, items: Sequence[StatusItem]) -> dict[str, JSON] | None:
    """Return the status of all clusters, None when no cluster reports."""
    if not items:
        before = template.get("status")
        return (
            emptied(definition, before) if isinstance(before, dict) and not has_outcome(definition, template) else None
        )
    reports = reports_of(definition, template, items)
    if not reports:
        return None
    return dict(reports[0].status) if len(reports) == 1 else Merging(definition).status(reports)
