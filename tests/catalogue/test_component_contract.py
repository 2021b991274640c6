"""InterpretComponent as a contract: Karmada compares the components before and after each change of an object.

A name that comes, goes or changes stops the propagation of a workload. So objects of the kinds with several pod sets
go through chains of changes that people, webhooks and controllers make. ``CHANGES=35000`` tries a million of them.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Any, NamedTuple

from karta_interpreter.base.errors import InterpretationError, QueryError, QueryRaisedError, WorkloadError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation.pods import pod_sets, scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.engine.workload.components import set_components
from karta_interpreter.engine.workload.writing import Direction, apply_actions
from tests.catalogue.entries import Entry, answers, applies, entries
from tests.catalogue.knowledge import knowing
from tests.support.examples import CHANGES

_CHAIN = 12
"""After so many changes of one object the next object is taken."""


class _Change(NamedTuple):
    """An object after a change, and the pod sets whose counts may be other ones."""

    obj: Object
    moved: frozenset[str] = frozenset()


def _has_several_pod_sets(entry: Entry) -> bool:
    made = entry.definition
    if made is None or not answers(Operation.INTERPRET_COMPONENT, scripted=False)(entry):
        return False
    return len(made.leaves) > 1 or any(part.instance_ids for part in made.leaves)


@applies(_has_several_pod_sets)
def test_components_stay_the_same_but_for_a_count_that_changes(
    definition: Definition, objects: Sequence[Object], reported: Sequence[Object]
) -> None:
    tried: dict[str, int] = {}
    for law, change, before, after in islice(_steps(definition, objects, reported), CHANGES):
        tried[law] = tried.get(law, 0) + 1
        assert after is not None, f"{law}: there is an answer before and none after"
        assert _without_counts(after) == _without_counts(before), f"{law}: other names, order or requirements"
        counts = [(one["name"], one["replicas"], two["replicas"]) for one, two in zip(before, after, strict=True)]
        assert {name for name, old, new in counts if old != new} <= change.moved, f"{law}: another count as well"
        if definition.answers(Operation.INTERPRET_REPLICA):
            total = interpret(knowing(definition, change.obj), Call(Operation.INTERPRET_REPLICA, change.obj))["replica"]
            assert total == sum(component["replicas"] for component in after)
    assert sum(tried.values()) == CHANGES


def _components(definition: Definition, obj: Object) -> Any:
    """The answer, None for an error."""
    with suppress(InterpretationError):
        return interpret(knowing(definition, obj), Call(Operation.INTERPRET_COMPONENT, obj))["components"]
    return None


def _without_counts(components: Any) -> JSON:
    return [{**component, "replicas": None} for component in components]


def _steps(
    definition: Definition, objects: Sequence[Object], reported: Sequence[Object]
) -> Iterator[tuple[str, _Change, Any, Any]]:
    """Yield the name of a change, what it makes of an object, and the components before and after it."""
    changes = _Changes(random.Random(definition.name), definition, reported)  # noqa: S311 - the same changes every time
    usable = [obj for obj in objects if _components(definition, obj)]
    while usable:
        obj = changes.chance.choice(usable)
        before = _components(definition, obj)
        for _ in range(_CHAIN):
            law = changes.chance.choice(_LAWS)
            change = law(changes, obj)
            after = change and _components(definition, change.obj)
            if change and not (after is None and _is_refused(definition, change.obj)):
                yield law.__name__, change, before, after
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
        obj = reduce(lambda changed, place: place.write_default(changed), places, obj)
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
            if change and _components(self.definition, change.obj):
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


_FIXED = {
    "AppWrapper": "counts are of objects inside of the object",
    "Elasticsearch": "not divided: its node sets hold data",
    "JobFlow": "not divided: counts are in the JobTemplates that it refers to",
}
"""Kinds of whose components none can be set, and why."""

_FIXED_COMPONENTS = {
    ("InferenceService", "worker"),
    ("RayCluster", "head"),
    ("RayJob", "head"),
    ("RayJob", "submitter"),
    ("RayService", "head"),
    ("SparkApplication", "driver"),
    ("TrainJob", "job"),
    ("TrainJob", "launcher"),
}
"""Components of a fixed number of pods, or of a number that follows from something other than a count."""


def test_counts_of_components_can_be_set() -> None:
    settable, fixed = set[str](), set[tuple[str, str]]()
    for entry in filter(_has_several_pod_sets, entries()):
        assert entry.definition
        kind = entry.definition.gvk.kind
        set_ = {name for obj in entry.objects for name in _set_each(entry.definition, obj)}
        settable |= {kind} if set_ else set()
        fixed |= {(kind, part.name) for part in entry.definition.leaves if set_ and part.name not in set_}
    kinds = {entry.definition.gvk.kind for entry in entries() if entry.definition and _has_several_pod_sets(entry)}
    assert kinds - settable == _FIXED.keys()
    divided = {kind for kind in kinds if not _FIXED.get(kind, "").startswith("not divided")}
    assert len(settable) >= 0.95 * len(divided)
    assert fixed == _FIXED_COMPONENTS


def _set_each(definition: Definition, obj: Object) -> Iterator[str]:
    """Set every component to another count, together with those that share its field; yield what could be set."""
    known = knowing(definition, obj)
    try:
        scales = scale_locations(known, obj)
    except InterpretationError:
        return
    present = {scale.pod_set.name: scale.pod_set.replicas for scale in scales}
    for scale in scales:
        place = scale.count
        if place is None or not place.factor:
            continue
        sharing = [each for each in scales if each.count and each.count.path == place.path]
        units = scale.pod_set.replicas // place.factor + 1
        counts = {each.pod_set.name: units * each.count.factor for each in sharing if each.count}
        with suppress(WorkloadError, InterpretationError):
            revised = set_components(known, obj, counts)
            found = {component["name"]: component["replicas"] for component in _components(definition, revised)}
            assert found == {**present, **counts}
            yield scale.pod_set.component
