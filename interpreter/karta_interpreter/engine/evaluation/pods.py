"""The pod sets of a workload: names, counts and templates."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from karta_interpreter.base.errors import QueryError, QueryWriteError
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Component, Definition, Fragments, PodSpec
from karta_interpreter.definitions.karta.expression_text import count_places
from karta_interpreter.engine.evaluation.evaluation import instance_ids, positions, query_failure
from karta_interpreter.engine.evaluation.scale import Scale, replica_counts, scales
from karta_interpreter.engine.evaluation.templates import templates, with_added
from karta_interpreter.languages.jq import Location, Query, take_outputs
from karta_interpreter.languages.jq.compiled.reads import project


class PodSet(NamedTuple):
    """The pods of one instance of one component, all made from the same template."""

    name: str
    """Unique in the workload, at most 32 characters."""
    component: str
    instance: str
    """"" for a component without instance ids."""
    replicas: int
    """The number of pods in the whole workload."""
    template: Object


class ScaleLocation(NamedTuple):
    """The counts of a pod set as its object gives them, at a ``position`` in the ``places`` of its component."""

    pod_set: PodSet
    scale: Scale
    places: "_Places"
    position: int

    @property
    def replicas(self) -> Location | None:
        """The path of the replicas; None where they have none, such as a literal."""
        return self.places.at("replicas", self.position)

    @property
    def minimum(self) -> Location | None:
        """The path of the minimum, like that of the replicas."""
        return self.places.at("min_replicas", self.position)

    @property
    def maximum(self) -> Location | None:
        """The path of the maximum."""
        return self.places.at("max_replicas", self.position)

    @property
    def count(self) -> Location | None:  # type: ignore[override]  # the tuple's own ``count`` is not used
        """The path of the number of pods; kinds with bounds alone run the minimum."""
        return self.replicas or self.minimum


_Unnamed = tuple[str, str, int, Object]
"""A pod set without its name."""

_Part = tuple[Component, tuple[str, ...], list[Object | None]]
"""A component, its instance ids and the template of each instance, None for one whose pods do not exist."""


def pod_sets(definition: Definition, obj: Object) -> tuple[PodSet, ...]:
    """The pod sets that exist in the object, in the order of the definition and then of the object.

    Raises InterpretationError when an expression fails, or its results do not fit the instances or the types.
    """
    sets: list[_Unnamed] = []
    for component, ids, found in _parts(definition.components, obj):
        counts = replica_counts(component, obj, ids)
        whole = with_added(definition, component, obj, found)
        for instance, count, template in zip(ids, counts, whole, strict=True):
            if template is not None:
                sets.append((component.name, instance, count, template))
    return _named(sets)


def total_replicas(definition: Definition, obj: Object) -> int:
    """The number of pods of all pod sets, without what the operator adds to them; errors as in `pod_sets`."""
    return sum(
        count
        for component, ids, found in _parts(definition.components, obj)
        for count, template in zip(replica_counts(component, obj, ids), found, strict=True)
        if template is not None
    )


def pod_templates(definition: Definition, obj: Object) -> Iterator[tuple[str, Object]]:
    """Every pod template and its component, whatever ids and counts there are; raises InterpretationError."""
    for component in definition.components:
        if component.pods is not None:
            found = templates(component, component.pods, obj, positions(component, obj))
            for template in with_added(definition, component, obj, found):
                if template is not None:
                    yield component.name, template


def scale_locations(definition: Definition, obj: Object) -> tuple[ScaleLocation, ...]:
    """The places of the counts of each existing pod set, in the order of `pod_sets`; errors as there."""
    sets: list[_Unnamed] = []
    counts: list[tuple[Scale, _Places, int]] = []
    for component, ids, found in _parts(definition.components, obj):
        places = _Places(component, obj)
        for position, (scale, template) in enumerate(zip(scales(component, obj, ids), found, strict=True)):
            if template is not None:
                sets.append((component.name, ids[position], scale.effective, template))
                counts.append((scale, places, position))
    return tuple([ScaleLocation(pods, *count) for pods, count in zip(_named(sets), counts, strict=True)])


def leaves_count_unset(definition: Definition, obj: Object) -> bool:
    """Whether the path of a pod set's count has no value; no count is read for that."""
    # Retain asks this about every object, and tracing places is slow: 14 ms of its time for a RayCluster of 100 KB.
    unsure = [
        component
        for component in definition.components
        if not all(query is None or query.is_complete(obj) for query in (component.replicas, component.min_replicas))
    ]
    for component, _, found in _parts(unsure, obj):
        places = _Places(component, obj)
        for position in (position for position, template in enumerate(found) if template is not None):
            place = places.at("replicas", position) or places.at("min_replicas", position)
            if place is not None and place.raw(obj) is None:
                return True
    return False


