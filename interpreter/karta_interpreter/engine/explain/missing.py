"""Warnings: fields that a definition looks for and does not find, although the object seems to have them.

A missing optional part does not cause a warning, and neither does a default for an optional field. Both cause one if
the object has a field with a similar name, because the definition may have a typo.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import filterfalse, islice
from textwrap import shorten
from typing import Final

from karta_interpreter.base.errors import InterpretationError, InterpreterError, QueryError
from karta_interpreter.base.findings import Severity, almost, closest, in_ascii, listed
from karta_interpreter.base.k8s import (
    CONTAINER_LISTS,
    COUNT_NAME,
    Counting,
    Object,
    Path,
    field_path,
    get,
    implausible,
    parts_of,
    pod_requirements,
)
from karta_interpreter.definitions.karta import (
    PREFIX,
    ComponentRules,
    Definition,
    ExtraDependency,
    Fragments,
    OfDependencies,
    PodSpec,
    PodTemplate,
    catalogue_kinds,
)
from karta_interpreter.definitions.karta.annotation_records import NAMES
from karta_interpreter.definitions.karta.expressions import with_unit
from karta_interpreter.engine.evaluation import (
    Status,
    absences,
    match_status,
    pod_sets,
    positions,
    scale_locations,
    unknown_requests,
)
from karta_interpreter.engine.evaluation.templates import templates
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.misfits import misfit_warnings, required_field
from karta_interpreter.engine.explain.reading import (
    Reading,
    about,
    annotation_field,
    misspelt,
    paths_read,
    place_at,
    pod_queries,
    readings,
)
from karta_interpreter.engine.operations import Operation, resources_left_out
from karta_interpreter.engine.operations.interpret_dependency import can_exist, named_objects
from karta_interpreter.engine.operations.left_out import fields_left_out
from karta_interpreter.languages.jq import Query

_OF_PODS: Final = frozenset(
    {
        Operation.INTERPRET_REPLICA,
        Operation.INTERPRET_COMPONENT,
        Operation.REVISE_REPLICA,
        Operation.REVISE_COMPONENTS,
        Operation.INTERPRET_DEPENDENCY,
    }
)
_OF_STATUS: Final = frozenset({Operation.INTERPRET_HEALTH})

PODS_NOT_FOUND: Final = "pods-not-found"
COUNT_MISSPELT: Final = "count-misspelt"
_PHASE: Final = "statusDefinition.phaseDefinition.path"
_CONDITIONS: Final = "statusDefinition.conditionsDefinition.path"
_MOST_COMPONENTS: Final = 4
_MOST_PLACES: Final = 2
_BARE_SPEC: Final = "pods: a pod template has its pod in spec; write {spec: …} around the spec of a pod"
# What an expression does not find, or cannot read, where an object has a misfit.
_CONSEQUENCES: Final = ("dependency-failed", "dependency-not-found")
_LONGEST: Final = 60
# How a definition gives the pods that an object counts and does not have.
_NO_POD: Final[Mapping[type, str]] = {
    PodTemplate: "podTemplateSpecPath: … // {spec: {}}",
    PodSpec: "podSpecPath: … // {}",
    Fragments: "containersPath: … // []",
}
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
_warn: Final = partial(about, severity=Severity.WARNING)


def warnings_about(definition: Definition, obj: Object, operation: Operation | None = None) -> tuple[Fact, ...]:
    """Return all warnings about an object, or only those that matter for an operation.

    Never raises. An expression that fails ends the warnings of its kind.
    """
    warnings_found: list[Fact] = []
    for warnings, operations in (
        (_annotation_warnings, frozenset(Operation)),
        (misfit_warnings, _OF_PODS),
        (_absence_warnings, _OF_PODS),
        (_pod_warnings, _OF_PODS),
        (_memory_warnings, _OF_PODS - {Operation.INTERPRET_DEPENDENCY}),
        (_bound_warnings, _OF_PODS - {Operation.INTERPRET_DEPENDENCY}),
        (_left_out_warnings, _OF_PODS - {Operation.INTERPRET_DEPENDENCY}),
        (_unknown_warnings, _OF_PODS - {Operation.INTERPRET_DEPENDENCY}),
        (_status_warnings, _OF_STATUS),
        (
            partial(misfit_warnings, is_of_status=True),
            _OF_STATUS | {Operation.INTERPRET_STATUS, Operation.AGGREGATE_STATUS},
        ),
        (_dependency_warnings, (Operation.INTERPRET_DEPENDENCY,)),
    ):
        if operation is None or operation in operations:
            with suppress(InterpreterError):
                warnings_found.extend(warnings(definition, obj))  # which keeps what comes before an error
    # Misfits come first.
    return tuple(
        [
            fact
            for fact in warnings_found
            if fact.rule not in _CONSEQUENCES or warnings_found[0].rule not in ("field-unknown", "field-invalid")
        ]
    )


def finds_pods(definition: Definition, obj: Object) -> bool:
    """Return whether a definition finds pods in an object, and no warning is about them."""
    with suppress(InterpretationError):
        return any(pod_sets(definition, obj)) and not warnings_about(definition, obj, Operation.INTERPRET_REPLICA)
    return False


def never_found(definition: Definition, objects: Sequence[Object]) -> Iterator[str]:
    """Yield the counts and the types of conditions that a definition names and none of several objects has."""
    for component in definition.components:
        counts = component.replicas, component.min_replicas, component.max_replicas
        fields = zip(("replicasPath", "minReplicasPath", "maxReplicasPath"), counts, strict=True)
        # A computed count, such as one of a switch, may well find nothing.
        for name, query in ((name, query) for name, query in fields if query and "|" not in query.text):
            places = [place_at(path, obj) for obj in objects for path in paths_read(query, obj)]
            if places and not any(place.exists for place in places):
                yield f"{component.name}: no object has {field_path(places[0].path)} ({name})"
    types = definition.status.mappings if definition.status else ()
    named = {kind.type for _, several in types for matcher in several for kind in matcher.conditions}
    present: set[str] = set()
    for obj in objects if named else ():
        with suppress(InterpretationError):
            present |= {str(condition.type) for condition in match_status(definition, obj).conditions}
    if present and (absent := named - present):
        yield f"no object has the condition {', '.join(sorted(absent))}; there are {', '.join(sorted(present))}"


def _absence_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    yield from (
        Fact("reference-absent", f"{reason}: what its pods request there is not answered", severity=Severity.WARNING)
        for reason in absences(definition, obj)
    )


def _annotation_warnings(_: Definition, obj: Object) -> Iterator[Fact]:
    yield from (
        Fact(
            "misplaced-annotation",
            f"{name} belongs in metadata.annotations of the Karta: nothing reads it here",
            severity=Severity.WARNING,
        )
        for field in ("labels", "annotations")
        for name in get(obj, ("metadata", field)) or ()
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) in NAMES
    )


def _unknown_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the parts that change requests in an unknown way, each with the fields that it outputs."""
    for part in unknown_requests(definition, obj):
        outputs, read = part.place.evaluate(obj), (place_at(path, obj) for path in paths_read(part.place, obj))
        places = tuple(islice((place for place in read if place.value and place.value in outputs), _MOST_PLACES))
        named = " and ".join(
            f"{field_path(place.path)} is {json.dumps(place.value)}"
            if isinstance(place.value, str)
            else field_path(place.path)
            for place in places
        )
        note = f"{named}{': ' if named else ''}{part.reason}: pods may request something else than the answer"
        yield Fact("requests-unknown", note, places=places, severity=Severity.WARNING)


