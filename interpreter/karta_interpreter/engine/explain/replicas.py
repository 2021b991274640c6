"""Explains which places of an object give pod sets, counts and requests, and where a new count is written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import CONTAINER_LISTS, JSON, Object, Path, get, json_pointer
from karta_interpreter.definitions.karta import Definition, Fragments, PodSpec
from karta_interpreter.engine.evaluation import (
    DeviceRequest,
    PodSet,
    ScaleLocation,
    counted_requirements,
    device_requests,
    instance_ids,
    pod_sets,
    scale_locations,
    unit_count,
)
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import Reading, about, annotation_field, place_at, pod_queries, readings
from karta_interpreter.engine.operations import Call, Options, Results
from karta_interpreter.engine.operations.apportion import ScaleTarget, scale_targets, why_fixed
from karta_interpreter.engine.operations.divided import shares
from karta_interpreter.engine.operations.interpret_replica import divisible_pod_sets, units_and_pods
from karta_interpreter.engine.operations.revise_replica import elastic_pod_sets
from karta_interpreter.languages.jq import Query

_AMOUNTS = (("requests", ""), ("limits", ", the limit in place of a request that is not set"))


def replica_facts(definition: Definition, call: Call, options: Options, results: Results) -> Iterator[Fact]:
    """Yield how InterpretReplica finds its number and its requirements."""
    view = _View(definition, call.object)
    sets = divisible_pod_sets(definition, call.object)
    unit = definition.annotations.unit
    if unit is not None:
        yield from _unit_facts(definition, unit, call.object)
    elif results:
        nothing = "only the status counts the pods" if definition.is_counted_by_status else "no pod set"
        sum_text = " + ".join(f"{pods.name} {pods.replicas}" for pods in sets) or nothing
        yield Fact("total", f"{sum_text}, in all {results['replica']}", results["replica"], "/replica")
    for pods in sets:
        yield from view.facts(pods, "" if unit else "/replica", "/requires", options)
    for name, value in (results.get("requires") or {}).items():
        rule = (_UNIT_RULES if unit else _RULES).get(name, "option resource-quota-estimate")
        if unit or len(sets) > 1 or name != "resourceRequest":
            yield Fact("requirement", f"{name}: {rule}", value, f"/requires/{name}")


_RULES = {
    "resourceRequest": "for each resource the largest request of the pod sets that have pods",
    "nodeClaim": "the same in all pod sets",
}
_UNIT_RULES = {
    "resourceRequest": "the sum over all pods of a unit",
    "nodeClaim": "the same for all pods of a unit",
}


def _unit_facts(definition: Definition, unit: Query, obj: Object) -> Iterator[Fact]:
    number, parts = units_and_pods(definition, unit, obj)
    yield _counted_units(unit, obj, "unit", number, "/replica")
    pods_text = " + ".join(f"{pods.name} {pods_of_unit}" for pods, pods_of_unit in parts) or "no pods"
    yield Fact("total", f"{count(number, 'unit')}, each of {pods_text}", number, "/replica")


def _counted_units(unit: Query, obj: Object, rule: str, number: int, answer: str) -> Fact:
    reading = next(iter(readings(unit, obj)))
    return Fact(
        rule, f"{count(number, 'unit')}: {reading.source}, which multiplies all pods", number, answer,
        field=annotation_field("unit"), expression=unit.text, places=reading.places, writes=reading.writes,
    )  # fmt: skip


def component_facts(definition: Definition, call: Call, options: Options, results: Results) -> Iterator[Fact]:
    """Yield how InterpretComponent finds each of its components."""
    view = _View(definition, call.object)
    for index, pods in enumerate(divisible_pod_sets(definition, call.object)):
        at = f"/components/{index}"
        yield view.named(pods, f"{at}/name")
        yield from view.facts(pods, f"{at}/replicas", f"{at}/replicaRequirements", options)
        for name, value in (get(results, ("components", index, "replicaRequirements")) or {}).items():
            if name != "resourceRequest":
                note = f"{pods.name}: {name}, as its pods have it"
                yield Fact("requirement", note, value, f"{at}/replicaRequirements/{name}", component=pods.component)


def revision_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the counts that a revision may change, the reasons, and its writes with their places."""
    unit = definition.annotations.unit
    if unit is not None and call.replicas is not None:
        yield from _revised_units(definition, unit, call, results)
        return
    view, scales = _View(definition, call.object), scale_locations(definition, call.object)
    assigned = dict(call.components or ())
    elastic = frozenset(assigned) or elastic_pod_sets(definition, scales)
    targets = scale_targets(scales, elastic)
    moved = {name for target in targets for name in target.pod_sets}
    for scale in scales:
        pods, moves = scale.pod_set, scale.pod_set.name in moved
        why = _why_elastic(definition, len(scales), scale, is_elastic=pods.name in elastic, moves=moves)
        if assigned:
            reason = "it can change" if moves else why_fixed(scale.places.component)
            why = f"{assigned.get(pods.name)} assigned; {reason}"
        note = f"{pods.name} has {count(pods.replicas, 'pod')}: {why}"
        counted = replace(view.counted(pods, ""), rule="elastic", note=note)
        yield counted if moves else replace(counted, rule="fixed", writes=())
    if results:
        yield from _written(view, call, targets, results["revised"])
        yield from _divided(definition, call, results["revised"])


