"""Warnings: pods that a definition does not find, and pods without containers or with requests that look wrong."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from karta_interpreter.base.findings import almost, closest, listed
from karta_interpreter.base.k8s import (
    CONTAINER_LISTS,
    COUNT_NAME,
    Counting,
    Object,
    Path,
    field_path,
    get,
    implausible,
    is_of_pods,
    parts_of,
    pod_requirements,
)
from karta_interpreter.definitions.karta import ComponentRules, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.definitions.karta.validation import repeated
from karta_interpreter.engine.evaluation import absences, instance_templates, pod_sets, positions, unknown_requests
from karta_interpreter.engine.explain.count_warnings import count_warnings
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.misfits import required_field
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
from karta_interpreter.engine.operations import Operation, fields_left_out, resources_left_out
from karta_interpreter.languages.jq import Query

PODS_NOT_FOUND: Final = "pods-not-found"
_MOST_COMPONENTS: Final = 4
_DEVICES: Final = (
    *(
        "nvidia.com/gpu",
        "nvidia.com/vgpu",
        "nvidia.com/pgpu",
        "nvidia.com/gpumem",
        "nvidia.com/gpucores",
        "amd.com/gpu",
    ),
    *("google.com/tpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "gpu.intel.com/i915"),
    *("gpu.intel.com/xe", "huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/Ascend910", "cambricon.com/mlu"),
)
_PodField: TypeAlias = tuple[ComponentRules, str, Query]


def pod_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the pods that a definition does not find or finds without containers, and the warnings about counts."""
    missing: list[_PodField] = []
    strays = fields_left_out(definition, obj, lambda name, value: name == "containers" and isinstance(value, list))
    unread = fields_left_out(
        definition, obj, lambda name, value: type(value) is int and value > 0 and bool(COUNT_NAME.fullmatch(name))
    )
    for component in definition.components:
        yield from _misspelt_parts(definition, component, obj)
    for component in definition.counted:
        if component.pods is None:
            continue
        pods = instance_templates(component, component.pods, obj, positions(component, obj))
        field, query = next(iter(pod_queries(component).items()))
        template_readings = readings(query, obj)
        if not any(pods):
            missing.append((component, field, query))
        yield from _incomplete(definition, component, field, query, template_readings)
        yield from count_warnings(definition, component, obj, pods, template_readings, strays, unread)
    hinted = list(_not_found(definition, obj, missing, strays))
    yield from hinted
    # A part without pods is usual. An object without any pods is worth a warning even without a hint, unless a script
    # counts them.
    is_without_pods = missing and not hinted and len(missing) == len(definition.leaves)
    if is_without_pods and Operation.INTERPRET_REPLICA not in definition.annotations.lua.operations:
        yield _without_any(definition, obj, missing)


def _not_found(
    definition: Definition, obj: Object, missing: Sequence[_PodField], strays: Sequence[Path]
) -> Iterator[Fact]:
    # Each hint once. Strays are containers that nothing reads. Instances that count 0 need no pods.
    hinted, pods_read = set[str](), tuple(component.pods for component in definition.components)
    for component, field, query in missing:
        paths = [*paths_read(query, obj)]
        hints = (
            [hint for path in paths if (hint := misspelt(path, obj, pods_read))]
            or [f"nothing reads the containers at {field_path(path[:-1])}" for path in strays[:1]]
            or [hint for path in paths if (hint := required_field(definition, path, obj))]
        )[:1]
        if hinted.isdisjoint(hints) and (
            hints
            or (
                readings(component.instance_ids, obj)
                and {each.value for each in readings(component.replicas, obj)} != {0}
            )
        ):
            hinted.update(hints)
            note = "; ".join([f"{component.name}: no pods at {_looked(query, obj)}", *hints])
            yield about(definition, component, field, query, PODS_NOT_FOUND, note)


def _without_any(definition: Definition, obj: Object, missing: Sequence[_PodField]) -> Fact:
    looked = "; ".join(f"{component.name}: {_looked(query, obj)}" for component, _, query in missing[:_MOST_COMPONENTS])
    # A definition with the values of its references has only the texts of their names.
    lookups = {
        str(get(reference, ("gvk", "kind"))): Query.compile(text)
        for reference in get(definition.manifest, ("spec", "structureDefinition", "references")) or ()
        if (text := get(reference, ("lookup", "nameExpression"))) and "$" not in text
        if any(f"${get(reference, ('name',))}" in query.text for _, _, query in missing)
    }
    places = dict.fromkeys(_looked(query, obj) for query in lookups.values())
    is_none_named = lookups and not any(value for query in lookups.values() for value in query.evaluate(obj))
    lacks = f"; it names no {listed(lookups)} at {listed(places)}" if is_none_named else ""
    return about(definition, *missing[0], PODS_NOT_FOUND, f"no component has pods in this object ({looked}){lacks}")


def _misspelt_parts(definition: Definition, component: ComponentRules, obj: Object) -> Iterator[Fact]:
    """Yield the ids of instances and the pieces of pods with paths that miss a field of almost the same name."""
    parts = {} if component.instance_ids is None else {"instanceIdPath": component.instance_ids}
    parts |= pod_queries(component) if isinstance(component.pods, Fragments) else {}
    for field, query in parts.items():
        is_id = field == "instanceIdPath"
        for path in paths_read(query, obj):
            # A whole missing list is a warning about pods.
            is_part = not is_id or any(isinstance(step, int) for step in path)
            if is_part and (hint := misspelt(path, obj, definition)):
                rule, what = ("id-not-found", "no id") if is_id else ("piece-not-found", "nothing")
                note = f"{component.name}: {what} at {field_path(path)}; {hint}"
                yield about(definition, component, field, query, rule, note)
                break


