"""The pod set that each pod of a workload belongs to, by the selectors of the definition or else by its template."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import Object, objects_in
from karta_interpreter.definitions.karta.definition import Component, Definition
from karta_interpreter.engine.evaluation.attribution import instance_of, matches_component_type
from karta_interpreter.engine.evaluation.pods import PodSet


class Group(NamedTuple):
    """Pod sets whose pods cannot be distinguished, most often one, and their pods."""

    sets: tuple[PodSet, ...]
    pods: tuple[Object, ...]

    @property
    def name(self) -> str:
        """The names of the sets."""
        return " and ".join(each.name for each in self.sets)

    @property
    def replicas(self) -> int:
        """The number of pods by the definition."""
        return sum(each.replicas for each in self.sets)


class Members(NamedTuple):
    """All pods of a workload. ``strays`` belong to no pod set."""

    groups: tuple[Group, ...]
    strays: tuple[Object, ...]


def members(definition: Definition, obj: Object, sets: Sequence[PodSet], pods: Iterable[Object]) -> Members:
    """Return the pods by the pod set that they belong to."""
    strays: list[Object] = []
    found: list[tuple[set[int], list[Object]]] = [({position}, []) for position in range(len(sets))]
    for pod in pods:
        matches = _matches(definition, obj, sets, pod)
        if not matches:
            strays.append(pod)
            continue
        # Groups that one pod may belong to become one.
        touched = [each for each in found if each[0] & matches]
        merged = (set().union(*(each[0] for each in touched)), [pod for each in touched for pod in each[1]] + [pod])
        found = [each for each in found if not each[0] & matches] + [merged] if len(touched) > 1 else found
        if len(touched) == 1:
            touched[0][1].append(pod)
    ordered = sorted(found, key=lambda each: min(each[0]))
    groups = tuple(Group(tuple(sets[index] for index in sorted(numbers)), tuple(own)) for numbers, own in ordered)
    return Members(groups, tuple(strays))


def _matches(definition: Definition, obj: Object, sets: Sequence[PodSet], pod: Object) -> set[int]:
    leaves = definition.leaves
    chosen = [each for each in leaves if _is_selected(each, pod)]
    chosen = chosen[:1] or [each for each in leaves if each.selector.component_type is None]
    keys = {(component.name, instance) for component in chosen for instance in _instances(component, obj, sets, pod)}
    numbers = [number for number, each in enumerate(sets) if (each.component, each.instance) in keys]
    scores = {number: _likeness(sets[number].template, pod) for number in numbers}
    best = max(scores.values(), default=0)
    # Without a selector a pod that resembles none of several templates belongs to none.
    if not best and len(leaves) > 1 and chosen and chosen[0].selector.component_type is None:
        return set()
    return {number for number, score in scores.items() if score == best}


def _is_selected(component: Component, pod: Object) -> bool:
    try:
        return matches_component_type(component, pod)
    except WorkloadError:
        return False


def _instances(component: Component, obj: Object, sets: Sequence[PodSet], pod: Object) -> list[str]:
    if component.selector.instance_id is None:
        return [each.instance for each in sets if each.component == component.name]
    try:
        return [instance_of(component, obj, pod)]
    except WorkloadError:
        return []


def _likeness(template: Object, pod: Object) -> int:
    """Return how much a pod's containers resemble those of a template: 2 for a name, 1 more for the same image."""
    images = {each.get("name"): each.get("image") for each in objects_in(get(pod, ("spec", "containers")))}
    named = [each for each in objects_in(get(template, ("spec", "containers"))) if each.get("name") in images]
    return sum(2 + (images[each["name"]] == each.get("image")) for each in named)
