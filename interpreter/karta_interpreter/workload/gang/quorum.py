"""How many pods of a group there must be room for, before any of them is placed.

Not all of them may exist when that is asked, so they are counted by the definition: all pods of the components whose
pods get the same keys, of one instance where the keys separate instances, and of one replica where they separate
replicas apart.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from karta_interpreter.errors import InterpretationError, QueryError, WorkloadError
from karta_interpreter.k8s.edit import set_value
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta.definition import Component, Definition
from karta_interpreter.karta.evaluation import UNNAMED
from karta_interpreter.karta.model import PodGroupMember
from karta_interpreter.karta.pods import scale_locations
from karta_interpreter.karta.scale import scales
from karta_interpreter.karta.schema_types import PodQuery
from karta_interpreter.workload.gang.attribution import Attribution, passes_filters, replica_maker
from karta_interpreter.workload.gang.subtree import minimum


@dataclass(frozen=True, slots=True)
class EffectiveMember:
    """The rule that decides on the group of a pod (`PodGroupingEffectiveComponent` of Karta's library).

    ``component`` is that of the pod or an owner of it.
    """

    pod_group: str
    rule: PodGroupMember

    @property
    def component(self) -> str:
        """The component that the rule is about."""
        return self.rule.component


def candidates(definition: Definition, component: str) -> Iterator[EffectiveMember]:
    """The rules that may decide on pods of a component, the strongest first.

    Those about the component itself come before those about its owner, and so on; of one component, they are in
    the order of the definition.
    """
    for each in definition.lineage(component):
        for group in definition.gang.keyed:
            for rule in group.members:
                if rule.component == each.name:
                    yield EffectiveMember(group.name, rule)


def effective_member(definition: Definition, component: str, pod: Object) -> EffectiveMember | None:
    """The first candidate whose filters the pod passes, None when it is in no group."""
    for candidate in candidates(definition, component):
        about = definition.component(candidate.component)
        if about is not None and passes_filters(about, candidate.rule.filters, pod):
            return candidate
    return None


class Grouped(NamedTuple):
    """A pod of a group, where it belongs and the rule that brought it there."""

    pod: Object
    place: Attribution
    member: EffectiveMember


class _Part(NamedTuple):
    """Pods that a group is made of: all of a component, or one instance, or one replica of ``divided_by``."""

    component: str
    instance: str | None
    divided_by: Component | None


def quorum(definition: Definition, obj: Object, pods: Iterable[Grouped]) -> int:
    """The minimum members of the group that the pods are of.

    Raises WorkloadError where the group is one replica and the definition has no count of replicas.
    """
    parts = list(_parts_of_all(definition, pods))
    total = 0
    for location in scale_locations(definition, obj):
        pod_set, scale = location.pod_set, location.scale
        for part in parts:
            if part.component == pod_set.component and part.instance in (None, pod_set.instance):
                total += _of_one_replica(obj, part, minimum(scale))
                break
    return total


def _parts_of_all(definition: Definition, pods: Iterable[Grouped]) -> Iterator[_Part]:
    alike = {(one.place.component, one.place.instance, one.member): one for one in pods}
    for one in alike.values():
        yield from _parts(definition, one)


def _parts(definition: Definition, one: Grouped) -> Iterator[_Part]:
    """The members of a pod's group that its keys determine."""
    keys = one.member.rule.group_by
    for leaf in definition.leaves:
        own = leaf.name == one.place.component
        if not own and _goes_elsewhere(definition, leaf, one):
            continue
        instance = one.place.instance if own and divides_instances(keys, leaf, one.pod) else None
        maker = replica_maker(definition, leaf.name)
        divided = maker is not None and divides_replicas(keys, maker, one.pod)
        yield _Part(leaf.name, instance, maker if divided else None)


def _goes_elsewhere(definition: Definition, leaf: Component, one: Grouped) -> bool:
    """Whether the pods of another component than the pod's are in other groups."""
    member, keys = next(candidates(definition, leaf.name), None), one.member.rule.group_by
    if member is None or member.pod_group != one.member.pod_group or member.rule.group_by != keys:
        return True
    own = definition.component(one.place.component)
    if own is not None and divides_components(keys, own, one.pod):
        return True
    return divides_components(keys, leaf, one.pod) or divides_instances(keys, leaf, one.pod)


def _of_one_replica(obj: Object, part: _Part, pods: int) -> int:
    maker = part.divided_by
    if maker is None:
        return pods
    replicas = _replicas(maker, obj)
    if pods % replicas:
        raise WorkloadError(
            f"definition {maker.definition}: the {pods} pods of component {part.component} cannot be divided among "
            f"the {replicas} replicas of component {maker.name}"
        )
    return pods // replicas


def _replicas(maker: Component, obj: Object) -> int:
    """How many replicas of a component there are, at least 1."""
    if maker.pods is None and maker.replicas is not None and maker.instance_ids is None:
        (scale,) = scales(maker, obj, UNNAMED)
        return max(minimum(scale), 1)
    raise WorkloadError(
        f"definition {maker.definition}: pods are grouped by replicas of component {maker.name}, but how many of them "
        "there are is not known; the replicaSelector belongs to a component of its own, without pods and instances, "
        "whose scaleDefinition counts the replicas"
    )


_OTHER = "another-one"

Keys = tuple[PodQuery, ...]


def divides_components(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of a component have other keys than pods of another one."""
    selector = component.selector.component_type
    if selector is None:
        return False
    labels: list[Path] = [("metadata", "labels", name) for name in selector.labels]
    return _changes(keys, labels, pod) or _divides(keys, selector.key, pod)


def divides_instances(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of one instance of a component have other keys than those of another instance."""
    return _divides(keys, component.selector.instance_id, pod)


def divides_replicas(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of one replica of a component have other keys than those of another replica."""
    return _divides(keys, component.selector.replica_key, pod)


def _divides(keys: Keys, selector: PodQuery | None, pod: Object) -> bool:
    if selector is None:
        return False
    try:
        locations = selector.query.locate_each(pod)
    except QueryError:
        locations = []
    places = [location.path for location in locations if location is not None]
    if places:
        return _changes(keys, places, pod)
    # What a computed selector reads is unknown; a key with the same text gives the same.
    return any(key.text == selector.text for key in keys)


def _changes(keys: Keys, places: Iterable[Path], pod: Object) -> bool:
    changed: JSON = pod
    try:
        for place in places:
            changed = set_value(changed, place, _OTHER)
    except InterpretationError:
        return False
    return any(_answer(key, changed) != _answer(key, pod) for key in keys)


def _answer(key: PodQuery, pod: JSON) -> list[JSON] | None:
    try:
        return key.query.evaluate(pod)
    except QueryError:
        return None
