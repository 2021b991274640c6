"""The pod sets of a workload: names, counts and templates."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError, QueryWriteError
from karta_interpreter.base.k8s import Object, Projection
from karta_interpreter.definitions.karta import (
    ComponentRules,
    Definition,
    Fragments,
    PodSpec,
    UnknownPart,
    count_places,
)
from karta_interpreter.engine.evaluation.evaluation import instance_ids, positions
from karta_interpreter.engine.evaluation.scale import Scale, replica_counts, scales
from karta_interpreter.engine.evaluation.templates import instance_templates, with_added
from karta_interpreter.languages.jq import Built, Location, mark_all, noting_absent, project, take_outputs


class PodSet(NamedTuple):
    """The pods of one instance of one component, all from the same template."""

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
        """The path of the replicas. None if they have none, for example a literal."""
        return self.places.at("replicas", self.position)

    @property
    def minimum(self) -> Location | None:
        """The path of the minimum, with None as for the replicas."""
        return self.places.at("min_replicas", self.position)

    @property
    def maximum(self) -> Location | None:
        """The path of the maximum."""
        return self.places.at("max_replicas", self.position)

    @property
    def count(self) -> Location | None:  # type: ignore[override]  # the tuple's own ``count`` is not used
        """The path of the number of pods. Only kinds without a number of replicas run the minimum."""
        return self.replicas if self.scale.replicas is not None else self.replicas or self.minimum


# A pod set without its name.
_Unnamed = tuple[str, str, int, Object]

# A component, its instance ids, and the template of each instance (None if its pods do not exist).
_Part = tuple[ComponentRules, tuple[str, ...], list[Object | None]]


def pod_sets(definition: Definition, obj: Object) -> tuple[PodSet, ...]:
    """Return the pod sets that exist in the object, in the order of the definition and then of the object.

    Raises InterpretationError if an expression fails, its results do not fit the instances or the types, or all pods
    are in objects that are absent. Karmada would give the whole of a workload without pods to every cluster.
    """
    sets: list[_Unnamed] = []
    for component, ids, own_templates in _parts(definition.counted, obj):
        counts = replica_counts(component, obj, ids)
        whole = with_added(definition, component, obj, own_templates)
        for instance, count, template in zip(ids, counts, whole, strict=True):
            if template is not None:
                sets.append((component.name, instance, count, template))
    if definition.absent and not sets:
        raise InterpretationError(f"definition {definition.name}: no pods are known: {'; '.join(definition.absent)}")
    return _named(sets)


def absences(definition: Definition, obj: Object) -> list[str]:
    """Return why objects are absent that pods of this object are made from. Their requests are not answered."""
    if not definition.absent:
        return []
    with noting_absent() as reasons, suppress(InterpretationError):
        for _ in pod_templates(definition, obj):
            pass
    return reasons


def unknown_requests(definition: Definition, obj: Object) -> list[UnknownPart]:
    """Return the parts of the annotation ``unread`` by which pods of this object request what no answer has."""
    unread = definition.annotations.unread
    return [part for part in unread if any(value not in (None, "") for value in part.place.evaluate(obj))]


def total_replicas(definition: Definition, obj: Object) -> int:
    """Return the number of pods of all pod sets, without the operator's additions. Raises errors as `pod_sets`."""
    return sum(
        count
        for component, ids, own_templates in _parts(definition.counted, obj)
        for count, template in zip(replica_counts(component, obj, ids), own_templates, strict=True)
        if template is not None
    )


def has_pod_sets(definition: Definition, obj: Object) -> bool:
    """Return whether a pod set exists in the object. Raises InterpretationError for a template of a wrong type."""
    return next(_parts(definition.counted, obj), None) is not None


def pod_templates(
    definition: Definition, obj: Object, components: Iterable[ComponentRules] | None = None
) -> Iterator[tuple[ComponentRules, int, Object]]:
    """Yield every pod template of some components, or of all, with its component and position.

    Ids and counts do not matter. A component whose instances are in an object that is absent has none.
    Raises InterpretationError.
    """
    for component in definition.components if components is None else components:
        if component.pods is None:
            continue
        try:
            own_templates = instance_templates(component, component.pods, obj, positions(component, obj))
        except InterpretationError as error:
            if isinstance(error, QueryAbsentError) or isinstance(error.__cause__, QueryAbsentError):
                continue
            raise
        for position, template in enumerate(with_added(definition, component, obj, own_templates)):
            if template is not None:
                yield component, position, template


def scale_locations(definition: Definition, obj: Object) -> tuple[ScaleLocation, ...]:
    """Return the places of each existing pod set's counts, in the order of `pod_sets`. Raises errors as there."""
    sets: list[_Unnamed] = []
    counts: list[tuple[Scale, _Places, int]] = []
    for component, ids, own_templates in _parts(definition.counted, obj):
        places = _Places(component, obj)
        for position, (scale, template) in enumerate(zip(scales(component, obj, ids), own_templates, strict=True)):
            if template is not None:
                sets.append((component.name, ids[position], scale.effective, template))
                counts.append((scale, places, position))
    return tuple([ScaleLocation(pods, *count) for pods, count in zip(_named(sets), counts, strict=True)])


def leaves_count_unset(definition: Definition, obj: Object) -> bool:
    """Return whether the path of a pod set's count has no value, without reading a count."""
    # Retain calls this for every object, and tracing places is slow: it takes 14 ms for a RayCluster of 100 KB.
    unsure = [component for component in definition.counted if not _has_counts(component, obj)]
    if not unsure:
        return False
    for component, _, own_templates in _parts(unsure, obj):
        places = _Places(component, obj)
        for position, template in enumerate(own_templates):
            if template is None:
                continue
            location = places.at("replicas", position) or places.at("min_replicas", position)
            if location is not None and location.raw(obj) is None:
                return True
    return False


