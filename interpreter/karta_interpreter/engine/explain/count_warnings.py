"""Warnings: counts that a definition does not find, or that have no pods."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from karta_interpreter.base.k8s import Object, field_path, type_name
from karta_interpreter.definitions.karta import ComponentRules, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import MOST_NAMED, Reading, about, readings

COUNT_WITHOUT_PODS: Final = "count-without-pods"
# How a definition gives the pods that an object counts and does not have.
_NO_POD: Final[Mapping[type, str]] = {
    PodTemplate: "podTemplateSpecPath: … // {spec: {}}",
    PodSpec: "podSpecPath: … // {}",
    Fragments: "containersPath: … // []",
}


def count_warnings(
    definition: Definition,
    component: ComponentRules,
    obj: Object,
    pods: Sequence[Object | None],
    template_readings: Sequence[Reading],
) -> Iterator[Fact]:
    """Yield counts without pods, and count expressions that find nothing."""
    field, query = "scaleDefinition.replicasPath", component.replicas
    if query is None:
        field, query = "scaleDefinition.minReplicasPath", component.min_replicas
    counts = readings(query, obj)
    if query is None or len(counts) != len(pods):
        return
    warn = partial(about, definition, component, field, query)
    yield from _without_pods(warn, component, obj, counts, pods, template_readings)
    places = [place for count in counts for place in count.places[:1]]
    # An expression may give null on purpose, by a value that the object has: an autoscaler counts.
    is_absent = all(count.value is None for count in counts) and all(place.value is None for place in places)
    if counts and any(pods) and is_absent:
        named = ", ".join(dict.fromkeys(field_path(place.path) for place in places[:MOST_NAMED]))
        note = f"{component.name}: no count at {named}, which means 1"
        yield warn("count-not-found", note, places=counts[0].places)


def _without_pods(
    warn: Callable[..., Fact],
    component: ComponentRules,
    obj: Object,
    counts: Sequence[Reading],
    pods: Sequence[Object | None],
    template_readings: Sequence[Reading],
) -> Iterator[Fact]:
    ids, locations = readings(component.instance_ids, obj), [reading.location for reading in template_readings]
    for index, (count, template) in enumerate(zip(counts, pods, strict=True)):
        is_given = count.location is not None and count.places[0].value is not None
        # A default is not a sign of pods: `.worker.replicas // 1` is 1 even without a worker.
        if template is not None or not is_given or count.value in (None, 0):
            continue
        name = str(ids[index].value) if ids else ""
        location = locations[index] if len(locations) == len(pods) else None
        place = f" at {field_path(location.path)}" if location else ""
        number = count.value if isinstance(count.value, int | float | str) else type_name(count.value)
        note = (
            f"{name or component.name}: count {number}, but no pods{place}; "
            f"if the operator makes them, the definition needs {_NO_POD[type(component.pods)]}"
        )
        yield warn(COUNT_WITHOUT_PODS, note, places=count.places, instance=name)
