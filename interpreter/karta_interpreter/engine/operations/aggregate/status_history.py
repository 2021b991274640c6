"""Limits the next status by the template's present status.

docs/aggregate-status.md has the rules: how a workload ends by the annotation ``outcomes``, to which API servers may
hold a status, and which fields stay when clusters leave. If a kind has outcomes, its start stays until the template is
suspended, as API servers demand of a Job. Any other kind may start again, in another cluster or after a failed attempt.
Of a Pod, API servers refuse that a container without restarts is back after its end.
"""

from collections.abc import Mapping, Sequence

from karta_interpreter.base.k8s import GVK, JSON, NewObject, Object, Projection, generation, get, objects_in, set_value
from karta_interpreter.definitions.karta import ADDING_UP, OF_A_CLUSTER, OF_TEMPLATE, AggregateRule, Definition
from karta_interpreter.engine.evaluation import Status, match_status, status_match_reads
from karta_interpreter.engine.operations.aggregate.member_status import is_new
from karta_interpreter.engine.operations.aggregate.merge import Polarity, is_condition
from karta_interpreter.engine.operations.aggregate.reduce import (
    falls,
    is_end,
    is_generation,
    is_number,
    is_start,
    is_time,
    latest,
)
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, observed_generation
from karta_interpreter.languages.jq import Query

# The reason that Flux's controllers give before the first result (`meta.ProgressingReason` in fluxcd/pkg).
_PROGRESSING = "Progressing"

_ENDED = frozenset({Status.COMPLETED, Status.FAILED})

ENDED_CONTAINERS: Mapping[GVK, Query] = {
    GVK("", "v1", "Pod"): Query.compile(
        '(select(.spec.restartPolicy == "Never") | .status | .containerStatuses[]?, .initContainerStatuses[]?'
        " | select(.state.terminated != null)), "
        '(select(.spec.restartPolicy == "OnFailure") | .status | .containerStatuses[]?, .initContainerStatuses[]?'
        " | select(.state.terminated.exitCode == 0)) | .name"
    )
}
"""The names of containers with an end that stays, by kind: ``ValidateContainerStateTransition`` for a Pod."""

_TYPED = frozenset(("", "apps", "batch"))
"""The groups of Kubernetes' own kinds in the catalogue. Its types leave an empty list out."""

# Conditions by their types.
_Conditions = Mapping[str, Object]


def has_ended(definition: Definition, status: JSON) -> bool:
    """Return whether a status has come to one of the definition's outcomes."""
    outcomes = definition.annotations.outcomes
    return bool(outcomes) and not outcomes.keys().isdisjoint(_true_conditions(status))


def next_status(definition: Definition, template: Object, merged: Object, items: Sequence[StatusItem]) -> NewObject:
    """Return a merged status as the successor of the template's present status."""
    present_status: Object = before if isinstance(before := template.get("status"), dict) else {}
    status = {**merged}
    # Each member counts its own generations, which mean nothing here.
    status.pop("observedGeneration", None)
    new = sorted([item.cluster for item in items if is_new(item.status)])
    if new or definition.annotations.outcomes:
        status = _concluded(definition, Polarity(definition), status, present_status, items, new)
    if definition.annotations.outcomes:
        status = _with_starts(definition, template, status, present_status)
    if query := ENDED_CONTAINERS.get(definition.gvk):
        _forget_returned(status, query.evaluate(template))
    successor = _with_known(definition, status, present_status)
    observed = _observed_generation(definition, items, generation(template), present_status.get("observedGeneration"))
    if observed is not None:
        successor["observedGeneration"] = observed
    for (_, *path), value in definition.annotations.required_status.items():  # an API server requires them
        if get(successor, (*path,)) is None and isinstance(get(successor, (*path[:-1],)), dict):
            successor = set_value(successor, (*path,), value)
    if definition.gvk.group in _TYPED:  # an API server would not store it, and Karmada would write it at each look
        return {field: value for field, value in successor.items() if value != []}
    return successor


def _concluded(
    definition: Definition,
    polarity: Polarity,
    merged: NewObject,
    before: Object,
    items: Sequence[StatusItem],
    new: Sequence[str],
) -> NewObject:
    """Return the merged fields that hold for the whole.

    Nothing is True for the whole that a ``new`` cluster has yet to begin. Of the conditions in outcomes, only those
    returned by `_outcome` are kept: the merged ones may show an end too early.
    """
    outcomes, conditions = definition.annotations.outcomes, _conditions(merged)
    if new:
        unknown = {"status": "Unknown", "reason": _PROGRESSING, "message": f"not observed yet: {', '.join(new)}"}
        for index, condition in enumerate(conditions):
            if condition["status"] == "True" and polarity.waits(condition["type"]):
                conditions[index] = {**condition, **unknown}
    outcome, is_over = dict[str, Object](), True
    if outcomes:
        reported = _true(conditions)
        over = bool(items) and all(has_ended(definition, item.status) for item in items)
        outcome |= _outcome(outcomes, polarity, reported, _true_conditions(before), over=over)
        is_over = any(name in outcome and name in reported for name in outcomes)
    status = {key: value for key, value in merged.items() if is_over or not (is_end(key) and is_time(value))}
    if outcome or conditions:
        decisive = {*outcomes, *outcomes.values()}
        others = [condition for condition in conditions if condition["type"] not in decisive]
        status["conditions"] = [*others, *outcome.values()]
    return status