def _has_counts(component: ComponentRules, obj: Object) -> bool:
    """Return whether all places of a component's counts have a value. False if a quick test cannot show it."""
    count, least = component.replicas, component.min_replicas
    return (count is None or count.is_complete(obj)) and (least is None or least.is_complete(obj))


def pod_set_reads(definition: Definition, projection: Projection) -> list[Projection]:
    """Mark what `pod_sets` reads, and return the projections of the pods' specs, for the caller's own marks."""
    specs: list[Projection] = []
    for component in definition.counted:
        pods = component.pods
        if pods is None:
            continue
        take_outputs(projection, component.instance_ids, component.replicas, component.min_replicas)
        if isinstance(pods, Fragments):
            specs.append(_fragment_reads(pods, projection))
            continue
        projections = project(pods.query.node, (projection,))
        if isinstance(pods, PodSpec):
            take_outputs(projection, pods.metadata)
        specs += projections if isinstance(pods, PodSpec) else [template.at("spec") for template in projections]
    return specs


def _fragment_reads(pods: Fragments, projection: Projection) -> Projection:
    """Mark the pieces of pods that are read as a whole, and return the projection of a spec with their containers."""
    containers: tuple[Projection, ...] = ()
    for field, query in pods.queries:
        outputs = project(query.node, (projection,))
        if field == "containersPath":
            containers += outputs
        elif field == "containerPath":
            containers += (Built({}, outputs),)
        else:
            mark_all(outputs)
    return Built({"containers": containers}, ())


def template_reads(definition: Definition, projection: Projection, *paths: str) -> None:
    """Mark what `pod_sets` reads, and these paths in the specs of its templates."""
    for spec in pod_set_reads(definition, projection):
        spec.take(*paths)


def _named(sets: list[_Unnamed]) -> tuple[PodSet, ...]:
    if len(sets) == 1:  # a single name is always unique
        component, instance, count, template = sets[0]
        return (PodSet(sole_name(component, instance), component, instance, count, template),)
    names = unique_names([(component, instance) for component, instance, _, _ in sets])
    return tuple([PodSet(name, *unnamed) for name, unnamed in zip(names, sets, strict=True)])


def _parts(components: Iterable[ComponentRules], obj: Object) -> Iterator[_Part]:
    for component in components:
        if component.pods is None:
            continue
        ids = instance_ids(component, obj)
        own_templates = instance_templates(component, component.pods, obj, ids)
        # Counts are read only if pods exist: `.worker.replicas // 1` would count a worker that does not exist.
        if any(own_templates):
            yield component, ids, own_templates


class _Places:
    """The paths of a component's counts, each in the order of its instances, evaluated on first use."""

    def __init__(self, component: ComponentRules, obj: Object) -> None:
        self.component = component
        self._object = obj
        self._found: dict[str, list[Location | None]] = {}

    def at(self, name: str, position: int) -> Location | None:
        """Return the place of an instance, or None if an expression does not give one for it."""
        if name not in self._found:
            query = getattr(self.component, name)
            try:
                # A computed count has no place. It can be read, and ReviseReplica reports that it cannot be written.
                self._found[name] = [] if query is None else count_places(query, self._object)
            except QueryWriteError:
                self._found[name] = []
        locations = self._found[name]
        return locations[position] if position < len(locations) else None


LONGEST = 32
"""`maxLength` of a component's name in Karmada's ResourceBinding (`pkg/apis/work/v1alpha2`)."""

# The number of hexadecimal digits of a digest. It marks the few names of a workload that are too long or equal.
_DIGEST: Final = 8
_PRIME: Final = 2**32 - 5


def unique_names(names_and_ids: list[tuple[str, str]]) -> list[str]:
    """Return a name for each pair of component name and instance id.

    The name is the id if there is one, else the component's name. If that is not unique, it is both. A name depends
    only on the pairs, so it stays the same from request to request.

    >>> unique_names([("head", ""), ("worker", "small"), ("worker", "large")])
    ['head', 'small', 'large']
    >>> unique_names([("leader", "a"), ("worker", "a")])
    ['leader-a', 'worker-a']
    >>> unique_names([("worker", "a-group-with-quite-a-descriptive-name")])
    ['a-group-with-quite-a-de-9e4cab15']
    """
    names = [sole_name(component, instance) for component, instance in names_and_ids]
    if len(set(names)) == len(names):
        return names
    qualified = [f"{component}-{instance}" if instance else component for component, instance in names_and_ids]
    counts = Counter(names)
    names = [name if counts[name] == 1 else _shortened(whole) for name, whole in zip(names, qualified, strict=True)]
    counts = Counter(names)
    return [
        # Not by the joined name, which is the same for ("a-b", "c") and ("a", "b-c").
        name if counts[name] == 1 else _digested(name, "\0".join(pair))
        for name, pair in zip(names, names_and_ids, strict=True)
    ]


def sole_name(component: str, instance: str) -> str:
    """Return the unique name of a pair: the id, else the component's name."""
    return _shortened(instance or component)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else _digested(name, name)


def _digested(name: str, identity: str) -> str:
    # A remainder, which exported scripts compute in one line. Names that differ in up to four adjacent bytes, such as a
    # number, never share it.
    return f"{name[: LONGEST - _DIGEST - 1]}-{int.from_bytes(identity.encode()) % _PRIME:0{_DIGEST}x}"
