"""Prepares the reports of the member clusters for merging."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, type_name
from karta_interpreter.definitions.karta import FAILING, OF_NO_CLUSTER, Definition
from karta_interpreter.engine.evaluation import Status, match_status
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.operations.interpret_health import healthy_statuses
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, observed_generation

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
_NESTED = frozenset({dict, list})

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


class MemberPart(msgspec.Struct, frozen=True):
    """One cluster's value of one status field, or None if the cluster lacks it."""

    report: MemberReport
    value: JSON


def reports_of(definition: Definition, template: Object, items: Sequence[StatusItem]) -> list[MemberReport]:
    """Return the reports to merge, in the order of cluster names.

    A cluster without a status is left out unless all others have completed. The workload as a whole has not completed
    as long as one of its clusters has not reported.
    """
    # Karmada sorts them already. A caller of the command line or of a script may not, and the order decides texts.
    ordered = sorted(items, key=lambda item: item.cluster)
    removed: _Removed = {}
    for path, rule in definition.annotations.aggregate.items():
        if rule in OF_NO_CLUSTER and path[1:] and path[-1] is not None:  # a list keeps its elements
            _add(removed, path[1:])
    rank = ranks(definition) if len(items) > 1 else None
    reports = [_report(definition, template, removed, item, rank) for item in ordered]
    reporting = [report for report in reports if report.status]
    is_completed = reporting and all(Status.COMPLETED in report.matched for report in reporting)
    return reports if is_completed else reporting


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
    if reported is not None and not isinstance(reported, dict):
        message = f"the status of cluster {item.cluster} must be an object, but is {type_name(reported)}"
        raise InterpretationError(message, code=400)
    # Until its controller has seen an object, the object has no status, even with an observed generation.
    if not reported or (reported.keys() <= _GENERATIONS and (observed_generation(reported) or 0) < 1):
        return MemberReport(item.cluster, {})
    # `status_history` sets the template's own generation, and reads the members' generations from their items.
    own = {key: value for key, value in reported.items() if key not in BOOKKEEPING}
    matched: tuple[Status, ...] = ()
    if rank:
        # The known part of the member's object: without a generation that it does not report.
        metadata = template.get("metadata")
        known = {**(metadata if isinstance(metadata, dict) else {}), "generation": reported.get("generation")}
        matched = match_status(definition, {**template, "metadata": known, "status": own}).matched
    status = {
        key: _without_generations(value) if type(value) in _NESTED else value
        for key, value in (_without(own, removed) if removed else own).items()
    }
    return MemberReport(item.cluster, status, matched, tuple(sorted(map(rank, matched))) if rank else (), reported)


def _without_generations(value: JSON) -> JSON:
    """Return a value without observed generations, as in conditions: each member counts its own."""
    if type(value) is dict:
        # Mostly there is none, and one look over a condition takes a third of copying it.
        if "observedGeneration" not in value and _NESTED.isdisjoint(map(type, value.values())):
            return value
        return {
            key: _without_generations(below) if type(below) in _NESTED else below
            for key, below in value.items()
            if key != "observedGeneration"
        }
    return list(map(_without_generations, value)) if type(value) is list else value


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