def _pod_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    missing: list[tuple[ComponentRules, str, Query]] = []
    strays = fields_left_out(definition, obj, lambda name, value: name == "containers" and isinstance(value, list))
    unread = fields_left_out(
        definition, obj, lambda name, value: type(value) is int and value > 0 and bool(COUNT_NAME.fullmatch(name))
    )
    for component in definition.components:
        yield from _misspelt_parts(definition, component, obj)
    for component in definition.counted:
        if component.pods is None:
            continue
        pods = templates(component, component.pods, obj, positions(component, obj))
        field, query = next(iter(pod_queries(component).items()))
        template_readings = readings(query, obj)
        if not any(pods):
            missing.append((component, field, query))
        yield from _incomplete(definition, component, field, query, template_readings)
        yield from _counts(definition, component, obj, pods, template_readings, strays, unread)
    named, pods_read = set[str](), tuple(component.pods for component in definition.components)
    for component, field, query in missing:
        paths = [*paths_read(query, obj)]
        hints = (
            [hint for path in paths if (hint := misspelt(path, obj, pods_read))]
            or [f"nothing reads the containers at {field_path(path[:-1])}" for path in strays[:1]]
            or [hint for path in paths if (hint := required_field(definition, path, obj))]
        )[:1]
        if named.isdisjoint(hints) and (hints or readings(component.instance_ids, obj)):
            named.update(hints or [component.name])
            note = "; ".join([f"{component.name}: no pods at {_looked(query, obj)}", *hints])
            yield _warn(definition, component, field, query, PODS_NOT_FOUND, note)
    # A part without pods is usual. An object without any pods is worth a warning even without a hint, unless a script
    # counts them.
    if (
        missing
        and not named
        and len(missing) == len(definition.leaves)
        and Operation.INTERPRET_REPLICA not in definition.annotations.lua.operations
    ):
        looked = "; ".join(
            f"{component.name}: {_looked(query, obj)}" for component, _, query in missing[:_MOST_COMPONENTS]
        )
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
        yield _warn(definition, *missing[0], PODS_NOT_FOUND, f"no component has pods in this object ({looked}){lacks}")


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
                yield _warn(definition, component, field, query, rule, note)
                break


