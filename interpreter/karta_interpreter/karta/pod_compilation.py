"""From the `podSelector` of a component and the `gangScheduling` of a Karta to their compiled forms."""

from collections.abc import Iterable

from karta_interpreter.karta import instructions
from karta_interpreter.karta import model as written
from karta_interpreter.karta.pod_rules import (
    GangScheduling,
    GroupMember,
    GroupPart,
    KeyedGroup,
    PodQuery,
    PodSelector,
    Topology,
    TypeSelector,
    WholeGroup,
)


def compile_selector(selector: written.PodSelector | None) -> PodSelector:
    """What the pods of a component tell, which is nothing without a selector."""
    if selector is None:
        return PodSelector()
    instance, replica = selector.component_instance_selector, selector.replica_selector
    return PodSelector(
        _type_selector(selector.component_type_selector),
        None if instance is None else _query(instance.id_path),
        None if replica is None else _query(replica.key_path),
    )


def compile_gang(advice: instructions.OptimizationInstructions | None) -> GangScheduling:
    """Which pods start together, which are none without instructions."""
    gang = None if advice is None else advice.gang_scheduling
    if gang is None:
        return GangScheduling()
    keyed = tuple(KeyedGroup(group.name, tuple(map(_member, group.members))) for group in gang.pod_groups)
    return GangScheduling(keyed, None if gang.pod_group is None else _whole(gang.pod_group))


def _type_selector(selector: written.ComponentTypeSelector | None) -> TypeSelector | None:
    if selector is None:
        return None
    return TypeSelector(selector.match_labels or {}, _query(selector.key_path), selector.value)


def _member(member: instructions.PodGroupMember) -> GroupMember:
    return GroupMember(member.component_name, _queries(member.group_by_key_paths), _queries(member.filters))


def _whole(group: instructions.PodGroup) -> WholeGroup:
    parts = tuple(GroupPart(part.component_name, _topology(part.topology)) for part in group.sub_groups)
    return WholeGroup(group.name, parts, _topology(group.topology))


def _topology(topology: instructions.Topology | None) -> Topology | None:
    if topology is None:
        return None
    return Topology(topology.topology_name, topology.preferred_topology_level, topology.required_topology_level)


def _query(text: str | None) -> PodQuery | None:
    return PodQuery(text) if text else None


def _queries(texts: Iterable[str]) -> tuple[PodQuery, ...]:
    return tuple(map(PodQuery, texts))
