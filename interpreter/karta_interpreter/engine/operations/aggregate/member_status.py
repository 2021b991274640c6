"""Prepares the reports of the member clusters for merging."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, NewObject, Object, label, type_name
from karta_interpreter.definitions.karta import FAILING, OF_NO_CLUSTER, Definition
from karta_interpreter.engine.evaluation import Status, has_completed, match_status
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.operations.interpret_health import healthy_statuses
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, observed_generation
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.engine.operations.status_bounds import MOST_LEVELS

_WORST_FIRST: Final = (
    Status.FAILED,
    Status.DEGRADED,
    Status.UNDEFINED,
    Status.SUSPENDING,
    Status.SUSPENDED,
    Status.RESUMING,
    Status.INITIALIZING,
    Status.RUNNING,
    Status.COMPLETED,
)
_GENERATIONS = {*BOOKKEEPING, "observedGeneration"}
NESTED = frozenset({dict, list})
TEXT: Final = frozenset({str, type(None)})
_TEXT_FIELDS: Final = frozenset({"type", "status", "reason"})
"""The fields of a condition that are text, apart from times. A ``message`` that is none is not merged."""

# The removals below a value: by fields, and under None by elements. A field mapped to None is removed itself.
_Removed: TypeAlias = dict[str | None, "_Removed | None"]


class MemberReport(msgspec.Struct, frozen=True):
    """The status of one cluster and its matches in the definition. ``severity`` is a sort key, worst first.

    A single report has no matches: it is compared with no other.
    """

    cluster: str
    status: Object
    matched: tuple[Status, ...] = (Status.UNDEFINED,)
    severity: tuple[int, ...] = ()
    reported: Object | None = None
    """The status as reported. ``status`` contains only the fields to merge."""
    older: Object = {}
    """What the release of this cluster has for fields that only later ones write, and that ``status`` lacks."""


class MemberPart(msgspec.Struct, frozen=True):
    """One cluster's value of one status field, or None if the cluster lacks it."""

    report: MemberReport
    value: JSON


def reports_of(definition: Definition, template: Object, items: Sequence[StatusItem]) -> list[MemberReport]:
    """Return the reports to merge, in the order of cluster names.

    A cluster without a status is left out unless all others have completed. The workload as a whole has not completed
    as long as one of its clusters has not reported. Raises InterpretationError if a report cannot be read.
    """
    removed = _removed(definition)
    if len(items) == 1:  # compared with no other
        report = _report(definition, template, removed, items[0], None)
        return [report] if report.status else []
    # Karmada sorts them already. A caller of the command line or of a script may not, and the order decides texts.
    ordered, rank = sorted(items, key=lambda item: item.cluster), ranks(definition)
    reports = [_report(definition, template, removed, item, rank) for item in ordered]
    reporting = [report for report in reports if report.status]
    return reports if reporting and _have_completed(reporting) else reporting


def whole_reports(definition: Definition, template: Object, items: Sequence[StatusItem]) -> list[MemberReport]:
    """Return the reports to merge, with an empty one for what no cluster has done of a workload that has completed.

    All others may have completed after a cluster has left, or keep a share of a smaller number. A template that has
    completed before stays so: operators may stop counting then. One that leaves its counts to the members wants no
    total. Raises InterpretationError as `reports_of`.
    """
    reports = reports_of(definition, template, items)
    completions = definition.annotations.completions
    if not completions or not reports or label(template, RETAIN_REPLICAS) == "true":
        return reports
    statuses = [report.reported for report in reports]
    is_one = len(items) == 1  # which was compared with no other
    is_over = _has_completed(definition, {**template, "status": statuses[0]}) if is_one else _have_completed(reports)
    if not is_over or not any(completion.is_short(template, statuses) for completion in completions):
        return reports
    if _has_completed(definition, template):
        return reports
    with suppress(InterpretationError):  # of the other statuses, which do not matter to a lone report
        return [*([ranked_report(definition, template, items[0])] if is_one else reports), MemberReport("", {})]
    return reports


def _has_completed(definition: Definition, obj: Object) -> bool:
    with suppress(InterpretationError):  # a status that cannot be read says nothing
        return has_completed(definition, obj)
    return False


def _have_completed(reports: Sequence[MemberReport]) -> bool:
    return all(Status.COMPLETED in report.matched for report in reports)


def ranked_report(definition: Definition, template: Object, item: StatusItem) -> MemberReport:
    """Return the report of one of several clusters. Raises InterpretationError if it cannot be read."""
    return _report(definition, template, _removed(definition), item, ranks(definition))


def _removed(definition: Definition) -> _Removed:
    removed: _Removed = {}
    for path, rule in definition.annotations.aggregate.items():
        if rule in OF_NO_CLUSTER and path[1:] and path[-1] is not None:  # a list keeps its elements
            _add(removed, path[1:])
    return removed


