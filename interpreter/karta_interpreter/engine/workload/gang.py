"""Groups of pods that are placed together or not at all, as plain data for a scheduler.

Source: `pkg/instructions` of the Karta project for rules and keys, and `pkg/podgrouper` of the KAI Scheduler for the
use of them in a scheduler. tests/proofs/conformance/karta/differences.md has the differences.

Some pods of a group may not exist yet when its minimum is computed, so the definition counts them. Counted are all pods
of the components whose pods get the same keys. If the keys separate instances, only one instance counts. If they
separate replicas, only one replica counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, QueryError, WorkloadError
from karta_interpreter.base.k8s import JSON, Object, Path, set_value
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodQuery
from karta_interpreter.engine.evaluation import Attribution, Scale, attribution, instance_ids, scale_locations, scales

if TYPE_CHECKING:
    from karta_interpreter.definitions.karta.model import PodGroup as WholeGroup, PodGroupMember, Topology

Keys = tuple[PodQuery, ...]

_OTHER = "another-one"
"""Written into a pod at the place that a selector reads. A key that changes with it separates the same pods as the
selector.
"""


@dataclass(frozen=True, slots=True)
class SubGroup:
    """Part of a pod group: the pods of a component and of everything below it without a subgroup of its own."""

    component: str
    minimum: int
    pods: tuple[Object, ...] = ()
    topology: "Topology | None" = None


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods that are placed together or not at all."""

    name: str
    """The name in the definition. Together with ``keys`` it is unique in the workload."""
    minimum: int
    """The number of pods that must fit at once, including pods that do not exist yet."""
    pods: tuple[Object, ...] = ()
    keys: tuple[str, ...] = ()
    sub_groups: tuple[SubGroup, ...] = ()
    topology: "Topology | None" = None


