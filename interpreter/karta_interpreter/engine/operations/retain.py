"""Retain: the changes by a member cluster that Karmada must not undo.

For a workload in a queue such as Kueue, these are whether it runs, and the queue's additions to its pods. Kueue adds
the requirements of its assigned flavors to the pod templates, and removes them when it suspends the workload (``Merge``
and ``RestorePodSpec`` in ``pkg/podset``). Its own gate is there in either case (``pkg/workloadslicing``).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from karta_interpreter.base.k8s import (
    JSON,
    Object,
    Path,
    Projection,
    changes,
    field_path,
    get,
    label,
    remove,
    set_value,
    sharing,
)
from karta_interpreter.definitions.karta import (
    ComponentRules,
    Definition,
    Immutable,
    KeepQuantityFormat,
    Once,
    Retained,
    RetainedCount,
    RetainRule,
    Unset,
)
from karta_interpreter.engine.evaluation import ScaleLocation, leaves_count_unset, scale_locations
from karta_interpreter.engine.operations.list_matching import (
    Correspondence,
    filled,
    matching_reads,
    respelled,
    united,
    unless_broken,
)
from karta_interpreter.engine.operations.managers import MANAGED_FIELDS, is_only_karmadas
from karta_interpreter.engine.operations.revise_replica import revision_reads
from karta_interpreter.languages.jq import Location, Query, take_outputs

RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"
"""The label of a template that leaves its replica counts to the members (an HPA there, for instance)."""

RetainStep: TypeAlias = Literal["switches", "counts", "queue"] | RetainRule
"""A step of Retain: derived from the definition, or a rule of the annotation ``retain``."""

_ANNOTATIONS: Final = ("metadata", "annotations")
_START: Final = ("status", "startTime")
_TEMPLATE: Final = (*_ANNOTATIONS, "resourcetemplate.karmada.io/uid")
"""The uid of the template that Karmada made an object from."""


def cannot_change(kind: str) -> str:
    """Return what a template's author has to know about a difference at an immutable path."""
    way = "delete it in the member, or make a new one"
    return f"cannot change in a {kind} that exists, and stays as it runs until it is made anew: {way}"


def retain(definition: Definition, desired: Object, observed: Object) -> Object:
    """Return the desired object with the member's own values from the observed object.

    The member keeps its replica counts if the template carries the label `RETAIN_REPLICAS`. It keeps replica counts and
    suspend switches that the template leaves unset, but no switch that Karmada alone owns, the queue's fields of an
    object with the queue's label, and the places of the definition's ``retain`` annotation. Retaining twice changes
    nothing more. Karmada relies on it (``objectwatcher.go`` compares the result with the member). Values that cannot be
    read in the member's object are not kept, because the error would repeat for ever.
    """
    retained = desired
    for _, step in retain_steps(definition, desired, observed):
        retained = step
    return retained


def retain_steps(definition: Definition, desired: Object, observed: Object) -> Iterator[tuple[RetainStep, Object]]:
    """Yield the object after each step of `retain`. Raises QueryError."""
    places = Correspondence(definition, desired, observed)
    # Switches before counts: Karta's own Sandbox counts 0 pods while its switch `.spec.operatingMode` is Suspended.
    retained = _retain_switches(definition, places, desired, observed)
    yield "switches", retained
    retained = before = _retain_scale(definition, retained, observed)
    yield "counts", retained
    if is_queued(definition, desired):
        retained = before = _keep_queued(definition, places, retained, observed)
        yield "queue", retained
    for rule in definition.annotations.retained:
        retained = _followed(rule, places, retained, observed, before)
        yield rule, retained
    if retained is not before:  # a part filled in by the annotation may leave counts unset, too
        yield "counts", _retain_scale(definition, retained, observed)


def kept_as_it_runs(definition: Definition, desired: Object, observed: Object) -> Iterator[Path]:
    """Yield the places at which Retain leaves the template's value out, because the member refuses it."""
    before = desired
    for step, after in retain_steps(definition, desired, observed):
        if isinstance(step, Immutable) and step.is_final and after is not before:
            for path, *_ in changes(before, after):
                if step.word == "share" or get(before, path) is not None:
                    yield path
        before = after


