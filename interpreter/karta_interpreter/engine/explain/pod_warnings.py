"""Warnings: pods that a definition does not find, pods without containers, and parts that change requests unread."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import Object, field_path, get
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation import (
    absences,
    instance_templates,
    positions,
    unknown_devices,
    unknown_requests,
)
from karta_interpreter.engine.explain.count_warnings import COUNT_WITHOUT_PODS, count_warnings
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.misfits import required_field
from karta_interpreter.engine.explain.reading import (
    MOST_NAMED,
    Reading,
    about,
    paths_read,
    place_at,
    pod_queries,
    readings,
    shown,
)
from karta_interpreter.engine.operations import Operation, resources_left_out
from karta_interpreter.languages.jq import Query

_NOT_FOUND: Final = "pods-not-found"
_MOST_COMPONENTS: Final = 4
_PodField: TypeAlias = tuple[ComponentRules, str, Query]


def pod_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the pods that a definition does not find or finds without containers, and the warnings about counts."""
    missing, is_counted = list[_PodField](), False
    for component in definition.counted:
        if component.pods is None:
            continue
        pods = instance_templates(component, component.pods, obj, positions(component, obj))
        field, query = next(iter(pod_queries(component).items()))
        template_readings = readings(query, obj)
        if not any(pods):
            missing.append((component, field, query))
        yield from _incomplete(definition, component, field, query, template_readings)
        for fact in count_warnings(definition, component, obj, pods, template_readings):
            is_counted = is_counted or fact.rule == COUNT_WITHOUT_PODS
            yield fact
    warnings = list[Fact]()
    for part in missing:
        required = _required(definition, obj, part[2])
        if required or _has_instances(part[0], obj):
            warnings.append(_not_found(definition, obj, part, required))
    # A part without pods is usual. An object without any pods is worth a warning, unless a script counts them.
    is_told = is_counted or warnings or Operation.INTERPRET_REPLICA in definition.annotations.lua.operations
    if missing and not is_told and len(missing) == len(definition.leaves):
        warnings.append(_without_any(definition, obj, missing))
    yield from warnings


def _has_instances(component: ComponentRules, obj: Object) -> bool:
    """Return whether a component has instances that count pods. Those that count 0 need none."""
    counts = {reading.value for reading in readings(component.replicas, obj)}
    return bool(readings(component.instance_ids, obj)) and counts != {0}


def _required(definition: Definition, obj: Object, query: Query) -> str:
    """Return the words about a required field without which an expression finds no pods, "" without one."""
    for path in islice(paths_read(query, obj), MOST_NAMED):
        words = required_field(definition, path, obj)
        if words:
            return words
    return ""


def _not_found(definition: Definition, obj: Object, part: _PodField, required: str) -> Fact:
    component, field, query = part
    note = f"{component.name}: no pods at {_looked(query, obj)}{'; ' if required else ''}{required}"
    return about(definition, component, field, query, _NOT_FOUND, note)


def _without_any(definition: Definition, obj: Object, missing: Sequence[_PodField]) -> Fact:
    looked = "; ".join(f"{component.name}: {_looked(query, obj)}" for component, _, query in missing[:_MOST_COMPONENTS])
    note = f"no component has pods in this object ({looked})"
    lookups = _lookups(definition, missing)
    is_any_named = any(value for query in lookups.values() for value in query.evaluate(obj))
    if lookups and not is_any_named:
        places = dict.fromkeys(_looked(query, obj) for query in lookups.values())
        note = f"{note}; it names no {listed(lookups)} at {listed(places)}"
    return about(definition, *missing[0], _NOT_FOUND, note)


def _lookups(definition: Definition, missing: Sequence[_PodField]) -> dict[str, Query]:
    """Return the kinds of the references that missing pods come from, each with the expression of its name."""
    lookups: dict[str, Query] = {}
    # A definition with the values of its references has only the texts of their names.
    for reference in get(definition.manifest, ("spec", "structureDefinition", "references")) or ():
        text = get(reference, ("lookup", "nameExpression"))
        variable = f"${get(reference, ('name',))}"
        if text and "$" not in text and any(variable in query.text for _, _, query in missing):
            lookups[str(get(reference, ("gvk", "kind")))] = Query.compile(text)
    return lookups


def _incomplete(
    definition: Definition, component: ComponentRules, field: str, query: Query, template_readings: Sequence[Reading]
) -> Iterator[Fact]:
    """Yield the pods without a spec or without containers."""
    is_spec = isinstance(component.pods, PodSpec)
    if not (is_spec or isinstance(component.pods, PodTemplate)):
        return
    for reading in template_readings:
        value = reading.value
        if not (isinstance(value, dict) and value and reading.location and reading.places[0].exists):
            continue
        where, spec = field_path(reading.location.path), value if is_spec else value.get("spec")
        if spec is None:
            note = f"{component.name}: {where} has no spec, so it is not a pod template; there are {', '.join(value)}"
            yield about(definition, component, field, query, "no-spec", note, places=reading.places)
        elif not spec.get("containers"):
            is_deeper = isinstance(get(spec, ("template", "spec")), dict)
            place = "its spec.template is one level further in"
            note = f"{component.name}: {where} has no containers; "
            note += place if is_deeper else f"there are {', '.join(spec) or 'no fields'}"
            yield about(definition, component, field, query, "no-containers", note, places=reading.places)


def _looked(query: Query, obj: Object) -> str:
    paths = list(dict.fromkeys(map(field_path, islice(paths_read(query, obj), MOST_NAMED))))
    return ", ".join(paths) or f"`{shown(query.text)}`"


def left_out_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the resources of an object that no expression reads."""
    for path in resources_left_out(definition, obj):
        note = f"{field_path(path)} is not read: if it is about pods, they request more than the answer"
        yield Fact("resources-left-out", note, places=(place_at(path, obj),))


def unknown_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the parts that change requests in an unknown way, each with the fields that it outputs."""
    for part in unknown_requests(definition, obj):
        outputs, read = part.place.evaluate(obj), (place_at(path, obj) for path in paths_read(part.place, obj))
        places = tuple(islice((place for place in read if place.value and place.value in outputs), MOST_NAMED))
        named = " and ".join(map(_named, places))
        note = f"{named}{': ' if named else ''}{part.reason}: pods may request something else than the answer"
        yield Fact("requests-unknown", note, places=places)


def _named(place: Place) -> str:
    """Return a place in words, with its value if that is a text."""
    if isinstance(place.value, str):
        return f"{field_path(place.path)} is {json.dumps(place.value)}"
    return field_path(place.path)


def absence_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the objects with requests of its pods that an object names and that are not there."""
    for reason in absences(definition, obj):
        yield Fact("reference-absent", f"{reason}: what its pods request there is not answered")


def device_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the claims of pods that count nothing, though they request devices."""
    for reason in dict.fromkeys(unknown_devices(definition, obj)):
        yield Fact("requests-unknown", f"{reason}: pods may request more than the answer")