def _incomplete(
    definition: Definition, component: ComponentRules, field: str, query: Query, template_readings: Sequence[Reading]
) -> Iterator[Fact]:
    """Yield the pods without a spec or without containers."""
    for reading in template_readings:
        value, is_spec = reading.value, isinstance(component.pods, PodSpec)
        is_whole = is_spec or isinstance(component.pods, PodTemplate)
        if not (is_whole and isinstance(value, dict) and value and reading.location and reading.places[0].exists):
            continue
        where = field_path(reading.location.path)
        if not is_spec and value.get("spec") is None:
            fields = ", ".join(value)
            note = f"{component.name}: {where} has no spec, so it is not a pod template; there are {fields}"
            yield _warn(definition, component, field, query, "no-spec", note, places=reading.places)
        elif not (value if is_spec else value["spec"]).get("containers"):
            fields = ", ".join(value if is_spec else value["spec"]) or "no fields"
            advice = (
                "it has a spec: write podTemplateSpecPath" if is_spec and "spec" in value else f"there are {fields}"
            )
            note = f"{component.name}: {where} has no containers; {advice}"
            yield _warn(definition, component, field, query, "no-containers", note, places=reading.places)


def _counts(
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
    warn = partial(_warn, definition, component, field, query)
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
    # The first of each place and of each name.
    near = {key: path for path in reversed(unread) for key in (path[:-1], path[-1])} if any(pods) else {}
    if absent := _absent(counts, obj, definition, near):
        places = [missing for _, missing in absent]
        hints = [
            hint
            for missing in places
            if (hint := misspelt(missing.path, obj, definition) or _other_count(near, missing, obj))
        ]
        if hints or (any(pods) and all(count.value is None for count in counts)):
            count = absent[0][0]
            places_text = ", ".join(dict.fromkeys(field_path(missing.path) for missing in places[:2]))
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
            f"{shorten(json.dumps(get(obj, path)), _LONGEST, placeholder=' …')}: write a number from 1",
            places=(place_at(path, obj),),
        )
        for path in islice(
            (path for path in counts if get(obj, path) == 0 or type(get(obj, path)) is str), _MOST_PLACES
        )
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
            note = (
                f"{name or component.name}: count {count.value}, but no pods{place}; "
                f"if the operator makes them, write {_NO_POD[type(component.pods)]}"
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
        _warn(
            *(definition, component, field, query, "count-not-found"),
            note.format(component.name, field_path(path), get(obj, path), _expression(path)),
            places=(place_at(path, obj),),
        )
        for path in unread
        if get(obj, path) != 1 and path[:-1] in around
    )


