"""AggregateStatus: one status for the template out of what the member clusters report."""

from collections.abc import Sequence

from interpreter.k8s.values import Object
from interpreter.karta.definition import Definition
from interpreter.operations.call import StatusItem
from interpreter.operations.continuity import continued
from interpreter.operations.merging import Merging
from interpreter.operations.outcome import concluded, has_ended
from interpreter.operations.report import reports_of


def aggregate_status(definition: Definition, obj: Object, items: Sequence[StatusItem]) -> Object:
    """Return the template with the merged status, itself when nothing changes.

    No report changes nothing, a single one is taken as it is, several are merged (`interpreter.operations.merging`).
    What the template has said before limits what it may say now (`interpreter.operations.outcome` and
    `interpreter.operations.continuity`); one that has come to its outcome is left alone.
    """
    before = obj.get("status")
    reports = reports_of(definition, obj, items)
    if not reports or has_ended(definition, before):
        return obj
    merged = dict(reports[0].status) if len(reports) == 1 else Merging(definition).status(reports)
    over = all(has_ended(definition, item.status) for item in items)
    status = continued(definition, obj, concluded(definition, merged, before, over=over), items)
    if status == (before or {}):
        return obj
    return {**obj, "status": status}
