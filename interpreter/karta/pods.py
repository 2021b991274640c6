"""The pod sets of a workload: what runs, how often, from which template."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from interpreter.errors import QueryError, QueryWriteError
from interpreter.k8s.values import Object
from interpreter.karta.definition import Component, Definition
from interpreter.karta.evaluation import query_failure
from interpreter.karta.instances import instance_ids
from interpreter.karta.naming import unique_names
from interpreter.karta.scale import Scale, replica_counts, scales
from interpreter.karta.templates import templates
from interpreter.query import Location, Query


class PodSet(NamedTuple):
    """The pods of one instance of one component, all made from the same template.

    ``name`` is unique in the workload and at most 32 characters long; ``instance`` is "" for a component
    without instance ids; ``replicas`` counts the pods of the whole workload.
    """

    name: str
    component: str
    instance: str
    replicas: int
    template: Object


@dataclass(frozen=True, slots=True)
class ScaleLocation:
    """The counts of a pod set as its object gives them, and where they are written.

    A place is None for a count that has none of its own, such as a literal.
    """

    pod_set: PodSet
    scale: Scale
    replicas: Location | None
    minimum: Location | None
    maximum: Location | None


_Part = tuple[Component, tuple[str, ...], list[Object | None]]
"""A component, its instance ids and the template of each instance, None for one whose pods do not exist."""


def pod_sets(definition: Definition, obj: Object) -> tuple[PodSet, ...]:
    """The pod sets that exist in the object, in the order of the definition and then of the object.

    Raises InterpretationError when an expression fails, or its results do not fit the instances or the types.
    """
    found = [
        (component.name, instance, count, template)
        for component, ids, templates in _parts(definition, obj)
        for instance, count, template in zip(ids, replica_counts(component, obj, ids), templates, strict=True)
        if template is not None
    ]
    names = unique_names([(component, instance) for component, instance, _, _ in found])
    return tuple([PodSet(name, *rest) for name, rest in zip(names, found, strict=True)])


def scale_locations(definition: Definition, obj: Object) -> tuple[ScaleLocation, ...]:
    """The places of the counts of each existing pod set, in the order of `pod_sets`; errors as there."""
    found = iter(pod_sets(definition, obj))
    return tuple(
        ScaleLocation(next(found), scale, *places)
        for component, ids, templates in _parts(definition, obj)
        for scale, places, template in zip(
            scales(component, obj, ids), _Places.of(component, obj).of_each(len(ids)), templates, strict=True
        )
        if template is not None
    )


def _parts(definition: Definition, obj: Object) -> Iterator[_Part]:
    for component in definition.components:
        if component.pods is None:
            continue
        ids = instance_ids(component, obj)
        found = templates(component, component.pods, obj, ids)
        # Counts are read only where pods exist: `.worker.replicas // 1` counts a worker that is not there.
        if any(found):
            yield component, ids, found


class _Places(NamedTuple):
    """The places of a component's counts, each in the order of its instances."""

    replicas: list[Location | None]
    minimum: list[Location | None]
    maximum: list[Location | None]

    @classmethod
    def of(cls, component: Component, obj: Object) -> Self:
        return cls(
            _locations(component, "replicasPath", component.replicas, obj),
            _locations(component, "minReplicasPath", component.min_replicas, obj),
            _locations(component, "maxReplicasPath", component.max_replicas, obj),
        )

    def of_each(self, instances: int) -> Iterator[tuple[Location | None, ...]]:
        """The places of each instance; None where an expression does not give one for it."""
        for position in range(instances):
            yield tuple(locations[position] if position < len(locations) else None for locations in self)


def _locations(component: Component, field: str, query: Query | None, obj: Object) -> list[Location | None]:
    if query is None:
        return []
    try:
        return query.locate_each(obj)
    except QueryWriteError:
        return []
    except QueryError as err:
        raise query_failure(component, field, query, err) from err