def _expression(path: Path) -> str:
    # Of all entries of its lists.
    return "." + re.sub(r"\[\d+\]", "[]", field_path(path))


def _absent(
    counts: Sequence[Reading], obj: Object, definition: Definition, near: Mapping[Path | str | int, Path]
) -> list[tuple[Reading, Place]]:
    """Return the counts that are not at their places: all of them, or only those that a typo of the object hides."""
    read = [(count, place) for count in counts for place in count.places]
    located = [(count, count.places[0]) for count in counts if count.location] or read
    hinted = [
        (count, place)
        for count, place in read
        if place.value is None and (misspelt(place.path, obj, definition) or _other_count(near, place, obj))
    ]
    return [*located, *hinted] if all(place.value is None for _, place in located) else hinted


def _other_count(near: Mapping[Path | str | int, Path], missing: Place, obj: Object) -> str:
    """Return a hint about a count next to a place without one, or of the same name, that no count is read from."""
    for path in filter(None, map(near.get, (missing.path[:-1], missing.path[-1]))):
        above, names = ([step for step in each[:-1] if isinstance(step, str)] for each in (path, missing.path))
        # `misspelt` finds a count further up.
        if missing.path[:-1] == path[:-1] or names[: len(above)] != above:
            return f"is it {field_path(path)}, which is {get(obj, path)}?"
    return ""


def _looked(query: Query, obj: Object) -> str:
    paths = list(dict.fromkeys(map(field_path, islice(paths_read(query, obj), 2))))
    return ", ".join(paths) or f"`{shorten(query.text, _LONGEST, placeholder=' …')}`"


def _memory_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
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
            note = (
                f"memory is {get(obj, path)} bytes, from {_expression(path)}: write memory: "
                f"{with_unit(_expression(path), str(path[-1]))} in the definition"
                if path
                else text
            )
            yield Fact(rule, f"{pods.component}: {note}", severity=Severity.WARNING)


def _meant(name: str) -> str:
    """Return the resource of a known device plugin that almost has this name, else the name."""
    alike = [known for known in _DEVICES if known.rpartition("/")[2] == name.rpartition("/")[2]]
    return name if name in _DEVICES else almost(name, _DEVICES) or closest(name, alike) or name


