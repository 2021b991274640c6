"""Chains of changes that people, webhooks and controllers make to objects of kinds with several pod sets."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

from karta_interpreter.base.errors import InterpretationError, QueryError, QueryRaisedError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation.pods import pod_sets, scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.engine.workload.writing import Direction, apply_actions
from tests.catalogue.entries import Entry, answers
from tests.catalogue.knowledge import knowing

_CHAIN = 12
"""After so many changes of one object the next object is taken."""


class _Change(NamedTuple):
    """An object after a change, and the pod sets whose counts may be other ones."""

    obj: Object
    moved: frozenset[str] = frozenset()


class Step(NamedTuple):
    """A change by its name, the object before it, and the components before and after it; None for an error."""

    law: str
    obj: Object
    change: _Change
    before: Any
    after: Any

    def violation(self, before: Any, after: Any, total: int | None = None) -> str:
        """Say what of the contract two answers break, to Karmada's eyes; nothing where they keep it.

        ``total`` is the answer to InterpretReplica after the change, if there is one.
        """
        if after is None:
            return f"{self.law}: there is an answer before and none after"
        if _without_counts(after) != _without_counts(before):
            return f"{self.law}: other names, order or requirements"
        counts = [(one["name"], one["replicas"], two["replicas"]) for one, two in zip(before, after, strict=True)]
        if not {name for name, old, new in counts if old != new} <= self.change.moved:
            return f"{self.law}: another count as well"
        if total is not None and total != sum(component["replicas"] for component in after):
            return f"{self.law}: InterpretReplica answers {total}, which is not the sum"
        return ""


def has_several_pod_sets(entry: Entry) -> bool:
    """Whether Karmada may see several components of a kind."""
    made = entry.definition
    if made is None or not answers(Operation.INTERPRET_COMPONENT, scripted=False)(entry):
        return False
    return len(made.leaves) > 1 or any(part.instance_ids for part in made.leaves)


def _without_counts(components: Any) -> JSON:
    return [{**component, "replicas": None} for component in components]


def components_of(definition: Definition, obj: Object) -> Any:
    """The components of an object, None for an error."""
    with suppress(InterpretationError):
        return interpret(knowing(definition, obj), Call(Operation.INTERPRET_COMPONENT, obj))["components"]
    return None


def steps(definition: Definition, objects: Sequence[Object], reported: Sequence[Object]) -> Iterator[Step]:
    """Yield the same chains of changes every time, without end; none where no object has components."""
    changes = _Changes(random.Random(definition.name), definition, reported)  # noqa: S311 - the same changes every time
    usable = [obj for obj in objects if components_of(definition, obj)]
    while usable:
        obj = changes.chance.choice(usable)
        before = components_of(definition, obj)
        for _ in range(_CHAIN):
            law = changes.chance.choice(_LAWS)
            change = law(changes, obj)
            after = change and components_of(definition, change.obj)
            if change and not (after is None and _is_refused(definition, change.obj)):
                yield Step(law.__name__, obj, change, before, after)
                obj, before = change.obj, after


def _is_refused(definition: Definition, obj: Object) -> bool:
    """Whether the definition refuses an object in words of its own, as the admission webhook of the kind does."""
    try:
        pod_sets(knowing(definition, obj), obj)
    except InterpretationError as error:
        return isinstance(error.__cause__, QueryRaisedError)
    return False


_POD_DEFAULTS = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {}}
_CONTAINER_DEFAULTS = {"imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File", "resources": {}}


class _Changes(NamedTuple):
    """What happens to objects of a kind, each by chance."""

    chance: random.Random
    definition: Definition
    reported: Sequence[Object]

    def scale(self, obj: Object) -> _Change | None:
        """One number in the object is another one: all pod sets that have it for their count may move."""
        scales = [scale for scale in scale_locations(knowing(self.definition, obj), obj) if scale.count]
        if not scales:
            return None
        place = self.chance.choice(scales).count
        assert place
        number: JSON = self.chance.randrange(9)
        scaled = edit.set_value(obj, place.path, str(number) if isinstance(place.raw(obj), str) else number)
        moved = {scale.pod_set.name for scale in scales if scale.count and scale.count.path == place.path}
        return _Change(scaled, frozenset(moved))

    def status(self, obj: Object) -> _Change:
        """A controller reports something else."""
        return _Change({**obj, "status": self.chance.choice([{}, *self.reported])})

    def metadata(self, obj: Object) -> _Change:
        """People, Karmada and an API server write into metadata."""
        chance, metadata = self.chance, obj.get("metadata") or {}
        texts = {chance.choice(["team", "policy.karmada.io/name", "example.io/a"]): chance.choice(["a", "b"])}
        place = chance.choice(["labels", "annotations"])
        written = {place: {**(metadata.get(place) or {}), **texts}, "generation": chance.randrange(9), "uid": "0"}
        return _Change({**obj, "metadata": {**metadata, **written, "creationTimestamp": None}})

    def suspension(self, obj: Object) -> _Change | None:
        """Somebody suspends or resumes the workload."""
        direction: Direction = self.chance.choice(["suspend", "resume"])
        return _Change(apply_actions(self.definition.components, direction, obj)) if self.definition.suspend else None

    def defaults(self, obj: Object) -> _Change:
        """CRDs and webhooks fill in counts, and the fields of pods for which Kubernetes has defaults."""
        places = [scale.count for scale in scale_locations(knowing(self.definition, obj), obj) if scale.count]
        obj = reduce(lambda changed, place: place.write_default(changed, place.default), places, obj)
        for component in self.definition.leaves:
            pods, below = component.pods, ("spec",) if isinstance(component.pods, PodTemplate) else ()
            if isinstance(pods, PodTemplate | PodSpec):
                with suppress(QueryError):  # its pods are computed
                    obj = reduce(_with_pod_defaults, [(*path, *below) for path in pods.query.paths(obj)], obj)
        return _Change(obj)

    def retention(self, obj: Object) -> _Change | None:
        """Retain gives the template what a member has, which has gone through changes of its own."""
        labels = edit.get(obj, ("metadata", "labels")) or {}
        if self.chance.random() < 0.5:
            obj = edit.set_value(obj, ("metadata", "labels"), {**labels, RETAIN_REPLICAS: "true"})
        member, moved = obj, frozenset[str]()
        for law in self.chance.sample(_LAWS[:-1], 2):
            change = law(self, member)
            if change and components_of(self.definition, change.obj):
                member, moved = change.obj, moved | change.moved
        with suppress(InterpretationError):
            call = Call(Operation.RETAIN, obj, observed=member)
            return _Change(interpret(knowing(self.definition, obj), call)["retained"], moved)
        return None


def _with_pod_defaults(obj: Object, path: Any) -> Any:
    spec = edit.get(obj, path)
    if not isinstance(spec, dict) or not isinstance(spec.get("containers"), list):
        return obj
    containers = [{**_CONTAINER_DEFAULTS, **each} for each in spec["containers"] if isinstance(each, dict)]
    return edit.set_value(obj, path, {**_POD_DEFAULTS, **spec, "containers": containers})


_LAWS: Sequence[Callable[[_Changes, Object], _Change | None]] = (
    _Changes.scale,
    _Changes.status,
    _Changes.metadata,
    _Changes.suspension,
    _Changes.defaults,
    _Changes.retention,
)