def _revised_units(definition: Definition, unit: Query, call: Call, results: Results) -> Iterator[Fact]:
    counted = _counted_units(unit, call.object, "elastic", unit_count(definition, unit, call.object), "")
    yield counted
    if not results:
        return
    revised: Object = results["revised"]
    for before in counted.places:
        after = get(revised, before.path)
        if after != before.value:
            yield replace(
                counted, rule="written", note=f"a share of {count(call.wanted, 'unit')}", value=after,
                answer=f"/revised{before.pointer}", places=(before,), writes=(before.pointer,),
            )  # fmt: skip
    yield from _divided(definition, call, revised)


def _written(view: "_View", call: Call, targets: Sequence[ScaleTarget], revised: Object) -> Iterator[Fact]:
    after = {(pods.component, pods.instance): pods.replicas for pods in pod_sets(view.definition, revised)}
    for scale in chain.from_iterable(target.scales for target in targets):
        pods, component = scale.pod_set, scale.places.component
        for field, query, location in (
            ("replicasPath", component.replicas, scale.replicas),
            ("minReplicasPath", component.min_replicas, scale.minimum),
            ("maxReplicasPath", component.max_replicas, scale.maximum),
        ):
            if location is None or get(revised, location.path) == get(call.object, location.path):
                continue
            before = place_at(location.path, call.object)
            note = f"{pods.name} gets {count(after.get((pods.component, pods.instance), 0), 'pod')}"
            yield view.fact(
                pods, f"scaleDefinition.{field}", query, rule="written", note=note, value=get(revised, location.path),
                answer=f"/revised{before.pointer}", places=(before,), writes=(before.pointer,),
            )  # fmt: skip


def _divided(definition: Definition, call: Call, revised: Object) -> Iterator[Fact]:
    for rule, path, share, note in shares(definition, call.object, revised):
        before = place_at(path, call.object)
        yield Fact(
            "divided", note, share, f"/revised{before.pointer}", field=annotation_field("divided"),
            expression=rule.value.text, places=(before,), writes=(before.pointer,),
        )  # fmt: skip
    if revised is call.object:
        units = "units" if definition.annotations.unit else "pods"
        has = "these components" if call.replicas is None else f"{call.replicas} {units}"
        yield Fact("unchanged", f"the object has {has} already")


def _why_elastic(definition: Definition, number: int, scale: ScaleLocation, *, is_elastic: bool, moves: bool) -> str:
    annotations, pods = definition.annotations, scale.pod_set
    if annotations.is_indivisible:
        return f"{annotation_field('elastic')} is none, so it stays"
    if annotations.elastic is not None:
        is_whole = pods.component in annotations.elastic or not annotations.is_elastic(pods.component)
        named = pods.component if is_whole else f"{pods.component}/{pods.instance}"
        rule = f"{annotation_field('elastic')} {'names' if is_elastic else 'does not name'} {named}"
    elif number == 1:
        rule = "it is the only pod set"
    elif is_elastic:
        rule = "it has bounds or more than one pod"
    else:
        rule = "others have bounds, or it is a single pod"
    match is_elastic, moves:
        case True, True:
            return f"{rule}, so it can change"
        case True, False:
            return f"{rule}, but {why_fixed(scale.places.component)}"
        case False, True:
            return f"{rule}; it moves along"
    return f"{rule}; it stays"


