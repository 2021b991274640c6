"""Which pods of a workload are placed together or not at all, as plain data that a scheduler can use.

Source: `pkg/instructions` of the Karta project for rules and keys, `pkg/podgrouper` of the KAI Scheduler for what a
scheduler makes of them. docs/library.md lists where the minimum members differ from theirs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.model import PodGroup as WholeGroup
from karta_interpreter.karta.model import Topology
from karta_interpreter.karta.pods import scale_locations
from karta_interpreter.workload.gang.attribution import attribute_all, extract_group_keys
from karta_interpreter.workload.gang.quorum import Grouped, effective_member, quorum
from karta_interpreter.workload.gang.subtree import minimum


@dataclass(frozen=True, slots=True)
class SubGroup:
    """The pods of a component, and of all below it that is no subgroup of its own, within a pod group."""

    component: str
    minimum: int
    pods: tuple[Object, ...] = ()
    topology: Topology | None = None


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods that are placed together or not at all.

    ``name`` is that of the definition and, together with ``keys``, unique in the workload; ``minimum`` is how many
    pods there must be room for at once, those that do not exist yet among them.
    """

    name: str
    minimum: int
    pods: tuple[Object, ...] = ()
    keys: tuple[str, ...] = ()
    sub_groups: tuple[SubGroup, ...] = ()
    topology: Topology | None = None


def pod_groups(definition: Definition, obj: Object, pods: Iterable[Object]) -> tuple[PodGroup, ...]:
    """The pod groups that the pods of a workload are in.

    With `podGroup` that is one, whether there are pods yet or not; with `podGroups` one for each group and keys that
    a pod has, in the order of the pods; pods that no rule is about are in none. Raises WorkloadError for pods that
    belong nowhere, for keys without a value, and as `karta_interpreter.workload.gang.quorum.quorum`.
    """
    known = tuple(pods)
    if definition.gang.whole is not None:
        return (_whole(definition, obj, known, definition.gang.whole),)
    return _keyed(definition, obj, known)


def _keyed(definition: Definition, obj: Object, pods: Sequence[Object]) -> tuple[PodGroup, ...]:
    groups: dict[tuple[str, tuple[str, ...]], list[Grouped]] = {}
    for pod, place in zip(pods, attribute_all(definition, obj, pods), strict=True):
        member = effective_member(definition, place.component, pod)
        about = None if member is None else definition.component(member.component)
        if member is not None and about is not None:
            keys = extract_group_keys(about, member.rule.group_by, pod)
            groups.setdefault((member.pod_group, keys), []).append(Grouped(pod, place, member))
    return tuple(
        PodGroup(name, quorum(definition, obj, grouped), tuple(one.pod for one in grouped), keys)
        for (name, keys), grouped in groups.items()
    )


def _whole(definition: Definition, obj: Object, pods: Sequence[Object], whole: WholeGroup) -> PodGroup:
    parts = [part.component for part in whole.parts]
    members: dict[str | None, list[Object]] = {}
    for pod, place in zip(pods, attribute_all(definition, obj, pods), strict=True):
        members.setdefault(_part(definition, parts, place.component), []).append(pod)
    minimums: dict[str | None, int] = {}
    for location in scale_locations(definition, obj):
        part = _part(definition, parts, location.pod_set.component)
        minimums[part] = minimums.get(part, 0) + minimum(location.scale)
    sub_groups = tuple(
        SubGroup(part.component, minimums.get(part.component, 0), tuple(members.get(part.component, ())), part.topology)
        for part in whole.parts
        if minimums.get(part.component) or members.get(part.component)
    )
    # Pods outside all subgroups are in the group, but it does not wait for them.
    waits_for = sum(count for part, count in minimums.items() if part is not None or not parts)
    return PodGroup(whole.name, waits_for, tuple(pods), (), sub_groups, whole.topology)


def _part(definition: Definition, parts: Sequence[str], component: str) -> str | None:
    """The subgroup of a component: its own, else the nearest of an owner's."""
    return next((owner.name for owner in definition.lineage(component) if owner.name in parts), None)
