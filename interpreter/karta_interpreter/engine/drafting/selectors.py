"""The labels of pods that tell their component and their instance."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karta_interpreter.base.k8s import JSON, Object, get


class Place(NamedTuple):
    """A pod, and the component and instance of each pod set that it may belong to."""

    pod: Object
    sets: frozenset[tuple[int, str]]


def component_selectors(pods: Sequence[Place], words: Sequence[frozenset[str]]) -> dict[int, Object] | None:
    """Return the selector of each component by one label with another value for each, None without such a label.

    ``words`` are the names of each component in lower case: a pod that may be of several is of the one that it names.
    """
    for key in sorted(keys_of([pod for pod, _ in pods]), key=len):
        meanings: dict[str, set[int]] = {}
        for pod, sets in pods:
            value, components = label_of(pod, key), {component for component, _ in sets}
            named = {component for component in components if value.lower() in words[component]}
            meanings[value] = meanings.get(value, components) & (named if len(named) == 1 else components)
        told = {component for own in meanings.values() for component in own if len(own) == 1}
        if len(told) == len(meanings) == len(words):
            return {
                component: {"componentTypeSelector": {"keyPath": path_of(key), "value": value}}
                for value, (component,) in meanings.items()
            }
    return None


def instance_selector(pods: Sequence[Place], component: int) -> Object | None:
    """Return the selector by the label that has the id of the instance, None without one."""
    ids = [{instance for number, instance in sets if number == component} for _, sets in pods]
    keys = [
        key
        for key in keys_of([pod for pod, _ in pods])
        if all(label_of(pod, key) in own for (pod, _), own in zip(pods, ids, strict=True))
    ]
    return {"componentInstanceSelector": {"idPath": path_of(min(keys, key=len))}} if keys else None


def has_label(pod: Object, selector: Object) -> bool:
    """Return whether a pod has the label of a component's selector."""
    wanted = selector["componentTypeSelector"]
    return any(path_of(key) == wanted["keyPath"] and label_of(pod, key) == wanted["value"] for key in keys_of([pod]))


def keys_of(pods: Sequence[Object]) -> Iterable[str]:
    """Return the labels that all pods have."""
    labels: list[Mapping[str, JSON]] = [get(pod, ("metadata", "labels")) or {} for pod in pods]
    return sorted(set(labels[0]).intersection(*labels)) if labels else ()


def label_of(pod: Object, key: str) -> str:
    """Return the value of a label."""
    value: Any = get(pod, ("metadata", "labels", key))
    return str(value)


def path_of(key: str) -> str:
    """Return the expression of a label of a pod."""
    return f".metadata.labels[{json.dumps(key)}]"
