"""Retain: what a member cluster changed and Karmada must not undo."""

from collections.abc import Iterable, Iterator

from interpreter.errors import InterpretationError, QueryError
from interpreter.k8s.edit import get, set_value
from interpreter.k8s.metadata import label
from interpreter.k8s.values import JSON, Object, Path
from interpreter.karta.definition import Definition
from interpreter.karta.pods import ScaleLocation, scale_locations
from interpreter.operations.correspondence import Correspondence
from interpreter.query import Location, Query

RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"
"""The label by which a template leaves its replica counts to the members (an HPA there, for instance)."""


def retain(definition: Definition, desired: Object, observed: Object) -> Object:
    """Return the desired object with what belongs to the member taken over from the observed one.

    That is: replica counts, when the template carries the label `RETAIN_REPLICAS`; replica counts and suspend
    switches that the template leaves unset; and the places of the definition's ``retain`` annotation. Retaining
    twice changes nothing more, and Karmada relies on it (``objectwatcher.go`` compares the result with the member).
    """
    try:
        places = Correspondence.of(definition, desired, observed)
        retained = desired
        for path, value in _values(_suspend_switches(definition), observed):
            place = places.place(path)
            if place is not None and get(retained, place) is None:
                retained = set_value(retained, place, value)
        retained = _retain_scale(definition, retained, observed)
        for path, value in _values(definition.annotations.retain, observed):
            place = places.place(path)
            if place is not None:
                retained = set_value(retained, place, value)
    except QueryError as error:
        raise InterpretationError(f"definition {definition.name}: {error}") from error
    return retained


def _values(queries: Iterable[Query], observed: Object) -> Iterator[tuple[Path, JSON]]:
    """Yield the places that the member has a value at, and the value."""
    for query in queries:
        for path in query.paths(observed):
            value = get(observed, path)
            if value is not None:
                yield path, value


def _suspend_switches(definition: Definition) -> Iterator[Query]:
    for component in definition.components:
        for action in (*component.suspend, *component.resume):
            yield action.path


def _retain_scale(definition: Definition, desired: Object, observed: Object) -> Object:
    leaves_replicas = label(desired, RETAIN_REPLICAS) == "true"
    members = {scale.pod_set.name: scale for scale in scale_locations(definition, observed)}
    retained = desired
    for scale in scale_locations(definition, desired):
        member = members.get(scale.pod_set.name)
        if member is None:
            continue
        for place, source in _pairs(scale, member):
            value = source.raw(observed)
            is_count = place is scale.replicas or scale.replicas is None
            if value is not None and (_leaves_unset(desired, place) or (leaves_replicas and is_count)):
                retained = set_value(retained, place.path, value)
    return retained


def _leaves_unset(desired: Object, place: Location) -> bool:
    """Tell whether a template has the place and no value in it: without the whole of an autoscaler, it wants none."""
    return place.raw(desired) is None and get(desired, place.path[:-1]) is not None


def _pairs(scale: ScaleLocation, member: ScaleLocation) -> Iterator[tuple[Location, Location]]:
    """Yield the places that say the same thing in both objects; instances may stand at different indices."""
    places = (scale.replicas, scale.minimum, scale.maximum)
    sources = (member.replicas, member.minimum, member.maximum)
    for place, source in zip(places, sources, strict=True):
        if place is not None and source is not None:
            yield place, source