def retain_reads(definition: Definition, projection: Projection) -> None:
    """Mark what Retain reads of both objects."""
    projection.at("metadata", "labels", RETAIN_REPLICAS).is_whole = True
    revision_reads(definition, projection)
    all_switches = switches(definition.components)
    take_outputs(projection, *all_switches)
    if all_switches:
        managers = projection.at(*MANAGED_FIELDS)
        managers.is_whole = managers.is_raw = True
    if definition.suspend:
        for name in definition.annotations.queue_labels:
            projection.at("metadata", "labels", name).is_whole = True
    take_outputs(projection, *(fields.query for fields in definition.queued))
    projection.at(*_START).is_whole = True
    for rule in definition.annotations.retained:
        if isinstance(rule, Once):
            projection.at(*_ANNOTATIONS).is_whole = True  # all of them, which go with the last
        if isinstance(rule, Immutable):
            projection.at(*_TEMPLATE).is_whole = True
    matching_reads(definition, projection)


def switches(components: Iterable[ComponentRules]) -> Collection[Query]:
    """Return the expressions of the fields that suspend and resume, each once."""
    return dict.fromkeys(
        [action.path for component in components for action in (*component.suspend, *component.resume)]
    )


def resumed_values(components: Iterable[ComponentRules]) -> Mapping[Query, JSON]:
    """Return the values that resume, by the expressions of their fields."""
    return {action.path: action.value for component in components for action in component.resume}


def _retain_switches(definition: Definition, places: Correspondence, desired: Object, observed: Object) -> Object:
    retained = desired
    for path, value, is_dropped in unset_switches(definition, places, desired, observed):
        if not is_dropped:
            retained = set_value(retained, path, value)
    return retained


def unset_switches(
    definition: Definition, places: Correspondence, desired: Object, observed: Object
) -> Iterator[tuple[Path, JSON, bool]]:
    """Yield the switches of the member that the template leaves unset, and whether Retain drops them.

    A switch that Karmada alone has written is none of the member's: the template had it, and has dropped it. What
    resumes anyway stays, because an API server may write it as a default again.
    """
    resumed = resumed_values(definition.components)
    for query in switches(definition.components):
        # A template with a value in every place needs nothing of the member. Comparing the two is the slow part.
        if None in places.values(query, desired):
            for path, value in places.shared(query, desired):
                if get(desired, path) is None:
                    yield path, value, value != resumed.get(query) and is_only_karmadas(observed, path)


def is_queued(definition: Definition, obj: Object) -> bool:
    """Return whether an object has the label of a queue and its kind can be suspended."""
    return bool(definition.suspend) and any(label(obj, name) for name in definition.annotations.queue_labels)


def _keep_queued(definition: Definition, places: Correspondence, template: Object, observed: Object) -> Object:
    """Return the template with the member's switches and the queue's additions to its pods.

    If the member has no switch, the value that resumes applies. In the pods the template's own values prevail: a queue
    only adds missing fields.
    """
    result = template
    for component in definition.components:
        resumed = resumed_values([component])
        for query in switches([component]):
            for path, value in places.shared(query, result, resumed.get(query)):
                result = set_value(result, path, value)
    actions = [(action, unless_broken(action.path.evaluate, observed)) for action in definition.suspend]
    is_held = all(
        outputs is not None and all(value == action.value for value in outputs) for action, outputs in actions
    )
    # API servers refuse to change where the pods of a Job run until it is suspended and its start time is gone
    # (``validateJobUpdate`` in ``pkg/registry/batch/job``). The controller clears the start time once the Job is
    # suspended.
    is_held = is_held and get(observed, _START) is None
    for fields in definition.queued:
        if is_held and not fields.while_held:
            continue
        # Not strict, because pods that a definition computes have no place for a queue to write to.
        for path, value in places.shared(fields.query, result, strict=False):
            if isinstance(get(result, path[: -fields.missing]), dict):
                result = set_value(result, path, united(get(result, path), value))
    return result


def _followed(rule: RetainRule, places: Correspondence, template: Object, observed: Object, before: Object) -> Object:
    match rule:
        case Retained():
            return _kept(rule, places, template, observed)
        case Unset():
            return _with_unset(rule, places, template)
        case Immutable():
            return _exchanged(rule, places, template, observed, before)
        case RetainedCount() if label(template, RETAIN_REPLICAS) == "true":
            return _kept(Retained(rule.place), places, template, observed)
        case RetainedCount():
            return _with_unset(Unset(rule.place), places, template)
        case Once():
            return _sent_once(rule, template, observed)
        case KeepQuantityFormat():
            for path, theirs in places.shared(rule.place, template):
                template = _with_value(template, path, respelled(get(template, path), theirs))
            return template


