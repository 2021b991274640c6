"""AggregateStatus: one status for the template out of what the member clusters report."""

from collections.abc import Sequence

from interpreter.k8s.metadata import generation
from interpreter.k8s.values import JSON, Object
from interpreter.karta.definition import Definition
from interpreter.operations.call import StatusItem
from interpreter.operations.merging import Merging
from interpreter.operations.reduction import is_time
from interpreter.operations.report import have_caught_up, reports_of


def aggregate_status(definition: Definition, obj: Object, items: Sequence[StatusItem]) -> Object:
    """Return the template with the merged status, itself when nothing changes.

    No report changes nothing, a single one is taken as it is, several are merged (`interpreter.operations.merging`).
    """
    reports = reports_of(definition, obj, items)
    if not reports:
        return obj
    merged = dict(reports[0].status) if len(reports) == 1 else Merging(definition).status(reports)
    _align_generation(merged, obj, items)
    _keep_starts(merged, obj)
    if merged == obj.get("status"):
        return obj
    return {**obj, "status": merged}


def _keep_starts(merged: dict[str, JSON], template: Object) -> None:
    """Leave a start that the template has as it is: API servers refuse a Job whose start moves while it runs."""
    status = template.get("status")
    for key, known in status.items() if isinstance(status, dict) else ():
        if key.startswith("start") and is_time(known) and is_time(merged.get(key)):
            merged[key] = known


def _align_generation(merged: dict[str, JSON], template: Object, items: Sequence[StatusItem]) -> None:
    """Set ``observedGeneration`` in the template's own terms: a member counts its generations for itself."""
    merged.pop("observedGeneration", None)
    if have_caught_up(items, generation(template)):
        merged["observedGeneration"] = generation(template)
        return
    status = template.get("status")
    if isinstance(status, dict) and "observedGeneration" in status:
        merged["observedGeneration"] = status["observedGeneration"]
