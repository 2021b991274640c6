"""How pod sets, their counts and what their pods ask for come from the object; and where a new count is written."""

from collections.abc import Iterator, Sequence

from karta_interpreter.explain.explanation import Fact, Place
from karta_interpreter.explain.reading import (
    Reading,
    about,
    annotation_field,
    field_of,
    place_at,
    pod_queries,
    readings,
)
from karta_interpreter.findings import count
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.requirements import pod_requirements
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta.definition import Component, Definition, Fragments, PodSpec
from karta_interpreter.karta.evaluation import instance_ids
from karta_interpreter.karta.pods import PodSet, pod_sets, scale_locations
from karta_interpreter.operations import Call, Options, Results
from karta_interpreter.operations.apportion import ScaleTarget, scale_targets
from karta_interpreter.operations.revise_replica import elastic_pod_sets

_COUNTS = (("replicas", "replicasPath"), ("min_replicas", "minReplicasPath"))
_AMOUNTS = (("requests", ""), ("limits", ", the limit in place of a request that is not set"))


def replica_facts(definition: Definition, call: Call, options: Options, results: Results | None) -> Iterator[Fact]:
    """Yield how InterpretReplica comes to its number and its requirements."""
    sets = pod_sets(definition, call.object)
    if results is not None:
        parts = " + ".join(f"{pods.name} {pods.replicas}" for pods in sets)
        yield Fact("total", f"{parts or 'no pod set'}, in all {results['replica']}", results["replica"], "/replica")
    for pods in sets:
        yield from _set_facts(definition, call.object, pods, "/replica", "/requires", options)
    if results is None:
        return
    requires = results["requires"] or {}
    for name in requires:
        if name == "resourceRequest":
            continue
        rule = "the same in all pod sets" if name == "nodeClaim" else "option resource-quota-estimate"
        yield Fact("requirement", f"{name}: {rule}", requires[name], f"/requires/{name}")
    if len(sets) > 1:
        yield Fact(
            "requirement",
            "the largest request of the pod sets that have pods, for each resource",
            requires.get("resourceRequest"),
            "/requires/resourceRequest",
        )


def component_facts(definition: Definition, call: Call, options: Options, results: Results | None) -> Iterator[Fact]:
    """Yield how InterpretComponent comes to each of its components."""
    del results
    for index, pods in enumerate(pod_sets(definition, call.object)):
        at = f"/components/{index}"
        yield from _set_facts(definition, call.object, pods, f"{at}/replicas", f"{at}/replicaRequirements", options)


def revision_facts(definition: Definition, call: Call, options: Options, results: Results | None) -> Iterator[Fact]:
    """Yield which counts ReviseReplica may change, why, and what it writes where."""
    del options
    scales = scale_locations(definition, call.object)
    elastic = elastic_pod_sets(definition, scales)
    targets = scale_targets(scales, elastic)
    moved = {name: target for target in targets for name in target.pod_sets}
    for scale in scales:
        pods = scale.pod_set
        fact = next(_count_facts(definition, call.object, pods, ""))
        target = moved.get(pods.name)
        why = _why_elastic(definition, len(scales), pods, is_elastic=pods.name in elastic, moves=target is not None)
        yield Fact(
            "elastic" if target else "fixed",
            f"{pods.name} has {count(pods.replicas, 'pod')}: {why}",
            pods.replicas,
            "",
            fact.component,
            fact.instance,
            fact.field,
            fact.expression,
            fact.places,
            fact.writes,
        )
    if results is not None:
        yield from _written(definition, call, targets, results["revised"])


def _written(definition: Definition, call: Call, targets: Sequence[ScaleTarget], revised: Object) -> Iterator[Fact]:
    after = {(each.component, each.instance): each.replicas for each in pod_sets(definition, revised)}
    for target in targets:
        for scale in target.scales:
            component, pods = _component(definition, scale.pod_set), scale.pod_set
            pairs = (
                (component.replicas, "replicasPath", scale.replicas),
                (component.min_replicas, "minReplicasPath", scale.minimum),
                (component.max_replicas, "maxReplicasPath", scale.maximum),
            )
            for query, field, location in pairs:
                if location is None or (before := place_at(location.path, call.object)) == place_at(
                    location.path, revised
                ):
                    continue
                value = get(revised, location.path)
                got = after.get((pods.component, pods.instance), 0)
                yield about(
                    definition,
                    component,
                    f"scaleDefinition.{field}",
                    query,
                    rule="written",
                    value=value,
                    note=f"{pods.name} gets {count(got, 'pod')}",
                    answer=f"/revised{before.pointer}",
                    instance=pods.instance,
                    places=(before,),
                    writes=(before.pointer,),
                )
    if revised is call.object:
        yield Fact("unchanged", f"the object has {call.replicas} pods already")


