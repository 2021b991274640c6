"""What an operation reads of the object that it is asked about."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from interpreter.k8s.extent import Extent
from interpreter.karta.definition import Component, Definition, Fragments, PodSpec
from interpreter.karta.status_rules import StatusRules
from interpreter.operations.call import Operation
from interpreter.operations.reflection import TEMPLATE_GENERATION
from interpreter.query import Query
from interpreter.query.plain.reach import reach

Mark: TypeAlias = Callable[[Definition, Extent], None]

_REQUIREMENTS: Final = ("overhead", "affinity", "nodeSelector", "tolerations", "priorityClassName")
_CONTAINERS: Final = ("containers", "initContainers")


def extent_of(definition: Definition, operation: Operation) -> Extent | None:
    """Return what answering an operation reads of an object, None when that is, or may be, all of it."""
    mark = _MARKS.get(operation)
    if mark is None or definition.uses_bounded or definition.references or definition.scripts.of(operation):
        return None
    extent = Extent()
    for field in ("apiVersion", "kind"):
        extent.at(field).take()
    mark(definition, extent)
    return None if extent.is_whole else extent


def _pods(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "namespace").take()
    for component in definition.components:
        if component.pods is not None:
            _take(extent, (component.instance_ids, component.replicas, component.min_replicas))
            for spec in _pod_specs(component, extent):
                _requirements(spec)


def _pod_specs(component: Component, extent: Extent) -> Iterable[Extent]:
    pods = component.pods
    if pods is None:
        return []
    if isinstance(pods, Fragments):
        _take(extent, (query for _, query in pods.queries))
        return []
    found = reach(pods.query.node, (extent,))
    if isinstance(pods, PodSpec):
        _take(extent, [pods.metadata])
        return found
    return [template.at("spec") for template in found]


def _requirements(spec: Extent) -> None:
    """Mark what `interpreter.k8s.requirements` reads of a pod's spec."""
    for field in _REQUIREMENTS:
        spec.at(field).take()
    for field in _CONTAINERS:
        spec.at(field).each().at("resources").take()


def _health(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "generation").take()
    extent.at("status", "observedGeneration").take()
    if definition.annotations.health is not None:
        _take(extent, [definition.annotations.health])
    elif definition.status is not None:
        _status_rules(definition.status, extent)


def _status_rules(rules: StatusRules, extent: Extent) -> None:
    _take(extent, [rules.phase])
    _take(extent, (matcher.expression for _, matchers in rules.mappings for matcher in matchers))
    if rules.conditions is not None:
        fields = rules.conditions
        for conditions in reach(fields.query.node, (extent,)):
            for field in (fields.type_field, fields.status_field, fields.reason_field, fields.message_field):
                conditions.each().at(field).take()


def _status(_: Definition, extent: Extent) -> None:
    extent.at("status").take()
    extent.at("metadata", "generation").take()
    extent.at("metadata", "annotations", TEMPLATE_GENERATION).take()


def _take(extent: Extent, queries: Iterable[Query | None]) -> None:
    for query in queries:
        if query is not None:
            for output in reach(query.node, (extent,)):
                output.take()


_MARKS: Final[Mapping[Operation, Mark]] = {
    Operation.INTERPRET_REPLICA: _pods,
    Operation.INTERPRET_COMPONENT: _pods,
    Operation.INTERPRET_HEALTH: _health,
    Operation.INTERPRET_STATUS: _status,
}