def pod_set_reads(definition: Definition, projection: Projection) -> list[Projection]:
    """Mark what `pod_sets` reads, and return the projections of the pods' specs, for marks of the caller's own."""
    specs: list[Projection] = []
    for component in definition.components:
        pods = component.pods
        if pods is None:
            continue
        take_outputs(projection, component.instance_ids, component.replicas, component.min_replicas)
        if isinstance(pods, Fragments):
            take_outputs(projection, *(query for _, query in pods.queries))
            continue
        found = project(pods.query.node, (projection,))
        if isinstance(pods, PodSpec):
            take_outputs(projection, pods.metadata)
        specs += found if isinstance(pods, PodSpec) else [template.at("spec") for template in found]
    return specs


def template_reads(definition: Definition, projection: Projection, *paths: str) -> None:
    """Mark what `pod_sets` reads, and these paths of the specs of the templates that it returns."""
    for spec in pod_set_reads(definition, projection):
        spec.take(*paths)


def _named(sets: list[_Unnamed]) -> tuple[PodSet, ...]:
    if len(sets) == 1:  # a lone name is unique, whatever it is
        component, instance, count, template = sets[0]
        return (PodSet(sole_name(component, instance), component, instance, count, template),)
    names = unique_names([(component, instance) for component, instance, _, _ in sets])
    return tuple([PodSet(name, *rest) for name, rest in zip(names, sets, strict=True)])


def _parts(components: Iterable[Component], obj: Object) -> Iterator[_Part]:
    for component in components:
        if component.pods is None:
            continue
        ids = instance_ids(component, obj)
        found = templates(component, component.pods, obj, ids)
        # Counts are read only where pods exist: `.worker.replicas // 1` counts a worker that is not there.
        if any(found):
            yield component, ids, found


_FIELDS: Final = {"replicas": "replicasPath", "min_replicas": "minReplicasPath", "max_replicas": "maxReplicasPath"}


class _Places:
    """The paths of a component's counts, each in the order of its instances, evaluated on first use."""

    def __init__(self, component: Component, obj: Object) -> None:
        self.component = component
        self._object = obj
        self._found: dict[str, list[Location | None]] = {}

    def at(self, name: str, position: int) -> Location | None:
        """The place of an instance; None where an expression does not give one for it."""
        if name not in self._found:
            self._found[name] = self._locations(_FIELDS[name], getattr(self.component, name))
        found = self._found[name]
        return found[position] if position < len(found) else None

    def _locations(self, field: str, query: Query | None) -> list[Location | None]:
        if query is None:
            return []
        try:
            # A computed count has no place: it can be read, and ReviseReplica says that it cannot be written.
            return count_places(query, self._object)
        except QueryWriteError:
            return []
        except QueryError as err:
            raise query_failure(self.component, field, query, err) from err


LONGEST = 32
"""`maxLength` of a component's name in Karmada's ResourceBinding (`pkg/apis/work/v1alpha2`)."""

_DIGEST: Final = 8
"""The hexadecimal digits of a digest, for the few names of a workload that are too long, or equal."""
_PRIME: Final = 2**32 - 5


def unique_names(parts: list[tuple[str, str]]) -> list[str]:
    """A name for each pair of component name and instance id.

    The id if there is one, else the component's name; both where that alone is not unique. A name depends on
    nothing but the pairs, so it stays the same from request to request.

    >>> unique_names([("head", ""), ("worker", "small"), ("worker", "large")])
    ['head', 'small', 'large']
    >>> unique_names([("leader", "a"), ("worker", "a")])
    ['leader-a', 'worker-a']
    >>> unique_names([("worker", "a-group-with-quite-a-descriptive-name")])
    ['a-group-with-quite-a-de-9e4cab15']
    """
    names = [sole_name(component, instance) for component, instance in parts]
    if len(set(names)) == len(names):
        return names
    qualified = [f"{component}-{instance}" if instance else component for component, instance in parts]
    counts = Counter(names)
    names = [name if counts[name] == 1 else _shortened(whole) for name, whole in zip(names, qualified, strict=True)]
    counts = Counter(names)
    return [
        # Not by the joined name: ("a-b", "c") and ("a", "b-c") have the same.
        name if counts[name] == 1 else _digested(name, "\0".join(pair))
        for name, pair in zip(names, parts, strict=True)
    ]


def sole_name(component: str, instance: str) -> str:
    """The name of a pair without another one that could have the same name: the id, else the component's."""
    return _shortened(instance or component)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else _digested(name, name)


def _digested(name: str, identity: str) -> str:
    # A remainder, which exported scripts compute in one line. Names that differ in up to four adjacent bytes, such as a
    # number, never have the same one.
    digest = int.from_bytes(identity.encode()) % _PRIME
    return f"{name[: LONGEST - _DIGEST - 1]}-{digest:0{_DIGEST}x}"
