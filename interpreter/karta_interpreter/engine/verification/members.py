"""The pod set that each pod of a workload belongs to, by the selectors of the definition or else by its template."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s import Object, get, grouped, objects_in
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.engine.evaluation import PodSet, instance_key, matches_component_type


class MemberGroup(NamedTuple):
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

    groups: tuple[MemberGroup, ...]
    strays: tuple[Object, ...]


_Joined: TypeAlias = tuple[set[int], list[Object]]
"""The numbers of pod sets, and the pods that belong to one of them."""
_Key: TypeAlias = tuple[str, str | None]
"""The component and the instance of a pod."""


def members(definition: Definition, sets: Sequence[PodSet], pods: Sequence[Object]) -> Members:
    """Return the pods by the pod set that they belong to."""
    strays: list[Object] = []
    joined: list[_Joined] = [({position}, []) for position in range(len(sets))]
    selected: list[tuple[Object, list[ComponentRules], set[_Key]]] = []
    known: set[_Key] = set()
    for pod in pods:
        components = components_of(definition, pod)
        keys = {(component.name, instance_of_pod(component, pod)) for component in components}
        selected.append((pod, components, keys))
        known |= keys
    # Pods whose ids are no instance's do not tell their instance.
    tells = {pod_set.component for pod_set in sets if (pod_set.component, pod_set.instance) in known}
    numbers_by_key: dict[_Key, list[int]] = grouped(
        ((pod_set.component, pod_set.instance if pod_set.component in tells else ""), number)
        for number, pod_set in enumerate(sets)
    )
    for pod, components, keys in selected:
        scores: dict[int, int] = {}
        for name, instance in keys:
            for number in numbers_by_key.get((name, instance if name in tells else ""), ()):
                scores[number] = likeness(sets[number].template, pod)
        best = max(scores.values(), default=0)
        # Without a selector a pod that resembles none of several templates belongs to none.
        may_be_stray = len(definition.leaves) > 1 and components and components[0].selector.component_type is None
        if not scores or (may_be_stray and not best):
            strays.append(pod)
        else:
            _join(joined, {number for number, score in scores.items() if score == best}, pod)
    ordered = sorted({id(group): group for group in joined}.values(), key=lambda group: min(group[0]))
    groups = tuple(
        MemberGroup(tuple(sets[index] for index in sorted(numbers)), tuple(pods)) for numbers, pods in ordered
    )
    return Members(groups, tuple(strays))


def _join(groups: list[_Joined], numbers: Iterable[int], pod: Object) -> None:
    """Add a pod to the groups of some pod sets, which become one: the largest takes in the others."""
    touched = {id(groups[number][0]): groups[number] for number in numbers}.values()
    largest = max(touched, key=lambda group: len(group[1]))
    for group in (group for group in touched if group is not largest):
        largest[0].update(group[0])
        largest[1].extend(group[1])
        for number in group[0]:
            groups[number] = largest
    largest[1].append(pod)


def components_of(definition: Definition, pod: Object) -> list[ComponentRules]:
    """Return the components that select a pod, or else those that select no type."""
    selecting = [leaf for leaf in definition.leaves if is_selected(leaf, pod)]
    return selecting or [leaf for leaf in definition.leaves if leaf.selector.component_type is None]


def is_selected(component: ComponentRules, pod: Object) -> bool:
    """Return whether the selector of a component's type selects a pod."""
    try:
        return matches_component_type(component, pod)
    except WorkloadError:
        return False


def instance_of_pod(component: ComponentRules, pod: Object) -> str | None:
    """Return the instance that a pod tells, "" for a component without any, None if the pod does not tell."""
    try:
        return "" if component.instance_ids is None else instance_key(component, pod) or ""
    except WorkloadError:
        return None


def likeness(template: Object, pod: Object) -> int:
    """Return how much a pod's containers resemble a template's: by names, then images, then resources."""
    containers = {str(container.get("name")): container for container in objects_in(get(pod, ("spec", "containers")))}
    score = 0
    for ours in objects_in(get(template, ("spec", "containers"))):
        theirs = containers.get(str(ours.get("name")))
        if theirs is not None:
            has_image, has_resources = (ours.get(name) == theirs.get(name) for name in ("image", "resources"))
            score += 4 + 2 * has_image + has_resources
    return score
