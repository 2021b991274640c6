"""Warnings: counts that a definition does not find, that have no pods, or that differ from the number of the object."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s import Object, Path, field_path, get, type_name
from karta_interpreter.definitions.karta import (
    ComponentRules,
    Definition,
    Fragments,
    PodSpec,
    PodTemplate,
    catalogue_kinds,
)
from karta_interpreter.engine.evaluation import scale_locations
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import (
    MOST_NAMED,
    Reading,
    about,
    misspelt,
    path_expression,
    paths_read,
    place_at,
    pod_queries,
    readings,
    shown,
)
from karta_interpreter.languages.jq import Query

COUNT_MISSPELT: Final = "count-misspelt"
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
    strays: Sequence[Path],
    unread: Sequence[Path],
) -> Iterator[Fact]:
    """Yield counts without pods, unless containers are elsewhere, and count expressions that find nothing.

    ``strays`` and ``unread`` are the containers and the counts that nothing reads.
    """
    field, query = "scaleDefinition.replicasPath", component.replicas
    if query is None:
        field, query = "scaleDefinition.minReplicasPath", component.min_replicas
    warn = partial(about, definition, component, field, query)
    try:
        counts = readings(query, obj)
    except QueryError:
        yield from _unreadable_count(warn, component, query, obj)
        raise
    # Definitions of the catalogue leave such fields out by intent.
    may_lack_factor = (
        definition.gvk not in catalogue_kinds()
        and component.replicas is not None
        and all(count.location and all(place.value is not None for place in count.places) for count in counts)
    )
    if query is None or may_lack_factor:
        yield from _uncounted(definition, component, obj, unread)
    if query is None or len(counts) != len(pods):
        return
    if not strays:
        yield from _without_pods(warn, component, obj, counts, pods, template_readings)
    yield from (
        warn("least-above-most", f"{component.name}: {limit}", places=count.places)
        for count, template in zip(counts, pods, strict=True)
        if template is not None and count.location and (limit := _limit(count, count.location.factor))
    )
    yield from _not_found(warn, definition, component, obj, counts, unread if any(pods) else None)


def _not_found(
    warn: Callable[..., Fact],
    definition: Definition,
    component: ComponentRules,
    obj: Object,
    counts: Sequence[Reading],
    unread: Sequence[Path] | None,
) -> Iterator[Fact]:
    """Yield a count that is not at its places. Without pods, ``unread`` is None and only a typo is worth a warning."""
    # The first of each place and of each name.
    near = {key: path for path in reversed(unread or ()) for key in (path[:-1], path[-1])}
    read = [(count, place) for count in counts for place in count.places]
    hint_of = {
        place.path: hint
        for _, place in read
        if place.value is None and (hint := misspelt(place.path, obj, definition) or _other_count(near, place, obj))
    }
    # All counts are absent, or only those that a typo of the object hides.
    located = [(count, count.places[0]) for count in counts if count.location] or read
    hinted = [(count, place) for count, place in read if place.path in hint_of]
    absent = [*located, *hinted] if all(place.value is None for _, place in located) else hinted
    if absent:
        places = [missing for _, missing in absent]
        hints = [hint_of[missing.path] for missing in places if missing.path in hint_of]
        if hints or (unread is not None and all(count.value is None for count in counts)):
            count = absent[0][0]
            places_text = ", ".join(dict.fromkeys(field_path(missing.path) for missing in places[:MOST_NAMED]))
            consequence = "which means 1" if count.value is None else f"so a default makes it {count.value}"
            note = f"{component.name}: no count at {places_text}, {consequence}{f'; {hints[0]}' if hints else ''}"
            yield warn(COUNT_MISSPELT if hints else "count-not-found", note, places=count.places)


def _unreadable_count(
    warn: Callable[..., Fact], component: ComponentRules, query: Query | None, obj: Object
) -> Iterator[Fact]:
    """Yield the texts and zeros that an expression reads which gives no count."""
    # Others are texts by intent.
    paths = (path for path in (paths_read(query, obj) if query else ()) if path)
    counts = (path for path in paths if path[-1] not in ("apiVersion", "kind", "name", "type", "mode"))
    yield from (
        warn(
            "count-not-found",
            f"{component.name}: no count can be read, but {field_path(path)} is "
            f"{shown(json.dumps(get(obj, path)))}: write a number from 1",
            places=(place_at(path, obj),),
        )
        for path in islice((path for path in counts if get(obj, path) == 0 or type(get(obj, path)) is str), MOST_NAMED)
    )


def _without_pods(
    warn: Callable[..., Fact],
    component: ComponentRules,
    obj: Object,
    counts: Sequence[Reading],
    pods: Sequence[Object | None],
    template_readings: Sequence[Reading],
) -> Iterator[Fact]:
    ids, empty = readings(component.instance_ids, obj), [reading.location for reading in template_readings]
    for index, (count, template) in enumerate(zip(counts, pods, strict=True)):
        is_given = count.location is not None and count.places[0].value is not None
        # A default is not a sign of pods: `.worker.replicas // 1` is 1 even without a worker.
        if template is None and is_given and count.value not in (None, 0):
            name = str(ids[index].value) if ids else ""
            location = empty[index] if len(empty) == len(pods) else None
            place = f" at {field_path(location.path)}" if location else ""
            number = count.value if isinstance(count.value, int | float | str) else type_name(count.value)
            note = (
                f"{name or component.name}: count {number}, but no pods{place}; "
                f"if the operator makes them, the definition needs {_NO_POD[type(component.pods)]}"
            )
            yield warn("count-without-pods", note, places=count.places, instance=name)


def _limit(count: Reading, factor: int) -> str:
    # Why a count is not the number at its place. A role may well be scaled to 0.
    number = count.places[0].value
    zeros = [place for place in count.places if place.value == 0 and not str(place.path[-1]).endswith("eplicas")]
    reason = f"{number} at {count.source}" if factor else f"{field_path(zeros[0].path)} is 0" if zeros else ""
    is_limited = reason and type(number) is int and number and (not factor or number * factor != count.value)
    return f"{reason}, so its count is {count.value}" if is_limited else ""


def _uncounted(
    definition: Definition, component: ComponentRules, obj: Object, unread: Sequence[Path]
) -> Iterator[Fact]:
    field, query = next(iter(pod_queries(component).items()))
    pods_read = (path for path in paths_read(query, obj) if place_at(path, obj).exists)
    is_counted = component.replicas is not None
    around = {path[:end] for path in pods_read for end in range(len(path) - 1 if is_counted else 0, len(path) + 1)}
    note = (
        "{0}: nothing reads {1}, which is {2}: if each replica has so many pods, multiply replicasPath by {3}"
        if is_counted
        else "{0}: without scaleDefinition its count is 1, and nothing reads {1}, which is {2}: "
        "write scaleDefinition: {{replicasPath: {3}}}"
    )
    yield from (
        about(
            *(definition, component, field, query, "count-not-found"),
            note.format(component.name, field_path(path), get(obj, path), path_expression(path)),
            places=(place_at(path, obj),),
        )
        for path in unread
        if get(obj, path) != 1 and path[:-1] in around
    )


def _other_count(near: Mapping[Path | str | int, Path], missing: Place, obj: Object) -> str:
    """Return a hint about a count next to a place without one, or of the same name, that no count is read from."""
    for path in filter(None, map(near.get, (missing.path[:-1], missing.path[-1]))):
        above, names = ([step for step in each[:-1] if isinstance(step, str)] for each in (path, missing.path))
        # `misspelt` finds a count further up.
        if missing.path[:-1] == path[:-1] or names[: len(above)] != above:
            return f"is it {field_path(path)}, which is {get(obj, path)}?"
    return ""


def bound_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the pod sets whose least number of pods is greater than the most, or than their count."""
    yield from (
        Fact(
            "least-above-most",
            f"{pods.name}: the least number of pods, {scale.minimum}, is greater than {what}, {number}",
            component=pods.component,
        )
        for pods, scale, *_ in scale_locations(definition, obj)
        for what, number in (("the most", scale.maximum), ("its count", scale.replicas or scale.minimum))
        if scale.minimum is not None and number is not None and scale.minimum > number
    )