class GroupRule(Struct, frozen=True):
    """What a definition says of a group: its members, and the expressions that divide their pods into groups."""

    name: str
    members: tuple[str, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectiveMember:
    """The rule for a pod's group (Karta's `PodGroupingEffectiveComponent`), about its component or an owner of it."""

    pod_group: str
    rule: "PodGroupMember"

    @property
    def component(self) -> str:
        """The component that the rule applies to."""
        return self.rule.component


class _Grouped(NamedTuple):
    """A pod of a group, its place, and the rule that put it into the group."""

    pod: Object
    place: Attribution
    member: EffectiveMember


class _Part(NamedTuple):
    """Pods that form a group: all pods of a component, or one instance, or one replica of ``divided_by``."""

    component: str
    instance: str | None
    divided_by: ComponentRules | None

    def has(self, component: str, instance: str) -> bool:
        """Return whether the pods of an instance belong to this part."""
        return self.component == component and self.instance in (None, instance)


def pod_groups(definition: Definition, obj: Object, pods: Iterable[Object]) -> tuple[PodGroup, ...]:
    """Return the pod groups of a workload's pods.

    `podGroup` gives one group, even without pods. `podGroups` gives one group for each combination of group and keys
    that a pod has, in the order of the pods. Pods without a rule are not in a group. Raises WorkloadError if a pod
    belongs nowhere, a key has no value, or a group is one replica and the number of replicas is unknown.
    """
    all_pods = tuple(pods)
    places = attribution.attribute_all(definition, obj, all_pods)
    if definition.gang.pod_group is not None:
        return (_whole(definition, obj, list(zip(all_pods, places, strict=True)), definition.gang.pod_group),)
    by_keys: dict[tuple[str, tuple[str, ...]], list[_Grouped]] = {}
    for pod, place in zip(all_pods, places, strict=True):
        member = effective_member(definition, place.component, pod)
        if member is not None:
            keys = group_keys(definition, member, pod)
            by_keys.setdefault((member.pod_group, keys), []).append(_Grouped(pod, place, member))
    groups = list[PodGroup]()
    for (name, keys), grouped in by_keys.items():
        minimum = _group_minimum(definition, obj, grouped)
        groups.append(PodGroup(name, minimum, tuple(one.pod for one in grouped), keys))
    return tuple(groups)


def group_rules(definition: Definition) -> tuple[GroupRule, ...]:
    """Return the groups that a definition describes, as far as it is known without pods."""
    whole = definition.gang.pod_group
    if whole is not None:
        members = tuple(sub_group.component for sub_group in whole.sub_groups)
        return (GroupRule(whole.name, members or (definition.root.name,)),)
    rules = list[GroupRule]()
    for group in definition.gang.pod_groups:
        keys = dict.fromkeys(key.text for member in group.members for key in member.group_by)
        rules.append(GroupRule(group.name, tuple(member.component for member in group.members), tuple(keys)))
    return tuple(rules)


def effective_member(definition: Definition, component: str, pod: Object) -> EffectiveMember | None:
    """Return the first rule about a component or an owner with filters that the pod passes, None without a group."""
    for candidate in _candidates(definition, component):
        owner = definition.component(candidate.component)
        if owner is not None and attribution.passes_filters(owner, candidate.rule.filters, pod):
            return candidate
    return None


def group_keys(definition: Definition, member: EffectiveMember, pod: Object) -> tuple[str, ...]:
    """Return the keys of a pod by its rule, one for each path."""
    component = definition.component(member.component)
    return () if component is None else attribution.extract_group_keys(component, member.rule.group_by, pod)


def _candidates(definition: Definition, component: str) -> Iterator[EffectiveMember]:
    """Yield the rules that may decide on pods of a component, its own rules first, then its owner's, and so on."""
    for ancestor in definition.lineage(component):
        for group in definition.gang.pod_groups:
            for rule in group.members:
                if rule.component == ancestor.name:
                    yield EffectiveMember(group.name, rule)


def _whole(
    definition: Definition, obj: Object, pods: Sequence[tuple[Object, Attribution]], whole: "WholeGroup"
) -> PodGroup:
    parts = [sub_group.component for sub_group in whole.sub_groups]

    def part_of(component: str) -> str | None:
        """Return the subgroup of a component: its own, else the nearest owner's."""
        return next((owner.name for owner in definition.lineage(component) if owner.name in parts), None)

    members: dict[str | None, list[Object]] = {}
    for pod, place in pods:
        members.setdefault(part_of(place.component), []).append(pod)
    minimums: dict[str | None, int] = {}
    for location in scale_locations(definition, obj):
        sub_group = part_of(location.pod_set.component)
        minimums[sub_group] = minimums.get(sub_group, 0) + _minimum_of(location.scale)
    sub_groups = list[SubGroup]()
    for part in whole.sub_groups:
        minimum, pods_of_part = minimums.get(part.component, 0), members.get(part.component, [])
        if minimum or pods_of_part:
            sub_groups.append(SubGroup(part.component, minimum, tuple(pods_of_part), part.topology))
    # Pods outside all subgroups are in the group, but the group does not wait for them.
    waits_for = sum(minimums.values()) - (minimums.get(None, 0) if parts else 0)
    return PodGroup(whole.name, waits_for, tuple(pod for pod, _ in pods), (), tuple(sub_groups), whole.topology)


def _group_minimum(definition: Definition, obj: Object, pods: Iterable[_Grouped]) -> int:
    """Return the minimum members of the group that the pods belong to."""
    # Pods of one instance with one rule have the same parts.
    alike = {(one.place.component, one.place.instance, one.member): one for one in pods}
    parts = list[_Part]()
    for one in alike.values():
        parts += _parts(definition, one)
    total = 0
    for location in scale_locations(definition, obj):
        for part in parts:
            if part.has(location.pod_set.component, location.pod_set.instance):
                total += _per_replica(obj, part, _minimum_of(location.scale))
                break
    return total


def _parts(definition: Definition, one: _Grouped) -> Iterator[_Part]:
    """Yield the members of a pod's group that its keys determine."""
    keys, own = one.member.rule.group_by, definition.component(one.place.component)
    for leaf in definition.leaves:
        is_alike = own is not None and leaf.selector.instance_id == own.selector.instance_id
        if leaf is not own and _is_grouped_apart(definition, leaf, one, is_alike=is_alike):
            continue
        instance = one.place.instance if is_alike and divides(keys, leaf.selector.instance_id, one.pod) else None
        maker = attribution.replica_maker(definition, leaf.name)
        divided = maker is not None and divides(keys, maker.selector.replica_key, one.pod)
        yield _Part(leaf.name, instance, maker if divided else None)


def _is_grouped_apart(definition: Definition, leaf: ComponentRules, one: _Grouped, *, is_alike: bool) -> bool:
    """Return whether the pods of another component are in other groups than the pod.

    ``is_alike``: its pods name their instances as the pod does, so its instance of that name is in the pod's group.
    """
    # The filters cannot be evaluated because the component may have no pod yet. So its first rule counts.
    member, keys = next(_candidates(definition, leaf.name), None), one.member.rule.group_by
    if member is None or member.pod_group != one.member.pod_group or member.rule.group_by != keys:
        return True
    own = definition.component(one.place.component)
    if own is not None and divides_components(keys, own, one.pod):
        return True
    if divides_components(keys, leaf, one.pod):
        return True
    return not is_alike and divides(keys, leaf.selector.instance_id, one.pod)


def _per_replica(obj: Object, part: _Part, pods: int) -> int:
    maker = part.divided_by
    if maker is None:
        return pods
    ids = instance_ids(maker, obj)
    instance = "" if maker.instance_ids is None else part.instance
    if maker.pods is not None or maker.replicas is None or instance not in ids:
        raise WorkloadError(
            f"definition {maker.definition}: pods are grouped by replicas of component {maker.name}, but how many of "
            "them there are is not known; the replicaSelector belongs to a component of its own without pods, whose "
            "scaleDefinition counts the replicas"
        )
    scale = scales(maker, obj, ids)[ids.index(instance)]
    replicas = max(_minimum_of(scale), 1)  # 0 replicas have 0 pods, and 1 divides 0
    if pods % replicas:
        raise WorkloadError(
            f"definition {maker.definition}: the {pods} pods of component {part.component} cannot be divided among "
            f"the {replicas} replicas of component {maker.name}"
        )
    return pods // replicas


def _minimum_of(scale: Scale) -> int:
    """Return how many units of an instance have to start together. A minimum of 0 does not count as one."""
    return scale.minimum or scale.effective


def divides_components(keys: Keys, component: ComponentRules, pod: Object) -> bool:
    """Return whether pods of a component have other keys than pods of another one."""
    selector = component.selector.component_type
    if selector is None:
        return False
    labels: list[Path] = [("metadata", "labels", name) for name in selector.labels]
    return _changes(keys, labels, pod) or divides(keys, selector.key, pod)


def divides(keys: Keys, selector: PodQuery | None, pod: Object) -> bool:
    """Return whether pods with different values of a selector have different keys."""
    if selector is None:
        return False
    try:
        locations = selector.query.locate_each(pod)
    except QueryError:
        locations = []
    places = [location.path for location in locations if location is not None]
    if places:
        return _changes(keys, places, pod)
    # The places that a computed selector reads are unknown. A key with the same text gives the same value.
    return any(key.text == selector.text for key in keys)


def _changes(keys: Keys, places: Iterable[Path], pod: Object) -> bool:
    changed: JSON = pod
    try:
        for path in places:
            changed = set_value(changed, path, _OTHER)
    except InterpretationError:
        return False  # the pod has another value on the way, so a key cannot read this place either
    return any(_answer(key, changed) != _answer(key, pod) for key in keys)


def _answer(key: PodQuery, pod: JSON) -> list[JSON] | None:
    try:
        return key.query.evaluate(pod)
    except QueryError:
        return None