def _kept(rule: Retained, places: Correspondence, template: Object, observed: Object) -> Object:
    if rule.condition is None or unless_broken(rule.condition.holds, observed):
        for path, value in places.shared(rule.place, template, rule.absent, drops=rule.drops):
            template = remove(template, path) if value is None else _with_value(template, path, value)
    return template


def _with_value(template: Object, path: Path, value: JSON) -> Object:
    ours = get(template, path)
    return template if value is None or value == ours else set_value(template, path, sharing(ours, value))


def _exchanged(rule: Immutable, places: Correspondence, retained: Object, observed: Object, template: Object) -> Object:
    """Return the object with the member's values of an immutable path, or with the template's of a changeable one.

    The API server of the control plane has refused each change of an immutable path since the object was made from the
    template. So what differs was written in the member. If the member's object was made from another template, only
    gaps are filled: what differs is refused, and the author sees it. But a share was written by the division, whatever
    the template is.
    """
    both = {"template": template, "member": observed}
    # Before places are looked for, which takes longer than most conditions.
    if rule.condition is not None and not unless_broken(rule.condition.holds, both):
        return retained

    def applies(path: Path) -> bool:
        at = {"at": field_path(path), "name": get(retained, (*path[:-1], "name"))}
        return rule.condition is None or bool(unless_broken(rule.condition.holds, both | at))

    is_fixed, is_share = rule.word == "fixed", rule.word == "share"
    if is_fixed:  # a member has mostly what the template has, or nothing
        theirs = unless_broken(rule.place.evaluate, observed) or []
        if theirs.count(None) == len(theirs) or theirs == places.values(rule.place, retained):
            return retained
    is_same = is_share or get(template, _TEMPLATE) == get(observed, _TEMPLATE)
    shared: Iterable[tuple[Path, JSON]] = places.shared(rule.place, retained, drops=not is_fixed)
    if rule.word == "changeable":  # what was kept of the member may be broken
        places = places.of_retained(retained, template)
        shared = unless_broken(lambda: [*places.shared(rule.place, retained, drops=True)]) or ()
    for path, value in shared:
        ours = get(retained, path)
        if is_fixed and (ours is None or not is_same):
            continue
        kept = value if is_same else filled(ours, value)
        if kept != ours and applies(path):
            retained = remove(retained, path) if kept is None else set_value(retained, path, sharing(ours, kept))
            if is_share and kept is None:
                retained = _without_empty(retained, observed, path[:-1])
    return retained


def _without_empty(template: Object, observed: Object, path: Path) -> Object:
    """Return the template without the empty objects along a path that the observed object does not have."""
    while path and get(template, path) == {} and get(observed, path) is None:
        template, path = remove(template, path), path[:-1]
    return template


def _sent_once(rule: Once, template: Object, observed: Object) -> Object:
    """Return the template with its list and a note of it, or with the member's list if the note is there."""
    listed, left = _joined(get(template, rule.path)), _joined(get(observed, rule.path))
    note = (*_ANNOTATIONS, rule.note)
    noted = get(observed, note) or ""
    if listed == left:
        return template
    if listed == noted:
        return set_value(template, rule.path, get(observed, rule.path)) if left else remove(template, rule.path)
    sent = set_value(template, note, listed) if listed else remove(template, note)
    return sent if get(sent, _ANNOTATIONS) else remove(sent, _ANNOTATIONS)


def _joined(value: JSON) -> str:
    """Return the texts of a list in one, "" for any other value."""
    return ",".join(value) if isinstance(value, list) and all(isinstance(element, str) for element in value) else ""


