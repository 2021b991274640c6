"""The pod set that each pod of a workload belongs to, by the selectors of the definition or else by its template."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s import Object, get, objects_in
from karta_interpreter.definitions.karta import Component, Definition
from karta_interpreter.engine.evaluation import PodSet, instance_of, matches_component_type


class Group(NamedTuple):
    """Pod sets with pods that cannot be distinguished, most often one, and their pods."""

    sets: tuple[PodSet, ...]
    pods: tuple[Object, ...]

    @property
    def name(self) -> str:
        """The names of the sets."""
        return " and ".join(pods.name for pods in self.sets)

    @property
    def replicas(self) -> int:
        """The number of pods by the definition."""
        return sum(pods.replicas for pods in self.sets)


class Members(NamedTuple):
    """All pods of a workload. ``strays`` belong to no pod set."""

    groups: tuple[Group, ...]
    strays: tuple[Object, ...]


def members(definition: Definition, obj: Object, sets: Sequence[PodSet], pods: Iterable[Object]) -> Members:
    """Return the pods by the pod set that they belong to."""
    strays: list[Object] = []
    joined: list[tuple[set[int], list[Object]]] = [({position}, []) for position in range(len(sets))]
    for pod in pods:
        matches = _matches(definition, obj, sets, pod)
        if not matches:
            strays.append(pod)
            continue
        # Groups that one pod may belong to become one.
        touched = [group for group in joined if group[0] & matches]
        merged = (set().union(*(group[0] for group in touched)), [pod for group in touched for pod in group[1]] + [pod])
        joined = [group for group in joined if not group[0] & matches] + [merged] if len(touched) > 1 else joined
        if len(touched) == 1:
            touched[0][1].append(pod)
    ordered = sorted(joined, key=lambda each: min(each[0]))
    groups = tuple(Group(tuple(sets[index] for index in sorted(numbers)), tuple(own)) for numbers, own in ordered)
    return Members(groups, tuple(strays))


def _matches(definition: Definition, obj: Object, sets: Sequence[PodSet], pod: Object) -> set[int]:
    leaves = definition.leaves
    chosen = [leaf for leaf in leaves if is_selected(leaf, pod)]
    chosen = chosen[:1] or [leaf for leaf in leaves if leaf.selector.component_type is None]
    keys = {(component.name, instance) for component in chosen for instance in _instances(component, obj, sets, pod)}
    numbers = [number for number, pods in enumerate(sets) if (pods.component, pods.instance) in keys]
    scores = {number: _likeness(sets[number].template, pod) for number in numbers}
    best = max(scores.values(), default=0)
    # Without a selector a pod that resembles none of several templates belongs to none.
    if not best and len(leaves) > 1 and chosen and chosen[0].selector.component_type is None:
        return set()
    return {number for number, score in scores.items() if score == best}


def is_selected(component: Component, pod: Object) -> bool:
    """Return whether the selector of a component's type selects a pod."""
    try:
        return matches_component_type(component, pod)
    except WorkloadError:
        return False


def _instances(component: Component, obj: Object, sets: Sequence[PodSet], pod: Object) -> list[str]:
    if component.selector.instance_id is None:
        return [pods.instance for pods in sets if pods.component == component.name]
    try:
        return [instance_of(component, obj, pod)]
    except WorkloadError:
        return []


def _likeness(template: Object, pod: Object) -> int:
    """Return how much containers of a pod resemble those of a template: by their names, images, and then resources."""
    containers = {each.get("name"): each for each in objects_in(get(pod, ("spec", "containers")))}
    pairs = [(each, containers.get(each.get("name"))) for each in objects_in(get(template, ("spec", "containers")))]
    return sum(
        4 + 2 * (ours.get("image") == theirs.get("image")) + (ours.get("resources") == theirs.get("resources"))
        for ours, theirs in pairs
        if theirs is not None
    )