def _outcome(
    outcomes: Mapping[str, str], polarity: Polarity, reported: _Conditions, before: _Conditions, *, over: bool
) -> _Conditions:
    """Return the announcement and, if all parts have ended (``over``), the end.

    An outcome that was announced comes first, then a bad one.
    """
    failing = [name for name in outcomes if polarity.fails(name, "True")]
    bound = [name for name in outcomes if outcomes[name] in before]
    bad = [name for name in failing if name in reported or outcomes[name] in reported]
    name = next(iter((*bound, *bad, *(name for name in outcomes if name in reported))), None)
    if name is None:
        return {}
    announcement = outcomes[name]
    # A bad end that was announced stays, even if the cluster that announced it no longer reports.
    condition = reported.get(announcement) or reported.get(name) or before[announcement]
    conditions = {announcement: {**condition, "type": announcement}}
    if over and (name in reported or name in failing):
        conditions[name] = {**reported.get(name, condition), "type": name}
    return conditions


def _true_conditions(status: JSON) -> _Conditions:
    return _true(_conditions(status))


def _true(conditions: Sequence[Object]) -> _Conditions:
    return {condition["type"]: condition for condition in conditions if condition["status"] == "True"}


def _conditions(status: JSON) -> list[Object]:
    conditions = get(status, ("conditions",))
    if not isinstance(conditions, list):
        return []
    return list(filter(is_condition, conditions))


def _observed_generation(
    definition: Definition, items: Sequence[StatusItem], current: int | None, before: JSON
) -> JSON:
    """Return the template's generation, in the members' type, if all members have caught up with it, else the old one.

    As in Karmada's native interpreter (``native/aggregatestatus.go``), a member is current if its controller observed
    the member object's generation, and that object was made from the template's generation. Of a generation of another
    object the mappings only read that it is there. If only later releases write it, a member without it is current once
    it has the template's generation. If no operator writes any, nobody would ever correct an old one, and it is None.
    """
    if not items or current is None:
        return before
    is_written, is_text, is_current = False, False, True
    for item in items:
        if not item.status:
            return before
        observed = item.status.get("observedGeneration")
        is_written, is_text = is_written or observed is not None, is_text or isinstance(observed, str)
        is_current = is_current and _is_current(definition, item.status, current)
    if not is_written:
        return None
    if not is_current:
        return before
    return str(current) if is_text else current


def _is_current(definition: Definition, status: Object, current: int) -> bool:
    observed = observed_generation(status)
    of_member, of_template = map(status.get, BOOKKEEPING)
    if observed is None:
        is_later = definition.annotations.observes_generation_later
        return is_later and type(of_template) is int and of_template >= current
    if not definition.annotations.observes_generation:
        return type(of_template) is not int or of_template >= current
    if type(of_member) is not int or type(of_template) is not int:
        return False
    return observed >= of_member and of_template >= current


def _with_starts(definition: Definition, template: Object, status: NewObject, before: Object) -> NewObject:
    """Keep the start of the template's status.

    API servers refuse a Job if its start moves or disappears while it should run, or if it ended before its start.
    """
    starts = {
        key: value for key, value in before.items() if is_start(key) and is_time(value) and status.get(key) != value
    }
    if not starts or is_suspended(definition, template):
        return status
    kept = {**status, **starts}
    for key, value in status.items():
        if is_end(key) and is_time(value):
            kept[key] = latest([value, *starts.values()])
    return kept


def _forget_returned(status: NewObject, ended: Sequence[JSON]) -> None:
    """Leave out the containers that are back, from another cluster or in a new pod. The next time they are new ones."""
    for field in ("containerStatuses", "initContainerStatuses"):
        shown = [
            container
            for container in objects_in(status.pop(field, None))
            if container.get("name") not in ended or get(container, ("state", "terminated")) is not None
        ]
        if shown:
            status[field] = shown


def is_suspended(definition: Definition, template: Object) -> bool:
    """Return whether a template has the suspending values of the definition at all their places."""
    places = [(path, action.value) for action in definition.suspend for path in action.path.paths(template)]
    return bool(places) and all(get(template, path) == value for path, value in places)


def _with_known(definition: Definition, status: NewObject, before: Object) -> NewObject:
    """Restore counters that would fall or disappear (a 0 too), and the fields that no member decides."""
    for path, rule in definition.annotations.aggregate.items():
        # List elements have no fixed place here, because their order may vary.
        if rule not in OF_TEMPLATE or None in path:
            continue
        field = tuple([step for step in path[1:] if step is not None])
        value = get(before, field)
        if value is None or not isinstance(get(status, field[:-1]), dict | None):
            continue
        if rule is AggregateRule.OMIT or falls(value, get(status, field)):
            status = set_value(status, field, value)
    return status


def has_outcome(definition: Definition, template: Object) -> bool:
    """Return whether a template without outcomes has completed or failed, which stays true without clusters."""
    if definition.annotations.outcomes or not (definition.status and definition.status.completes):
        return False
    return not _ENDED.isdisjoint(match_status(definition, template).matched)


def emptied(definition: Definition, status: Object) -> NewObject:
    """Return the rest of a status without any cluster. docs/aggregate-status.md has it as a table."""
    rules, projection = definition.annotations.aggregate, Projection()
    left = {key: _left(key, rules.get(("status", key)), value) for key, value in status.items()}
    status_match_reads(definition, projection)
    read = projection.at("status")  # itself if the whole object is read
    rest = {}
    for key, value in left.items():
        is_read = isinstance(value, str) and (read.is_whole or key in read.fields)
        if value is not None and not is_read:
            rest[key] = value
    return rest


def _left(key: str, rule: AggregateRule | None, value: JSON) -> JSON:
    if rule in OF_A_CLUSTER or isinstance(value, dict):
        return None
    if isinstance(value, bool):
        return False
    if is_number(value):
        return value if is_generation(key) else 0
    if isinstance(value, list):
        return []
    if rule in ADDING_UP and value and not is_time(value):  # the text of a sum is a quantity
        return "0"
    return value