def _incomplete(
    definition: Definition, component: ComponentRules, field: str, query: Query, template_readings: Sequence[Reading]
) -> Iterator[Fact]:
    """Yield the pods without a spec or containers, or with two containers of one name."""
    is_spec = isinstance(component.pods, PodSpec)
    is_whole = is_spec or isinstance(component.pods, PodTemplate)
    for reading in template_readings:
        value = reading.value
        if not (is_whole and isinstance(value, dict) and value and reading.location and reading.places[0].exists):
            continue
        where, spec = field_path(reading.location.path), value if is_spec else value.get("spec")
        named = [
            (f"{where}{'' if is_spec else '.spec'}.{containers}[{index}]", name)
            for containers in CONTAINER_LISTS
            for index, container in parts_of(get(spec, (containers,)))
            if isinstance(name := get(container, ("name",)), str)
        ]
        for index, name in repeated(name for _, name in named):
            yield about(
                definition,
                component,
                field,
                query,
                "name-repeated",
                f"{component.name}: {named[index][0]}: a second container named {name}, which API servers reject",
                places=reading.places,
            )
        if spec is None:
            fields = ", ".join(value)
            note = f"{component.name}: {where} has no spec, so it is not a pod template; there are {fields}"
            yield about(definition, component, field, query, "no-spec", note, places=reading.places)
        elif not spec.get("containers"):
            fields = ", ".join(spec) or "no fields"
            advice = f"there are {fields}"
            if is_spec and "spec" in value:
                advice = "it has a spec: write podTemplateSpecPath"
            elif isinstance(get(spec, ("template", "spec")), dict):
                advice = "its spec.template is one level further in"
            note = f"{component.name}: {where} has no containers; {advice}"
            yield about(definition, component, field, query, "no-containers", note, places=reading.places)


def _looked(query: Query, obj: Object) -> str:
    paths = list(dict.fromkeys(map(field_path, islice(paths_read(query, obj), MOST_NAMED))))
    return ", ".join(paths) or f"`{shown(query.text)}`"


def amount_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the pods with an implausible amount of memory or processors, or with a resource that does not exist."""
    # A definition may make the pod from numbers of the object, which have no unit.
    numbers = {
        (component.name, str(number)): path
        for component in definition.components
        for query in pod_queries(component).values()
        for path in paths_read(query, obj)
        if type(number := get(obj, path)) is int
    }
    for pods in pod_sets(definition, obj):
        request = (pod_requirements(pods.template, Counting.SCHEDULER).to_json() or {}).get("resourceRequest", {})
        spec = get(pods.template, ("spec",))
        containers = [
            *(entry for name in CONTAINER_LISTS for _, entry in parts_of(get(spec, (name,)))),
            {"resources": {"requests": get(spec, ("overhead",))}},
        ]
        found = [*implausible({**request, "memory": 0})]  # which is rounded: the containers have it as it is written
        found += [
            (
                "amount-rejected",
                (
                    f"{name} is in resources.{part} of the whole pod, which may have cpu, memory and hugepages only: "
                    "write it in a container"
                ),
            )
            for part in ("requests", "limits")
            for name in get(spec, ("resources", part)) or ()
            if not is_of_pods(name)
        ]
        for container in containers:
            amounts = [get(container, ("resources", part)) or {} for part in ("requests", "limits")]
            found += implausible(*amounts, of_pod=False)
            found += [
                ("amount-rejected", f"{name} is a resource of no known device plugin: is {meant} meant?")
                for name in {**amounts[0], **amounts[1]}
                if (meant := _meant(name)) != name
            ]
        for rule, text in dict.fromkeys(found):
            path = numbers.get((pods.component, request.get("memory", ""))) if rule == "memory-without-unit" else None
            note = f"memory is {get(obj, path)} bytes, from {path_expression(path)}" if path else text
            yield Fact(rule, f"{pods.component}: {note}")


def _meant(name: str) -> str:
    """Return the resource of a known device plugin that almost has this name, else the name."""
    alike = [known for known in _DEVICES if known.rpartition("/")[2] == name.rpartition("/")[2]]
    return name if name in _DEVICES else almost(name, _DEVICES) or closest(name, alike) or name


def left_out_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the resources of an object that no expression reads."""
    yield from (
        Fact(
            "resources-left-out",
            f"{field_path(path)} is not read: if it is about pods, they request more than the answer",
            places=(place_at(path, obj),),
        )
        for path in resources_left_out(definition, obj)
    )


def unknown_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the parts that change requests in an unknown way, each with the fields that it outputs."""
    for part in unknown_requests(definition, obj):
        outputs, read = part.place.evaluate(obj), (place_at(path, obj) for path in paths_read(part.place, obj))
        places = tuple(islice((place for place in read if place.value and place.value in outputs), MOST_NAMED))
        named = " and ".join(
            f"{field_path(place.path)} is {json.dumps(place.value)}"
            if isinstance(place.value, str)
            else field_path(place.path)
            for place in places
        )
        note = f"{named}{': ' if named else ''}{part.reason}: pods may request something else than the answer"
        yield Fact("requests-unknown", note, places=places)


def absence_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the objects with requests of its pods that an object names and that are not there."""
    yield from (
        Fact("reference-absent", f"{reason}: what its pods request there is not answered")
        for reason in absences(definition, obj)
    )
