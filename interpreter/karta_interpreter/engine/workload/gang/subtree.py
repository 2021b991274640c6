"""Counts the pods of a component, and of everything below it, that have to start together.

Karta documents a scale as counted across the whole workload. So `minimum_members` sums the pods of the components below
a component and multiplies nothing. Karta's own `CalculateSubtreeScale` (`pkg/instructions/gang_scheduling.go`)
multiplies the scale of a component by the scale of its children. `subtree_scale` does the same, which is right only if
a definition counts children per parent.
"""

from karta_interpreter.base.errors import ComponentNotFoundError, WorkloadError
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import Component, Definition
from karta_interpreter.engine.evaluation import Scale, instance_ids, scale_locations, scales
from karta_interpreter.engine.workload.extraction import has_scale


def minimum_members(definition: Definition, obj: Object, component: str, instance: str | None = None) -> int:
    """Return how many pods of a component and below it have to start together, across the whole workload.

    For each instance its minimum counts. If that is unset or 0, its replicas count, and without replicas one pod. Pods
    that the object does not describe do not count. With ``instance``, only that instance of the component itself
    counts. Raises ComponentNotFoundError, and InterpretationError as
    `karta_interpreter.engine.evaluation.pods.pod_sets`.
    """
    chosen = _chosen(definition, obj, component, instance)
    return sum(
        minimum(location.scale)
        for location in scale_locations(definition, obj)
        if chosen in definition.lineage(location.pod_set.component)
        and (location.pod_set.component != component or instance in (None, location.pod_set.instance))
    )


def subtree_scale(definition: Definition, obj: Object, component: str, instance: str | None = None) -> int:
    """Return the number of Karta's own library (`CalculateSubtreeScale`). `minimum_members` is the right one.

    The scale of a component is multiplied by the sum of its children's. A component without a scale takes over the sum,
    and children without a scale leave their owner's scale unchanged. Without any scale definition, the instances with
    pods are counted.
    """
    chosen = _chosen(definition, obj, component, instance)
    count = _multiplied if any(has_scale(candidate) for candidate in definition.components) else _counted
    return count(definition, obj, chosen, instance)


def minimum(scale: Scale) -> int:
    """Return how many units of an instance have to start together. A minimum of 0 does not count as one."""
    return scale.minimum or scale.effective


def _chosen(definition: Definition, obj: Object, name: str, instance: str | None) -> Component:
    component = definition.component(name)
    if component is None:
        raise ComponentNotFoundError(f'definition {definition.name} has no component "{name}"')
    if instance == "":
        raise WorkloadError(f"component {name}: an instance id is not empty; leave it out for all instances")
    if instance is not None and instance not in instance_ids(component, obj):
        raise ComponentNotFoundError(f'component {name} has no instance "{instance}"')
    return component


def _children(definition: Definition, component: Component) -> list[Component]:
    return [child for child in definition.components if child.owner == component.name]


def _multiplied(definition: Definition, obj: Object, component: Component, instance: str | None) -> int:
    ids = instance_ids(component, obj) if has_scale(component) else ()
    own = sum(
        scale.minimum or scale.replicas or 0  # upstream's `getEffectiveMinReplicas`: 0 if an owner has the scale
        for name, scale in zip(ids, scales(component, obj, ids), strict=True)
        if instance in (None, name)
    )
    below = sum(_multiplied(definition, obj, child, None) for child in _children(definition, component))
    # A factor of 0 means "not counted here" upstream, and is skipped.
    return own * below or own or below


def _counted(definition: Definition, obj: Object, component: Component, instance: str | None) -> int:
    if component.pods is None:
        return sum(_counted(definition, obj, child, None) for child in _children(definition, component))
    return 1 if instance is not None else len(instance_ids(component, obj))
