"""Explains which places of an object give pod sets, counts and requests, and where a new count is written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import CONTAINER_LISTS, JSON, Object, Path, get, json_pointer, pod_requirements
from karta_interpreter.definitions.karta import Definition, Fragments, PodSpec
from karta_interpreter.engine.evaluation import PodSet, ScaleLocation, instance_ids, pod_sets, scale_locations
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import Reading, about, annotation_field, place_at, pod_queries, readings
from karta_interpreter.engine.operations import Call, Options, Results
from karta_interpreter.engine.operations.apportion import ScaleTarget, scale_targets, why_fixed
from karta_interpreter.engine.operations.divided import shares
from karta_interpreter.engine.operations.interpret_replica import divisible_pod_sets
from karta_interpreter.engine.operations.revise_replica import elastic_pod_sets
from karta_interpreter.languages.jq import Query

_AMOUNTS = (("requests", ""), ("limits", ", the limit in place of a request that is not set"))


def replica_facts(definition: Definition, call: Call, options: Options, results: Results) -> Iterator[Fact]:
    """Yield how InterpretReplica finds its number and its requirements."""
    view = _View(definition, call.object)
    sets = divisible_pod_sets(definition, call.object)
    if results:
        nothing = "only the status counts the pods" if definition.is_counted_by_status else "no pod set"
        sum_text = " + ".join(f"{pods.name} {pods.replicas}" for pods in sets) or nothing
        yield Fact("total", f"{sum_text}, in all {results['replica']}", results["replica"], "/replica")
    for pods in sets:
        yield from view.facts(pods, "/replica", "/requires", options)
    for name, value in (results.get("requires") or {}).items():
        rule = _RULES.get(name, "option resource-quota-estimate")
        if len(sets) > 1 or name != "resourceRequest":
            yield Fact("requirement", f"{name}: {rule}", value, f"/requires/{name}")


_RULES = {
    "resourceRequest": "for each resource the largest request of the pod sets that have pods",
    "nodeClaim": "the same in all pod sets",
}


def component_facts(definition: Definition, call: Call, options: Options, _results: Results) -> Iterator[Fact]:
    """Yield how InterpretComponent finds each of its components."""
    view = _View(definition, call.object)
    for index, pods in enumerate(divisible_pod_sets(definition, call.object)):
        at = f"/components/{index}"
        yield from view.facts(pods, f"{at}/replicas", f"{at}/replicaRequirements", options)


def revision_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the counts that a revision may change, the reasons, and its writes with their places."""
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
        counted = view.counted(pods, "")
        yield replace(counted, rule="elastic" if moves else "fixed", note=note, writes=counted.writes if moves else ())
    if results:
        yield from _written(view, call, targets, results["revised"])


def _written(view: "_View", call: Call, targets: Sequence[ScaleTarget], revised: Object) -> Iterator[Fact]:
    after = {(pods.component, pods.instance): pods.replicas for pods in pod_sets(view.definition, revised)}
    for scale in (scale for target in targets for scale in target.scales):
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
    for rule, path, share, note in shares(view.definition, call.object, revised):
        before = place_at(path, call.object)
        yield Fact(
            "divided", note, share, f"/revised{before.pointer}", field=annotation_field("divided"),
            expression=rule.value.text, places=(before,), writes=(before.pointer,),
        )  # fmt: skip
    if revised is call.object:
        has = "these components" if call.replicas is None else f"{call.replicas} pods"
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
    else:
        rule = "it has bounds or more than one pod" if is_elastic else "others have bounds, or it is a single pod"
    if is_elastic and not moves:
        return f"{rule}, but {why_fixed(scale.places.component)}"
    return f"{rule}, so it can change" if is_elastic else f"{rule}; it {'moves along' if moves else 'stays'}"