def _bound_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the pod sets whose least number of pods is greater than the most, or than their count."""
    yield from (
        Fact(
            "least-above-most",
            f"{pods.name}: the least number of pods, {scale.minimum}, is greater than {what}, {number}",
            component=pods.component,
            severity=Severity.WARNING,
        )
        for pods, scale, *_ in scale_locations(definition, obj)
        for what, number in (("the most", scale.maximum), ("its count", scale.replicas or scale.minimum))
        if scale.minimum is not None and number is not None and scale.minimum > number
    )


def _left_out_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    yield from (
        Fact(
            "resources-left-out",
            f"{field_path(path)} is not read: if it is about pods, they request more than the answer",
            places=(place_at(path, obj),),
            severity=Severity.WARNING,
        )
        for path in resources_left_out(definition, obj)
    )


def _status_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the warnings about phases and conditions that no mapping fits."""
    rules = definition.status
    if rules is None or not obj.get("status"):  # of a new object, whose controller has not written it yet
        return
    match, matchers = match_status(definition, obj), [matcher for _, several in rules.mappings for matcher in several]
    conditions = rules.conditions.query if rules.conditions else None
    is_undefined = match.matched == (Status.UNDEFINED,)
    phases = list(dict.fromkeys(matcher.phase for matcher in matchers if matcher.phase))
    if (
        rules.phase is not None
        and match.phase
        and phases
        and match.phase not in phases
        and (is_undefined or almost(match.phase, phases))
    ):
        # Signs that only look like others are shown by their numbers.
        shown = [
            phase.encode("ascii", "backslashreplace").decode() if in_ascii(phase).isascii() else phase
            for phase in phases
        ]
        note = f'phase "{match.phase}" from {rules.phase.text} fits no mapping; there are {", ".join(shown)}'
        places = readings(rules.phase, obj)[0].places
        yield _warn(definition, definition.root, _PHASE, rules.phase, "phase-unmapped", note, places=places)
    fields: tuple[str, ...] = (rules.conditions.type_field, rules.conditions.status_field) if rules.conditions else ()
    yield from (
        _warn(definition, definition.root, _CONDITIONS, conditions, "condition-not-found", f"no condition has {field}")
        for field, values in zip(fields, zip(*match.conditions, strict=True), strict=False)
        if field and not any(values)
    )
    types = dict.fromkeys(condition.type for matcher in matchers for condition in matcher.conditions)
    present_types = {condition.type for condition in match.conditions if condition.type}
    yield from (
        _warn(
            *(definition, definition.root, _CONDITIONS, conditions, "condition-not-found"),
            f"condition {name} is not there; did you mean {similar}?",
        )
        for name in (types if conditions is not None else ())
        if name not in present_types and (similar := almost(name, present_types - types.keys()))
        if is_undefined or similar.lower() == name.lower()
    )
    yield from (
        _warn(
            *(definition, definition.root, field, query, "status-not-found"),
            f"nothing at {field_path(path)}; {hint}",
        )
        for field, query in ((_PHASE, rules.phase), (_CONDITIONS, conditions))
        if query
        for path in paths_read(query, obj)
        if (hint := misspelt(path, obj, definition)) and not place_at(path, obj).exists
    )
    yield from (
        _warn(
            *(definition, definition.root, "statusDefinition.statusMappings", matcher.expression, "result-misspelt"),
            f'{matcher.expression.text} gives "{read}", and expectedResult is "{matcher.expected}": capitals count',
        )
        for matcher in matchers
        if matcher.expression is not None
        for read in matcher.expression.evaluate(obj)[:1]
        if isinstance(read, str) and read != matcher.expected and read.lower() == matcher.expected.lower()
    )


def _dependency_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the names of dependencies with paths that miss a field of almost the same name."""
    field, severity = annotation_field("dependencies"), Severity.WARNING
    failures: list[str] = []
    named = named_objects(definition, obj, failures)
    yield from (Fact("dependency-failed", failure, field=field, severity=severity) for failure in failures)
    for extra in definition.annotations.dependencies:
        match extra:
            case ExtraDependency(kind=kind, objects=query):
                what = "label" if extra.by_labels else "name"
                hints = ((path, misspelt(path, obj, definition)) for path in paths_read(query, obj))
                notes = [f"{kind}: no {what} at {field_path(path)}; {hint}" for path, hint in hints if hint]
            case OfDependencies("pods", query):
                templates_read = (reading.value for reading in readings(query, obj))
                notes = [_BARE_SPEC for value in templates_read if value and {"spec", "metadata"}.isdisjoint(value)][:1]
            case _:
                continue
        yield from (
            Fact("dependency-not-found", note, field=field, expression=query.text, severity=severity) for note in notes
        )
    shown = partial(shorten, width=_LONGEST, placeholder=" …")
    yield from (
        Fact(
            "dependency-left-out",
            f"{dependency.kind} {shown(f'{dependency.namespace}/{dependency.name}'.lstrip('/'))} is left out: "
            "no object can have this name",
            severity=severity,
        )
        for dependency in filterfalse(can_exist, named)
    )
