"""The Kubernetes LabelSelector of a component, as far as its `podSelector` can be said in labels.

A selector is about the pods of one workload. Like a `podSelector`, it does not say of which workload.
"""

from typing import Final, NamedTuple

from karta_interpreter.base.k8s import NewObject, Object
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodQuery
from karta_interpreter.languages.jq import plain_path, quoted

_LABELS: Final = ("metadata", "labels")


class Selection(NamedTuple):
    """Which pods are those of a component. ``selector`` is None if labels cannot say it, and ``reason`` says why."""

    selector: Object | None
    reason: str = ""


def label_selector(definition: Definition, component: ComponentRules, instance: str = "") -> Selection:
    """Return the selector of a component's pods, or of one of its instances.

    A pod is of the first component that matches. So the labels of the components before must exclude those of this one.
    """
    own = _of_component(component, instance)
    if own.selector is None:
        return own
    for leaf in definition.leaves:
        if leaf is component:
            break
        if not _excludes(_of_component(leaf).selector, own.selector):
            return Selection(None, f"pods of {component.name} may be those of {leaf.name} by their labels")
    return own


def _excludes(before: Object | None, selector: Object) -> bool:
    """Return whether no pod can match both selectors, because they ask for two values of one label."""
    labels = {} if before is None else before.get("matchLabels", {})
    own = selector.get("matchLabels", {})
    return any(own.get(name, value) != value for name, value in labels.items())


def _of_component(component: ComponentRules, instance: str = "") -> Selection:
    kind = component.selector.component_type
    if kind is None:
        return Selection(None, f"{component.name} has no componentTypeSelector")
    labels: dict[str, str] = dict(kind.labels)
    existing = list[str]()
    if kind.key is not None:
        name = _label(kind.key)
        if name is None:
            return Selection(None, f"keyPath {quoted(kind.key.text)} of {component.name} is not the path of a label")
        if kind.value is None:
            existing.append(name)
        elif labels.setdefault(name, kind.value) != kind.value:
            return Selection(None, f"{component.name} asks for two values of the label {name}")
    if instance:
        path = component.selector.instance_id
        name = None if path is None else _label(path)
        if name is None:
            said = "is missing" if path is None else f"{quoted(path.text)} is not the path of a label"
            return Selection(None, f"idPath of {component.name} {said}")
        if labels.setdefault(name, instance) != instance:
            return Selection(None, f"{component.name} asks for two values of the label {name}")
    if not labels and not existing:
        return Selection(None, f"the componentTypeSelector of {component.name} is empty")
    selector: NewObject = {"matchLabels": labels} if labels else {}
    expressions = [{"key": name, "operator": "Exists"} for name in existing if name not in labels]
    return Selection(selector | ({"matchExpressions": expressions} if expressions else {}))


def _label(path: PodQuery) -> str | None:
    """Return the label that a path reads, None for any other expression."""
    keys = plain_path(path.query.node)
    if keys is None or keys[:-1] != _LABELS:
        return None
    return str(keys[-1])
