"""The labels of pods that tell their component and their instance."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from karta_interpreter.base.k8s import JSON, Object, get

Label = tuple[str, str]
"""The key and the value of a label."""


class PlacedPod(NamedTuple):
    """A pod, and the component and instance of each pod set that it may belong to."""

    pod: Object
    sets: frozenset[tuple[int, str]]


def component_labels(pods: Sequence[PlacedPod], words: Sequence[frozenset[str]]) -> dict[int, Label]:
    """Return the label of each component: one key with another value for each. Nothing without such a key.

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
            return {component: (key, value) for value, (component,) in meanings.items()}
    return {}


def component_selector(label: Label) -> Object:
    """Return the selector of the component that a label of its pods tells."""
    return {"componentTypeSelector": {"keyPath": _path_of(label[0]), "value": label[1]}}


def instance_selector(pods: Sequence[PlacedPod], component: int) -> Object | None:
    """Return the selector by the label that has the id of the instance, None without one."""
    ids = [{instance for number, instance in sets if number == component} for _, sets in pods]
    keys = [
        key
        for key in keys_of([pod for pod, _ in pods])
        if all(label_of(pod, key) in own for (pod, _), own in zip(pods, ids, strict=True))
    ]
    return {"componentInstanceSelector": {"idPath": _path_of(min(keys, key=len))}} if keys else None


def keys_of(pods: Sequence[Object]) -> Iterable[str]:
    """Return the labels that all pods have."""
    labels: list[Mapping[str, JSON]] = [get(pod, ("metadata", "labels")) or {} for pod in pods]
    return sorted(set(labels[0]).intersection(*labels)) if labels else ()


def label_of(pod: Object, key: str) -> str:
    """Return the value of a label, "None" without the label."""
    return str(get(pod, ("metadata", "labels", key)))


def _path_of(key: str) -> str:
    return f".metadata.labels[{json.dumps(key)}]"