def _with_unset(rule: Unset, places: Correspondence, template: Object) -> Object:
    def is_kept(value: JSON) -> bool:
        return rule.condition is None or bool(unless_broken(rule.condition.holds, value))

    def has_kept(value: JSON) -> bool:
        return not (rule.condition and rule.condition.is_false_for_all(value)) if rule.by else is_kept(value)

    for path, theirs in places.shared(rule.place, template, is_kept=has_kept if rule.condition else None):
        ours = get(template, path)
        if rule.by is not None:
            template = _with_value(template, path, united(ours, theirs, rule.by, is_kept) or ours)
        elif is_kept(theirs):
            template = _with_value(template, path, _unless_set(rule, ours, theirs, get(template, path[:-1])))
    return template


def _unless_set(rule: Unset, ours: JSON, theirs: JSON, owner: JSON) -> JSON:
    # Go writes an empty text for an unset field without omitempty.
    ours = None if ours == "" else ours
    if rule.value is not None:
        return unless_broken(rule.value.first, owner) if ours is None else ours
    return filled(ours, theirs)


def _scales(definition: Definition, obj: Object) -> Mapping[tuple[str, str], ScaleLocation]:
    # By component and instance, because the names of pod sets depend on the rest of the object.
    return {(scale.pod_set.component, scale.pod_set.instance): scale for scale in scale_locations(definition, obj)}


def _retain_scale(definition: Definition, template: Object, observed: Object) -> Object:
    """Return the template (the desired object so far) with the member's own counts."""
    leaves_replicas = label(template, RETAIN_REPLICAS) == "true"
    leaves_some = leaves_replicas or unless_broken(leaves_count_unset, definition, template)
    ours = unless_broken(_scales, definition, template) if leaves_some else None
    if not ours:
        return template
    # An error in one component of the member does not affect the others.
    alone = [replace(definition, components=(component,)) for component in definition.counted]
    member = {key: scale for one in alone for key, scale in (unless_broken(_scales, one, observed) or {}).items()}
    retained = template
    elsewhere: dict[Path, JSON] = {}
    for instance, scale in ours.items():
        for location, source in _pairs(scale, member.get(instance)):
            target = _counterpart(location.path, source.path)
            value = source.raw(observed)
            is_same_field = target == location.path
            is_left = leaves_replicas and is_same_field
            # A bound that the template dropped is gone. If it were kept, it could never be lifted again.
            if value is None or not (
                is_left or (location is scale.count and _leaves_unset(retained, location, target))
            ):
                continue
            if is_same_field:
                retained = set_value(retained, target, value)
            else:
                elsewhere.setdefault(target, value)
    return unless_broken(_with_counted, definition, retained, elsewhere) or retained


def _with_counted(definition: Definition, template: Object, values: Mapping[Path, JSON]) -> Object:
    """Return the template with those values that are counts at their places. Some fields count only next to others."""
    if not values:
        return template
    result = _written(template, values)
    counts = {scale.count.path for scale in scale_locations(definition, result) if scale.count}
    counted = {path: value for path, value in values.items() if path in counts}
    return result if len(counted) == len(values) else _written(template, counted)


def _written(template: Object, values: Mapping[Path, JSON]) -> Object:
    for path, value in values.items():
        template = set_value(template, path, value)
    return template


def _counterpart(path: Path, source: Path) -> Path:
    """Return the template's path for a count of the member: the same field of the same instance.

    Instances may be at other indices, or under other keys (``worker``, ``Worker``). If the two have their counts in
    different fields, such as the old and the new name of a field, the template's field is not the counterpart.
    """
    if len(path) == len(source) and path[-1:] == source[-1:]:
        return path
    target = list(source)
    for depth, (ours, theirs) in enumerate(zip(path, source, strict=False)):
        if isinstance(theirs, int) and isinstance(ours, int):
            target[depth] = ours
    return tuple(target)


def _leaves_unset(desired: Object, location: Location, target: Path) -> bool:
    """Return whether a template has the place without a value. A dropped autoscaler leaves no place behind."""
    unset = location.raw(desired) is None and get(desired, target) is None
    return unset and get(desired, target[:-1]) is not None


def _pairs(scale: ScaleLocation, member: ScaleLocation | None) -> Iterator[tuple[Location, Location]]:
    """Yield the places with the same meaning in both objects. If there are replicas, bounds do not count."""
    if member is None:
        return
    pairs = [(scale.replicas, member.replicas)]
    if scale.replicas is None:
        pairs = [(scale.minimum, member.minimum), (scale.maximum, member.maximum)]
    for location, source in pairs:
        if location is not None and source is not None:
            yield location, source