class _View:
    """The expressions of a definition on an object, each evaluated once for all instances."""

    def __init__(self, definition: Definition, obj: Object) -> None:
        self.definition, self.object = definition, obj
        self._readings = cache(lambda query: readings(query, obj))
        self._components = {component.name: component for component in definition.components}
        self._positions = cache(self._positions_of)

    def _positions_of(self, component: str) -> dict[str, int]:
        ids = instance_ids(self._components[component], self.object)
        return {instance: position for position, instance in enumerate(ids)}

    def fact(self, pods: PodSet, field: str, query: Query | None, **fact: JSON) -> Fact:
        """Return a fact about an expression for a pod set."""
        return about(self.definition, self._components[pods.component], field, query, instance=pods.instance, **fact)

    def named(self, pods: PodSet, answer: str) -> Fact:
        """Return the fact about the name of a pod set."""
        query = self._components[pods.component].instance_ids
        reading = self._reading(pods, query)
        source = "the id of the instance" if pods.instance else "the name of the component"
        if pods.name not in {pods.instance, pods.component}:
            source = f"{source}, made unique and short"
        return self.fact(
            pods, "instanceIdPath" if query else "name", query, rule="name", note=f"{pods.name}: {source}",
            value=pods.name, answer=answer, places=reading.places if reading else (),
        )  # fmt: skip

    def facts(self, pods: PodSet, counted: str, required: str, options: Options) -> Iterator[Fact]:
        """Yield the count of a pod set, its template, and the requests of one of its pods."""
        yield self.counted(pods, counted)
        component, base = self._components[pods.component], None
        for field, query in pod_queries(component).items():
            reading = self._reading(pods, query)
            if reading is None or reading.value is None:
                continue
            yield self.fact(
                pods, field, query, rule="pods", note=f"{pods.name}: {reading.source}", places=reading.places
            )
            if base is None and reading.location and reading.location.is_plain:
                base = reading.location.path
                if not isinstance(component.pods, PodSpec):
                    base = (*base, "spec")
        # A pod made of pieces has no spec in the object, so its requests have no places.
        if isinstance(component.pods, Fragments):
            base = None
        devices = [*device_requests(self.definition, pods.template)]
        requires = counted_requirements(self.definition, pods.template, options.pod_requests).to_json() or {}
        for resource, amount in requires.get("resourceRequest", {}).items():
            yield self._request(pods, base, devices, resource, amount, f"{required}/resourceRequest")
        for request in devices:
            if request.is_known and not request.amount:
                note = f"{pods.name}: {request.claim} counts nothing: {request.why}"
                yield self.fact(pods, next(iter(pod_queries(component))), None, rule="claim", note=note)

    def counted(self, pods: PodSet, answer: str) -> Fact:
        """Return the fact about the count of a pod set, by the first expression that gives a number."""
        component = self._components[pods.component]
        places: tuple[Place, ...] = ()
        for field, query in (("replicasPath", component.replicas), ("minReplicasPath", component.min_replicas)):
            reading = self._reading(pods, query)
            if reading is None:
                continue
            places += reading.places
            if reading.value is not None:
                back = "" if reading.writes else "; no field to write another count to"
                return self.fact(
                    pods, f"scaleDefinition.{field}", query, rule="count", note=f"{pods.name}: {reading.source}{back}",
                    value=pods.replicas, answer=answer, places=places, writes=reading.writes,
                )  # fmt: skip
        why = "no count is in the object" if component.count else "the definition has no count for it"
        return self.fact(
            pods, "scaleDefinition", component.count, rule="count", value=pods.replicas, answer=answer, places=places,
            note=f"{pods.name}: {why}, which means {pods.replicas}", writes=tuple(read.pointer for read in places[:1]),
        )  # fmt: skip

    def _reading(self, pods: PodSet, query: Query | None) -> Reading | None:
        if query is None:
            return None
        outputs, position = self._readings(query), self._positions(pods.component)[pods.instance]
        return outputs[position] if position < len(outputs) else None

    def _request(
        self,
        pods: PodSet,
        base: Path | None,
        devices: Sequence[DeviceRequest],
        resource: str,
        amount: JSON,
        answer: str,
    ) -> Fact:
        """Return which containers request a resource. Its place is known if the whole pod spec is in the object."""
        places, notes = list[Place](), list[str]()
        for path, note in (*_asking(pods.template["spec"], resource), *_claiming(devices, resource)):
            if base is None:
                notes.append(note)
                continue
            source = place_at((*base, *path), self.object)
            if source.exists:
                places.append(source)
                notes.append(note)
            else:
                notes.append(f"{note} ({annotation_field('added-containers')})")
        field = next(iter(pod_queries(self._components[pods.component])))
        note = f"{pods.name}: {resource} {amount} a pod, named by {', '.join(dict.fromkeys(notes))}"
        return self.fact(
            pods, field, None, rule="request", note=note, value=amount, places=tuple(places),
            answer=f"{answer}{json_pointer((resource,))}",
        )  # fmt: skip


def _asking(spec: Object, resource: str) -> Iterator[tuple[Path, str]]:
    owners: list[tuple[Path, JSON, str]] = []
    for group in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(group) or ()):
            owners.append(((group, index), container, get(container, ("name",), f"{group}[{index}]")))
    for path, owner, name in (*owners, ((), spec, "the pod itself")):
        for field, note in _AMOUNTS:
            if get(owner, ("resources", field, resource)) is not None:
                yield (*path, "resources", field, resource), f"{name}{note}"
                break
    if get(spec, ("overhead", resource)) is not None:
        yield ("overhead", resource), "overhead"


def _claiming(devices: Sequence[DeviceRequest], resource: str) -> Iterator[tuple[Path, str]]:
    for request in devices:
        if request.resource == resource:
            yield request.path, f"{request.claim} ({request.amount} of class {request.device_class})"
