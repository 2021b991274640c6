"""What an operation reads of the object that it is asked about."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from karta_interpreter.jq import Query
from karta_interpreter.jq.inprocess.reads import reach
from karta_interpreter.jq.syntax.traversal import owner_of
from karta_interpreter.k8s.extent import Extent
from karta_interpreter.karta.annotations import ExtraDependency, MadeClaims, MorePods, Unset
from karta_interpreter.karta.definition import Component, Definition, Fragments, PodSpec
from karta_interpreter.karta.status_rules import StatusRules
from karta_interpreter.operations.call import Operation
from karta_interpreter.operations.interpret_status import TEMPLATE_GENERATION
from karta_interpreter.operations.retain import RETAIN_REPLICAS

Mark: TypeAlias = Callable[[Definition, Extent], None]

_REQUIREMENTS: Final = ("overhead", "resources", "affinity", "nodeSelector", "tolerations", "priorityClassName")
_CONTAINERS: Final = ("containers", "initContainers")
_NEEDED: Final = ("serviceAccountName", "imagePullSecrets", "volumes", "resourceClaims")
_ALL_CONTAINERS: Final = (*_CONTAINERS, "ephemeralContainers")


def extent_of(definition: Definition, operation: Operation) -> Extent | None:
    """Return what the definition's own answer reads of an object, None when that is, or may be, all of it.

    It also is None where the answer takes more than the object and expressions that run in this process. Of Retain's
    two objects the same is read. What an answer writes over is among what it reads.
    """
    if definition.uses_bounded or definition.references:
        return None
    if definition.scripts.of(operation) or not definition.answers(operation):
        return None
    extent = Extent()
    for field in ("apiVersion", "kind"):
        extent.at(field).take()
    _MARKS[operation](definition, extent)
    return None if extent.is_whole else extent


def _pods(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "namespace").take()
    for spec in _pod_sets(definition, extent):
        _requirements(spec)
    _take(extent, (added.query for added in definition.annotations.added))


def _dependencies(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "namespace").take()
    for spec in _pod_sets(definition, extent):
        _references(spec)
    _take(extent, (added.query for added in definition.annotations.added))
    for extra in definition.annotations.dependencies:
        match extra:
            case ExtraDependency():
                _take(extent, (extra.name, extra.namespace))
            case MadeClaims(volumes):
                _take(extent, [volumes])
            case MorePods(templates):
                for template in reach(templates.node, (extent,)):
                    _references(template.at("spec"))


def _revision(definition: Definition, extent: Extent) -> None:
    _pod_sets(definition, extent)
    _take(extent, (component.max_replicas for component in definition.components))


def _retention(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "labels", RETAIN_REPLICAS).take()
    _revision(definition, extent)
    for component in definition.components:
        _take(extent, [component.instance_ids])
        _take(extent, (action.path for action in (*component.suspend, *component.resume)))
    if definition.suspend:
        for name in definition.annotations.queue_labels:
            extent.at("metadata", "labels", name).take()
    _take(extent, (fields.query for fields in definition.queued))
    for rule in definition.annotations.retain:
        _take(extent, [rule.place])
        if isinstance(rule, Unset) and rule.value and (owner := owner_of(rule.place.node)):
            for output in reach(rule.value.node, reach(owner, (extent,))):
                output.take()
    _names(extent)


def _names(extent: Extent) -> None:
    """Mark the names of all elements, by which they are matched."""
    below = list(extent.fields.values())
    if extent.elements is not None:
        extent.elements.at("name").take()
        below.append(extent.elements)
    for each in below:
        _names(each)


def _aggregation(definition: Definition, extent: Extent) -> None:
    extent.at("status").take()
    extent.at("metadata", "generation").take()
    if definition.status is not None:
        mark_status_rules(definition.status, extent)
    _take(extent, (action.path for action in definition.suspend))


def _pod_sets(definition: Definition, extent: Extent) -> list[Extent]:
    """Mark which pod sets there are and their counts; return their pods' specs, of which nothing else is marked."""
    specs: list[Extent] = []
    for component in definition.components:
        if component.pods is not None:
            _take(extent, (component.instance_ids, component.replicas, component.min_replicas))
            specs += _pod_specs(component, extent)
    return specs


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
    """Mark what `karta_interpreter.k8s.requirements` reads of a pod's spec."""
    for field in _REQUIREMENTS:
        spec.at(field).take()
    for field in _CONTAINERS:
        spec.at(field).each().at("resources").take()
    spec.at("initContainers").each().at("restartPolicy").take()


def _references(spec: Extent) -> None:
    """Mark what `karta_interpreter.k8s.dependencies` reads of a pod's spec."""
    for field in _NEEDED:
        spec.at(field).take()
    for field in _ALL_CONTAINERS:
        container = spec.at(field).each()
        container.at("envFrom").take()
        container.at("env").each().at("valueFrom").take()


def _health(definition: Definition, extent: Extent) -> None:
    extent.at("metadata", "generation").take()
    extent.at("status", "observedGeneration").take()
    if definition.annotations.health is not None:
        _take(extent, [definition.annotations.health])
    elif definition.status is not None:
        mark_status_rules(definition.status, extent)


def mark_status_rules(rules: StatusRules, extent: Extent) -> None:
    """Mark what the status of an object is derived from."""
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
    Operation.INTERPRET_DEPENDENCY: _dependencies,
    Operation.REVISE_REPLICA: _revision,
    Operation.RETAIN: _retention,
    Operation.AGGREGATE_STATUS: _aggregation,
}
