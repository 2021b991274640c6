"""The number that Karta's library has for pods that start together (`pkg/instructions/gang_scheduling.go`).

`CalculateSubtreeScale` multiplies the scale of a component by the sum of its children's. A component without a scale
takes over the sum, and children without a scale leave their owner's scale unchanged. Without any scale definition, the
instances with pods are counted. The library answers `minimum_members` instead, which multiplies nothing.
"""

from karta_interpreter import Workload
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.engine.evaluation import instance_ids, scales
from karta_interpreter.engine.workload.extraction import has_scale


def subtree_scale(workload: Workload, component: str, instance: str | None = None) -> int:
    """Return the number of Karta's library. Raises as `Workload.minimum_members` does."""
    workload.minimum_members(component, instance)
    definition = workload.karta.definition
    count = _multiplied if any(map(has_scale, definition.components)) else _counted
    return count(definition, workload.object, workload.component(component).definition, instance)


def _children(definition: Definition, component: ComponentRules) -> list[ComponentRules]:
    return [child for child in definition.components if child.owner == component.name]


def _multiplied(definition: Definition, obj: Object, component: ComponentRules, instance: str | None) -> int:
    ids = instance_ids(component, obj) if has_scale(component) else ()
    own = sum(
        scale.minimum or scale.replicas or 0  # `getEffectiveMinReplicas`: 0 if an owner has the scale
        for name, scale in zip(ids, scales(component, obj, ids), strict=True)
        if instance in (None, name)
    )
    below = sum(_multiplied(definition, obj, child, None) for child in _children(definition, component))
    # A factor of 0 means "not counted here", and is skipped.
    return own * below or own or below


def _counted(definition: Definition, obj: Object, component: ComponentRules, instance: str | None) -> int:
    if component.pods is None:
        return sum(_counted(definition, obj, child, None) for child in _children(definition, component))
    return 1 if instance is not None else len(instance_ids(component, obj))