class _View:
    """The expressions of a definition on an object, each evaluated once for all instances."""

    def __init__(self, definition: Definition, obj: Object) -> None:
        self.definition, self.object = definition, obj
        self._readings = cache(lambda query: readings(query, obj))
        self.component = cache(
            lambda name: next(candidate for candidate in definition.components if candidate.name == name)
        )
        self._positions = cache(
            lambda name: {instance: at for at, instance in enumerate(instance_ids(self.component(name), obj))}
        )

    def fact(self, pods: PodSet, field: str, query: Query | None, **fact: JSON) -> Fact:
        """Return a fact about an expression for a pod set."""
        return about(self.definition, self.component(pods.component), field, query, instance=pods.instance, **fact)

    def facts(self, pods: PodSet, counted: str, required: str, options: Options) -> Iterator[Fact]:
        """Yield the count of a pod set, its template, and the requests of one of its pods."""
        yield self.counted(pods, counted)
        component, base = self.component(pods.component), None
        for field, query in pod_queries(component).items():
            reading = self._reading(pods, query)
            if reading is None or reading.value is None:
                continue
            yield self.fact(
                pods, field, query, rule="pods", note=f"{pods.name}: {reading.source}", places=reading.places
            )
            if base is None and reading.location and reading.location.is_plain:
                base = (
                    reading.location.path if isinstance(component.pods, PodSpec) else (*reading.location.path, "spec")
                )
        # A pod made of pieces has no spec in the object, so its requests have no places.
        base = None if isinstance(component.pods, Fragments) else base
        requires = pod_requirements(pods.template, options.pod_requests).to_json() or {}
        for resource, amount in requires.get("resourceRequest", {}).items():
            yield self._request(pods, base, resource, amount, f"{required}/resourceRequest")

    def counted(self, pods: PodSet, answer: str) -> Fact:
        """Return the fact about the count of a pod set, by the first expression that gives a number."""
        component = self.component(pods.component)
        places: tuple[Place, ...] = ()
        for field, query in (("replicasPath", component.replicas), ("minReplicasPath", component.min_replicas)):
            reading = None if query is None else self._reading(pods, query)
            places += reading.places if reading else ()
            if reading is not None and reading.value is not None:
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

    def _reading(self, pods: PodSet, query: Query) -> Reading | None:
        outputs, position = self._readings(query), self._positions(pods.component)[pods.instance]
        return outputs[position] if position < len(outputs) else None

    def _request(self, pods: PodSet, base: Path | None, resource: str, amount: JSON, answer: str) -> Fact:
        """Return which containers request a resource. Its place is known if the whole pod spec is in the object."""
        places, notes = list[Place](), list[str]()
        for path, note in _asking(pods.template["spec"], resource):
            source = None if base is None else place_at((*base, *path), self.object)
            is_there = source is not None and source.exists
            places += [source] if source and is_there else []
            notes.append(note if is_there or base is None else f"{note} ({annotation_field('added-containers')})")
        field = next(iter(pod_queries(self.component(pods.component))))
        note = f"{pods.name}: {resource} {amount} a pod, named by {', '.join(dict.fromkeys(notes))}"
        return self.fact(
            pods, field, None, rule="request", note=note, value=amount, places=tuple(places),
            answer=f"{answer}{json_pointer((resource,))}",
        )  # fmt: skip


def _asking(spec: Object, resource: str) -> Iterator[tuple[Path, str]]:
    containers: list[tuple[Path, JSON, str]] = [
        ((group, index), container, get(container, ("name",), f"{group}[{index}]"))
        for group in CONTAINER_LISTS
        for index, container in enumerate(spec.get(group) or ())
    ]
    for path, owner, name in (*containers, ((), spec, "the pod itself")):
        for field, note in _AMOUNTS:
            if get(owner, ("resources", field, resource)) is not None:
                yield (*path, "resources", field, resource), f"{name}{note}"
                break
    if get(spec, ("overhead", resource)) is not None:
        yield ("overhead", resource), "overhead"
