"""InterpretReplica and InterpretComponent: are there as many pods of each component as the definition counts?"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import product

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import (
    CONTAINER_LISTS,
    JSON,
    MOST_REPLICAS,
    NOTHING,
    Object,
    generation,
    get,
    grouped,
    parts_within,
)
from karta_interpreter.definitions.karta import TRANSITIONAL, Definition
from karta_interpreter.engine.evaluation import ScaleLocation, Status, match_status, scale_locations
from karta_interpreter.engine.evaluation.pod_states import is_active, is_ended
from karta_interpreter.engine.explain.reading import field_of
from karta_interpreter.engine.fights.rounds import differences
from karta_interpreter.engine.operations import COUNTING_OPERATIONS, Call, interpret, units_and_pods
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import NO_PODS, Judgement, Question, Verdict, pod_field
from karta_interpreter.engine.verification.members import (
    MemberGroup,
    Members,
    components_of,
    instance_of_pod,
    is_selected,
    likeness,
)

# A field with the upper bound of an autoscaler, unlike a bound that the definition computes from other fields. The
# fields that an expression reads do not show the difference. The lower bound of a SparkCluster reads both fields, and
# the two bounds of a DisaggregatedSet read the same ones.
_UPPER_BOUND = re.compile("max[^a-z]")
_WAITING = TRANSITIONAL | {Status.SUSPENDED, Status.COMPLETED, Status.FAILED}

_differs = partial(Judgement, Question.COUNTS, Verdict.DIFFERS)
_unjudged = partial(Judgement, Question.COUNTS, Verdict.UNJUDGED)


def judge_counts(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    """Compare the number of pods of each pod set, and the numbers that scripts answer in place of the Karta."""
    if definition.leaves:
        yield from _of_karta(definition, evidence, members)
    for operation in sorted(COUNTING_OPERATIONS & definition.scripts.operations):
        answer = interpret(definition, Call(operation, evidence.object), reader=evidence.reader)
        components, active = answer.get("components") or (), len(evidence.active)
        number = (
            answer["replica"] * _pods_of_unit(definition, evidence.object)
            if "replica" in answer
            else sum(component["replicas"] for component in components)
        )
        if number == active:
            continue
        script = definition.scripts.of(operation)[0].name
        reason = f"the script of {script} answers {operation} with another number"
        detail = f"{number} answered, {count(active, 'pod')}"
        # Where the Karta counts its pods, no roll-out and no autoscaler explains another number. Of 0 pods Karmada
        # divides none, whatever runs.
        if number and members.groups and active == _answered(members):
            yield _differs(reason, detail)
        else:
            yield _unjudged(reason, detail)


def _pods_of_unit(definition: Definition, obj: Object) -> int:
    """Return the number of pods that one of the replicas stands for."""
    unit = definition.annotations.unit
    return 1 if unit is None else sum(count_of_unit for _, count_of_unit in units_and_pods(definition, unit, obj)[1])


def _answered(members: Members) -> int:
    return sum(group.replicas for group in members.groups)


def _of_karta(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    @cache  # once for all groups: there may be as many as pods
    def locations() -> dict[str, ScaleLocation]:
        return {location.pod_set.name: location for location in scale_locations(definition, evidence.object)}

    matched = cache(lambda: match_status(definition, evidence.object).matched)
    late = cache(partial(_late, definition, evidence, members))
    if not evidence.active and any(group.replicas for group in members.groups):
        # The pods that a status counts may be below another object.
        numbers = {part for _, part in parts_within(evidence.object.get("status")) if type(part) is int}
        if (
            (definition.status and definition.status.completes)
            or not numbers.isdisjoint(group.replicas for group in members.groups)
            or Status.RUNNING not in matched()
        ):
            yield _unjudged(NO_PODS)
            return
    if unselected := [*_unselected(definition, evidence, members)]:
        yield from unselected
        return
    yield from _strays(definition, evidence, members)
    for group in members.groups:
        pods = [pod for pod in group.pods if is_active(pod)]
        if len(pods) != group.replicas:
            why = _explanation(evidence, group, pods, locations, matched)
            # Instances without pods, or several whose pods do not tell which they belong to.
            if not why and (not group.pods or len(group.sets) > 1):
                why = late(group.sets[0].component)
            yield _judged(definition, group, pods, why)


def _judged(definition: Definition, group: MemberGroup, pods: list[Object], why: str) -> Judgement:
    detail = f"{group.name}: {group.replicas} answered, {count(len(pods), 'pod')}"
    component = group.sets[0].component
    if why:
        return _unjudged(why, detail)
    if not any(get(group.sets[0].template, ("spec", name)) for name in CONTAINER_LISTS):
        return _differs(f"{component} has a template without containers", detail, pod_field(definition, component))
    rules = definition.component(component)
    path = "minReplicasPath" if rules and rules.min_replicas and rules.replicas is None else "replicasPath"
    reason = f"{component} has {'more' if len(pods) > group.replicas else 'fewer'} pods than the answer"
    return _differs(reason, detail, field_of(definition, component, f"scaleDefinition.{path}"))


def _late(definition: Definition, evidence: Evidence, members: Members, name: str) -> str:
    """Return why instances may have pods later, or pods that do not tell so, or ""."""
    component = definition.component(name)
    if component is None or component.selector.instance_id is None:
        return ""
    if len(evidence.active) == _answered(members):
        return f"pods of {name} do not tell their instance"
    makers = {get(evidence.owner_of(pod), ("metadata", "uid")) for pod in evidence.active}
    completes = definition.status and definition.status.completes
    if completes and len(makers) < sum(len(group.sets) for group in members.groups):
        return f"instances of {name} may run one after another"
    return ""


def _explanation(
    evidence: Evidence,
    group: MemberGroup,
    pods: list[Object],
    locations: Callable[[], dict[str, ScaleLocation]],
    statuses: Callable[[], Iterable[Status]],
) -> str:
    """Return what else than a wrong definition explains another number of pods, or ""."""
    made_since = sum(not evidence.is_outdated(pod) for pod in pods)
    if len(pods) > group.replicas == made_since > 0 or _is_rolling(evidence, group, pods):
        return "a roll-out replaces pods"
    least, most = 0, 0
    for pod_set in group.sets:
        minimum, maximum = _bounds(locations()[pod_set.name])
        least, most = least + minimum, most + maximum
    if evidence.scaled and len(pods) >= least:  # it never runs fewer than the object's own minimum
        return f"{evidence.scaled} scales it"
    if least <= len(pods) <= most < MOST_REPLICAS:
        return "an autoscaler may run as many, within the bounds of the object"
    lacks_pods = len(pods) < group.replicas
    if lacks_pods and any(map(is_ended, group.pods)):
        return "some of its pods have ended"
    if lacks_pods and evidence.is_growing:
        return "an object between has fewer pods than it is to have"
    if waiting := _WAITING.intersection(statuses()):
        return f"its status is {min(waiting)}"
    return ""


def _is_rolling(evidence: Evidence, group: MemberGroup, pods: Iterable[Object]) -> bool:
    """Return whether pods below one owner differ from its template in different fields: it has changed."""
    templates = [pod_set.template for pod_set in group.sets]
    deviations: dict[JSON, set[frozenset[str]]] = {}
    for pod in pods:
        changed: dict[JSON, list[JSON]] = {}
        for owner in evidence.owners_of(pod):
            changed[get(owner, ("metadata", "uid"))] = [get(owner, ("spec", "template"))]
        # The workload itself has had no other template in its first generation.
        if generation(evidence.object) != 1:
            changed[None] = templates
        for uid, of_owner in changed.items():
            fields = [_deviation(template, pod) for template in of_owner if isinstance(template, dict)]
            deviations.setdefault(uid, set()).add(min(fields, key=len, default=frozenset()))
    return any(len(different) > 1 for different in deviations.values())


def _deviation(template: Object, pod: Object) -> frozenset[str]:
    """Return the fields of a template that have another value in a pod."""
    return frozenset(difference.field for difference in differences(template, pod) if difference.ours is not NOTHING)


def _bounds(location: ScaleLocation) -> tuple[int, int]:
    """Return the bounds of a pod set's autoscaler. No upper bound is a very high one."""
    query, scale = location.places.component.max_replicas, location.scale
    maximum = scale.maximum if query and _UPPER_BOUND.search(query.text) else None
    return scale.minimum or 0, MOST_REPLICAS if maximum is None else maximum