def ranks(definition: Definition) -> Callable[[Status], int]:
    """Return the rank of a status, from worst to best. Healthy statuses that are not failures come last."""
    return sorted(_WORST_FIRST, key=(healthy_statuses(definition) - FAILING).__contains__).index


def is_new(status: JSON) -> bool:
    """Return whether a status only says that no generation is observed yet, as CRDs of Flux say of a new object."""
    if not isinstance(status, dict) or not status.keys() <= _GENERATIONS:
        return False
    observed = observed_generation(status)
    return observed is not None and observed < 1


def _report(
    definition: Definition,
    template: Object,
    removed: _Removed,
    item: StatusItem,
    rank: Callable[[Status], int] | None,
) -> MemberReport:
    """Return the report of a cluster. Without a ``rank`` it is the only one."""
    reported = item.status
    if item.unread:
        raise InterpretationError(item.unread)
    if reported is not None and not isinstance(reported, dict):
        raise InterpretationError(f"must be an object, but is {type_name(reported)}", code=400)
    # Until its controller has seen an object, the object has no status, even with an observed generation.
    if not reported or (reported.keys() <= _GENERATIONS and (observed_generation(reported) or 0) < 1):
        return MemberReport(item.cluster, {})
    # `status_history` sets the template's own generation, and reads the members' generations from their items.
    own = {key: value for key, value in reported.items() if key not in BOOKKEEPING}
    # First of all: whatever looks at a status that is nested too deeply may fail.
    status = {
        key: _without_generations(value) if type(value) in NESTED else value
        for key, value in (_without(own, removed) if removed else own).items()
    }
    if (conditions := status.get("conditions")) is not None:
        _check_conditions(definition, conditions)
    matched: tuple[Status, ...] = ()
    older: NewObject = {}
    if rank:
        # The known part of the member's object: without a generation that it does not report.
        metadata = template.get("metadata")
        known = {**(metadata if isinstance(metadata, dict) else {}), "generation": reported.get("generation")}
        live = {**template, "metadata": known, "status": own}
        matched = match_status(definition, live).matched
        for later in definition.annotations.later_status:
            if own.get(later.name) is None:
                older[later.name] = next(iter(later.older.evaluate(live)), None)
    severity = tuple(sorted(map(rank, matched))) if rank else ()
    return MemberReport(item.cluster, status, matched, severity, reported, older)


def _without_generations(value: JSON, levels: int = MOST_LEVELS) -> JSON:
    """Return a value without observed generations, as in conditions: each member counts its own.

    Raises InterpretationError for a value with more levels.
    """
    if type(value) is dict:
        # Mostly there is none, and one look over a condition takes a third of copying it.
        if "observedGeneration" not in value and NESTED.isdisjoint(map(type, value.values())):
            return value
        if levels < 0:
            raise InterpretationError("is nested too deeply")
        return {
            key: _without_generations(below, levels - 1) if type(below) in NESTED else below
            for key, below in value.items()
            if key != "observedGeneration"
        }
    if type(value) is not list:
        return value
    if levels < 0:
        raise InterpretationError("is nested too deeply")
    return [_without_generations(element, levels - 1) for element in value]


def _check_conditions(definition: Definition, conditions: JSON) -> None:
    """Raise InterpretationError for conditions that are not a list of objects, or have no text where text belongs."""
    if type(conditions) is list:
        for index, condition in enumerate(conditions):
            # Mostly all fields are text.
            if condition is None or (type(condition) is dict and TEXT.issuperset(map(type, condition.values()))):
                continue
            path = f"status.conditions[{index}]"
            if type(condition) is not dict:
                raise InterpretationError(f"{path} is {type_name(condition)}, not an object")
            for field, value in condition.items():
                if type(value) not in TEXT and (field in _TEXT_FIELDS or field.endswith("Time")):
                    raise InterpretationError(f"{path}.{field} is {type_name(value)}, not a string")
        return
    rules = definition.status  # of a JobFlow they are a map of its jobs
    if rules is not None and rules.conditions is not None and rules.conditions.query.text == ".status.conditions":
        raise InterpretationError(f"status.conditions is {type_name(conditions)}, not a list")


def _add(removed: _Removed, path: Sequence[str | None]) -> None:
    step, *steps = path
    if not steps:
        removed[step] = None
    elif (below := removed.setdefault(step, {})) is not None:
        _add(below, steps)


def _without(value: JSON, removed: _Removed) -> JSON:
    """Return a value after all removals, in one walk: there may be many rules, clusters and elements."""
    if isinstance(value, list):
        below = removed.get(None)
        return [_without(element, below) for element in value] if below else value
    if not isinstance(value, dict):
        return value
    return {
        key: _without(field, below) if below else field
        for key, field in value.items()
        if (below := removed.get(key, {})) is not None
    }