def _why_elastic(definition: Definition, number: int, pods: PodSet, *, is_elastic: bool, moves: bool) -> str:
    named = definition.annotations.elastic
    if named is not None:
        rule = f"{annotation_field('elastic')} {'names' if is_elastic else 'does not name'} {pods.component}"
    elif number == 1:
        rule = "it is the only pod set"
    else:
        rule = "it has bounds or more than one pod" if is_elastic else "others have bounds, or it is a single pod"
    if is_elastic and not moves:
        return f"{rule}, but its count is no field to write"
    return f"{rule}, so it can change" if is_elastic else f"{rule}; it {'moves along' if moves else 'stays'}"


def _component(definition: Definition, pods: PodSet) -> Component:
    return next(each for each in definition.components if each.name == pods.component)


def _set_facts(
    definition: Definition, obj: Object, pods: PodSet, counted: str, required: str, options: Options
) -> Iterator[Fact]:
    yield from _count_facts(definition, obj, pods, counted)
    base, facts = _template_facts(definition, obj, pods)
    yield from facts
    requires = pod_requirements(pods.template, options.pod_requests).to_json() or {}
    for resource, amount in requires.get("resourceRequest", {}).items():
        yield _request(definition, obj, pods, base, resource, amount, required)


def _count_facts(definition: Definition, obj: Object, pods: PodSet, answer: str) -> Iterator[Fact]:
    """Yield the one fact about the count of a pod set, by the first expression that gives a number."""
    component = _component(definition, pods)
    position = instance_ids(component, obj).index(pods.instance)
    places: tuple[Place, ...] = ()
    for name, field in _COUNTS:
        query = getattr(component, name)
        found: list[Reading | None] = [*readings(query, obj)]
        reading = found[position] if position < len(found) else None
        if reading is not None and reading.value is not None:
            writes = reading.writes
            back = "" if writes else "; no field to write another count to"
            yield about(
                definition,
                component,
                f"scaleDefinition.{field}",
                query,
                rule="count",
                value=pods.replicas,
                note=f"{pods.name}: {reading.source}{back}",
                answer=answer,
                instance=pods.instance,
                places=(*places, *reading.places),
                writes=writes,
            )
            return
        places += reading.places if reading else ()
    query = component.replicas or component.min_replicas
    why = "no count is in the object" if query else "the definition has no count for it"
    yield about(
        definition,
        component,
        "scaleDefinition",
        query,
        rule="count",
        value=pods.replicas,
        answer=answer,
        note=f"{pods.name}: {why}, which means {pods.replicas}",
        instance=pods.instance,
        places=places,
        writes=tuple(place.pointer for place in places[:1]),
    )


def _template_facts(definition: Definition, obj: Object, pods: PodSet) -> tuple[Path | None, list[Fact]]:
    """Return where the spec of the pods is, None where it is not in one place, and what the pods are made of."""
    component, facts = _component(definition, pods), []
    position = instance_ids(component, obj).index(pods.instance)
    base: Path | None = None
    for field, query in pod_queries(component.pods).items():
        found = readings(query, obj)
        if position >= len(found) or found[position].value is None:
            continue
        location = found[position].location
        if location is not None and location.is_plain and not isinstance(component.pods, Fragments) and base is None:
            base = location.path if isinstance(component.pods, PodSpec) else (*location.path, "spec")
        facts.append(
            about(
                definition,
                component,
                field,
                query,
                rule="pods",
                instance=pods.instance,
                note=f"{pods.name}: {found[position].source}",
                places=found[position].places,
            )
        )
    return base, facts


def _request(
    definition: Definition, obj: Object, pods: PodSet, base: Path | None, resource: str, amount: JSON, answer: str
) -> Fact:
    """Return which containers ask for a resource; a place is known where the whole pod spec is in the object."""
    places, notes = list[Place](), list[str]()
    for path, note in _asking(pods.template["spec"], resource):
        place = None if base is None else place_at((*base, *path), obj)
        if place is None or not place.exists:
            note = note if base is None else f"{note} ({annotation_field('added-containers')})"  # noqa: PLW2901
        else:
            places.append(place)
        notes.append(note)
    component = _component(definition, pods)
    field = next(iter(pod_queries(component.pods)), "specDefinition")
    return Fact(
        "request",
        f"{pods.name}: {resource} {amount} a pod, named by {', '.join(dict.fromkeys(notes))}",
        amount,
        f"{answer}/resourceRequest/{resource.replace('/', '~1')}",
        pods.component,
        pods.instance,
        field_of(definition, component, field),
        places=tuple(places),
    )


def _asking(spec: Object, resource: str) -> Iterator[tuple[Path, str]]:
    for group in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(group) or ()):
            resources = (container or {}).get("resources") or {}
            for field, note in _AMOUNTS:
                if (resources.get(field) or {}).get(resource) is not None:
                    name = container.get("name", f"{group}[{index}]")
                    yield (group, index, "resources", field, resource), f"{name}{note}"
                    break
    for field, note in _AMOUNTS:
        if get(spec, ("resources", field, resource)) is not None:
            yield ("resources", field, resource), f"the pod itself{note}"
            break
    if get(spec, ("overhead", resource)) is not None:
        yield ("overhead", resource), "overhead"