def _unselected(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    """Yield the selectors that select none of the pods which look like those of their component."""
    loose = [pod for pod in evidence.active if not any(is_selected(leaf, pod) for leaf in definition.leaves)]
    sets = [own for group in members.groups for own in group.sets if own.replicas]
    for leaf in definition.leaves:
        selector, pods = leaf.selector, [pod for pod in evidence.pods if leaf in components_of(definition, pod)]
        field = field_of(definition, leaf.name, "podSelector")
        if selector.component_type is not None and not any(is_selected(leaf, pod) for pod in pods):
            templates = [own.template for own in sets if own.component == leaf.name]
            if any(likeness(template, pod) for template, pod in product(templates, loose)):
                yield _differs(f"no pod has the label of {leaf.name}, and others have its containers", "", field)
        if selector.instance_id is not None and pods and all(instance_of_pod(leaf, pod) is None for pod in pods):
            yield _differs(f"no pod of {leaf.name} tells its instance", "", field)


def _strays(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    through, known = set[str](), set[str]()
    for group in members.groups:
        through.update(_kind_between(evidence, pod) for pod in group.pods)
        known.update(pod_set.component for pod_set in group.sets)
    strays = grouped((_kind_between(evidence, pod), pod) for pod in filter(is_active, members.strays))
    for kind, pods in strays.items():
        detail = f"{count(len(pods), 'pod')}, such as {get(pods[0], ('metadata', 'name'))}"
        if kind and known and kind not in through:
            yield _unjudged(f"pods of a {kind} belong to no component", detail)
            continue
        # A component that selects them, and whose template the object does not seem to have.
        lacking = [leaf.name for leaf in components_of(definition, pods[0]) if leaf.name not in known]
        field = pod_field(definition, *lacking) if len(lacking) == 1 else "spec.structureDefinition.childComponents"
        yield _differs("pods belong to no component of the definition", detail, field)


def _kind_between(evidence: Evidence, pod: Object) -> str:
    kind = str(get(evidence.owner_of(pod), ("kind",), ""))
    return "" if kind == "Pod" else kind
