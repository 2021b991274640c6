"""What must hold for the operations that change an object, when template, member and reports have drifted apart."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from karta_interpreter.base.errors import InterpretationError, QueryError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.values import GVK, JSON, Object, Path
from karta_interpreter.definitions.karta.annotations import Immutable, Once
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import pod_sets, scale_locations
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.aggregate import ENDED_CONTAINERS
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS, is_queued, retain_steps
from tests.catalogue.entries import answers, applies, has_pods
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance.changed_calls import without_nulls
from tests.support.examples import EXAMPLES

_PAIRS = EXAMPLES * 3 // 2
_ROUNDS = EXAMPLES
_COUNTS = (0, 1, 2, 3, 5, 8)


def _drifted(chance: random.Random, obj: Object) -> Any:
    """The object after a few changes below its spec, of the kind that people and controllers make."""
    changed = _copied(obj)
    for _ in range(chance.randint(0, 4)):
        owners = [owner for owner in _containers(changed.get("spec")) if owner]
        if owners:
            _change(chance, chance.choice(owners))
    return changed


def _copied(value: Any) -> Any:
    """The same as deepcopy, for JSON and in a fifth of the time."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


def _change(chance: random.Random, owner: Any) -> None:
    key = chance.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
    value = owner[key]
    changes: list[Callable[[], Any]] = [lambda: owner.pop(key), lambda: owner.update({key: None})]
    if isinstance(owner, list):
        changes = [lambda: owner.pop(key), owner.reverse, lambda: owner.append(_another(value))]
    elif type(value) is int:
        changes += [lambda: owner.update({key: value + chance.randint(1, 3)}), lambda: owner.update({key: 0})]
    elif isinstance(value, bool):
        changes.append(lambda: owner.update({key: not value}))
    elif isinstance(value, dict):
        changes.append(lambda: owner.update({f"{key}-2": _copied(value)}))
    chance.choice(changes)()


def _another(value: Any) -> Any:
    """A second element of a list; no API server lets two containers have one name."""
    another = _copied(value)
    for named in (another, edit.get(another, ("template", "metadata"))):
        if isinstance(named, dict) and isinstance(named.get("name"), str):
            named["name"] += "-2"
    return another


def _pairs(definition: Definition, objects: Sequence[Object]) -> Iterator[tuple[Object, Object]]:
    """Templates, every other one of which leaves its counts to the members, and objects of members."""
    chance = random.Random(definition.name)  # noqa: S311 - the same pairs every time
    usable = [obj for obj in objects if not has_pods(definition) or _instances(definition, obj)]
    for round_ in range(_PAIRS if usable else 0):
        obj = chance.choice(usable)
        desired = _drifted(chance, obj)
        if round_ % 2:
            labels = edit.get(desired, ("metadata", "labels")) or {}
            desired = edit.set_value(desired, ("metadata", "labels"), {**labels, RETAIN_REPLICAS: "true"})
        yield desired, _drifted(chance, chance.choice([obj, obj, chance.choice(usable)]))


def _retained(definition: Definition, desired: Object, observed: Object) -> JSON:
    """The answer, None for an error."""
    with suppress(InterpretationError):
        call = Call(Operation.RETAIN, desired, observed=observed)
        return interpret(knowing(definition, desired), call)["retained"]
    return None


def _instances(definition: Definition, obj: Object) -> list[tuple[str, str]] | None:
    """Return the pod sets, None if they cannot be read, which a member's values may repair."""
    with suppress(InterpretationError):
        return [(pods.component, pods.instance) for pods in pod_sets(knowing(definition, obj), obj)]
    return None


_FILLED_IN = {
    GVK("milvus.io", "v1beta1", "Milvus"): "the mode that the operator has filled in tells which components there are",
    **{
        GVK("kubevirt.io", version, "VirtualMachine"): "a template without a domain, which is refused, gets one"
        for version in ("v1", "v1alpha3")
    },
    GVK("kubevirt.io", "v1", "VirtualMachineInstance"): "likewise",
}
"""Kinds whose members keep what makes pod sets."""
_IN_STEPS = {
    **{
        GVK("apps.kruise.io", version, "CloneSet"): "Karmada adds the note of a list that went out to the template"
        for version in ("v1alpha1", "v1beta1")
    },
    GVK("", "v1", "Pod"): "an update makes an object of another template one of this template",
    GVK("batch", "v1", "Job"): "likewise",
    GVK("batch", "v1", "CronJob"): "a container without a name gets the image of the one that an image trigger names",
    GVK("milvus.io", "v1beta1", "Milvus"): "sections that the operator adds or takes out depend on the member's mode",
    GVK("sparkoperator.k8s.io", "v1beta2", "SparkApplication"): "a template that suspends ends what a queue has added",
}
"""Kinds in which an update changes what is the member's after it."""


def _applied(retained: Object, observed: Object) -> Object:
    """Return a member's object after an update.

    The API server keeps its status and the managers of its fields, and Karmada its labels and annotations.
    """
    theirs, ours = (edit.get(each, ("metadata",)) for each in (observed, retained))
    maps = {
        field: (edit.get(theirs, (field,)) or {}) | without_nulls(edit.get(ours, (field,)) or {})
        for field in ("labels", "annotations")
    }
    kept = {"managedFields": edit.get(theirs, ("managedFields",))}
    return {**retained, "status": observed.get("status"), "metadata": {**(ours or {}), **maps, **kept}}


# Scripts have cases of their own, and lose nulls.
@applies(answers(Operation.RETAIN, scripted=False))
def test_retain(definition: Definition, objects: Sequence[Object]) -> None:
    compared = 0
    for desired, observed in _pairs(definition, objects):
        retained = _retained(definition, desired, observed)
        twice = None if retained is None else _retained(definition, retained, observed)
        if twice is None:  # nothing can be told of the template, or of what the member has there
            continue
        compared += 1
        assert twice == retained, "twice is once"
        if definition.gvk not in _IN_STEPS:
            applied = _applied(retained, observed)
            assert _retained(definition, desired, applied) == retained, "what was applied is stable"
        if definition.gvk not in _FILLED_IN:
            _assert_pod_sets_stay(definition, desired, observed)
        allowed = _retainable(definition, desired, retained)
        for change in diff(desired, retained):
            place = _path(change["path"])
            before = edit.get(desired, place)
            assert any(place[: len(each)] == each or each[: len(place)] == place for each in allowed), place
            noted = any(isinstance(each, Once) for each in definition.annotations.retained)
            is_note = noted and place == ("metadata", "annotations")  # the last annotation goes with its map
            if not is_note and not any(place[: len(each)] == each for each in _listed(definition, retained)):
                left = edit.get(desired, ("metadata", "labels", RETAIN_REPLICAS)) == "true"
                assert before is None or (left and change["op"] == "replace"), f"{place} was set in the template"
    assert compared


def _assert_pod_sets_stay(definition: Definition, desired: Object, observed: Object) -> None:
    """Fail if a step adds or takes away a pod set. What nobody changes in a member may bring those of the member."""
    before = desired
    for step, after in retain_steps(knowing(definition, desired), desired, observed):
        if after is not before and (instances := _instances(definition, before)) is not None:
            now = _instances(definition, after)
            if isinstance(step, Immutable):
                theirs = _instances(definition, observed)
                assert now is None or theirs is None or {*now} <= {*instances, *theirs}, step
            else:
                assert now in (instances, None), f"no pod set comes or goes: {step}"
        before = after


def _retainable(definition: Definition, desired: Object, retained: Object) -> list[Path]:
    switches = [action.path for part in definition.components for action in (*part.suspend, *part.resume)]
    found = [path for query in switches for path in query.paths(retained)]
    found += _listed(definition, retained)
    for obj in (desired, retained):
        with suppress(InterpretationError):
            found += _counts(definition, obj)
    return found


def _listed(definition: Definition, retained: Object) -> list[Path]:
    return [
        *(path for each in definition.annotations.retained for path in each.place.paths(retained)),
        *(("metadata", "annotations", each.note) for each in definition.annotations.retained if isinstance(each, Once)),
        *(_queued(definition, retained) if is_queued(definition, retained) else ()),
    ]


def _queued(definition: Definition, retained: Object) -> Iterator[Path]:
    for part in definition.components:
        for action in (*part.suspend, *part.resume):
            yield from action.path.paths(retained)
    for fields in definition.queued:
        with suppress(InterpretationError):  # of pods that cannot be read a queue's fields have no place
            yield from (path for path in fields.query.known_paths(retained) if path is not None)


def _counts(definition: Definition, obj: Object) -> list[Path]:
    scales = scale_locations(knowing(definition, obj), obj)
    places = (place for scale in scales for place in (scale.replicas, scale.minimum, scale.maximum))
    return [place.path for place in places if place is not None]


def _divided(definition: Definition, obj: Object) -> list[Path]:
    """The places of the numbers that follow counts."""
    rules = definition.annotations.divided
    return [path for rule in rules for path in rule.value.known_paths(obj) if path is not None]


def _path(pointer: str) -> Path:
    """The place that a pointer of a patch means; elements are told by number."""
    steps = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    return tuple(int(step) if step.isdigit() else step for step in steps)


@applies(answers(Operation.REVISE_REPLICA, Operation.INTERPRET_REPLICA, scripted=False))
def test_revise_replica(definition: Definition, objects: Sequence[Object]) -> None:
    compared = 0
    for obj, _ in _pairs(definition, objects):
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            today = interpret(known, Call(Operation.INTERPRET_REPLICA, obj))["replica"]
            same = interpret(known, Call(Operation.REVISE_REPLICA, obj, replicas=today))["revised"]
            assert interpret(known, Call(Operation.INTERPRET_REPLICA, same))["replica"] == today
            assert interpret(known, Call(Operation.REVISE_REPLICA, same, replicas=today))["revised"] is same
            _assert_only_counts_change(known, obj, same)
            for count in _COUNTS:
                with suppress(InterpretationError):
                    revised = interpret(known, Call(Operation.REVISE_REPLICA, obj, replicas=count))["revised"]
                    assert interpret(known, Call(Operation.INTERPRET_REPLICA, revised))["replica"] == count
                    _assert_only_counts_change(known, obj, revised)
                    compared += 1
    assert compared


def _assert_only_counts_change(definition: Definition, obj: Object, revised: Object) -> None:
    counts = [*_counts(definition, obj)]
    if definition.in_units:
        counts += _counts(definition.in_units, obj)
    counts += [path for rule in definition.annotations.divided for path in rule.value.paths(obj)]
    for change in diff(obj, revised):
        place, now = _path(change["path"]), change["value"]
        before = edit.get(obj, place)
        if before is None:  # it may be the parent of a count that is created with it
            assert any(each[: len(place)] == place for each in counts), place
        else:
            assert place in (*counts, *_divided(definition, obj))
            assert type(now) is type(before), "a number stays a number, and a text a text"


@applies(lambda entry: entry.reported and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry))
def test_aggregate_status(definition: Definition, objects: Sequence[Object], reported: Sequence[Object]) -> None:
    chance = random.Random(definition.name)  # noqa: S311 - the same reports every time
    compared = 0
    for _ in range(_ROUNDS):
        template = _template(chance, definition, objects, reported)
        items = [_item(chance, f"member{index}", reported) for index in range(chance.randint(0, 4))]
        once = _aggregated(definition, template, items)
        assert _aggregated(definition, template, chance.sample(items, len(items))) == once, "in any order"
        if once is None:
            continue
        compared += 1
        assert {**once, "status": None} == {**template, "status": None}, "nothing else changes"
        # A container that is back after its end is left out once.
        settled = _aggregated(definition, once, items) if definition.gvk in ENDED_CONTAINERS else once
        assert _aggregated(definition, settled, items) is settled, "Karmada asks again after every change"
        if items and not any(item.status for item in items):
            assert once is template
        elif not items and once is not template:
            announced = definition.annotations.outcomes.values()
            assert {one["type"] for one in _conditions(once)} <= {*announced}, "no cluster holds any"
    assert compared


@applies(
    lambda entry: (
        entry.reported
        and entry.definition
        and entry.definition.annotations.observes_generation
        and answers(Operation.AGGREGATE_STATUS, scripted=False)(entry)
    )
)
def test_generation_is_observed_if_all_clusters_are_in_step(definition: Definition, reported: Sequence[Object]) -> None:
    metadata = {"name": "a", "generation": 3}
    template = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": metadata}
    in_step = {"observedGeneration": 7, "generation": 7, "resourceTemplateGeneration": 3}
    behind = [{"observedGeneration": 6}, {"generation": 8}, {"resourceTemplateGeneration": 2}]
    for status in reported:
        told = [{**status, **in_step, **more} for more in ({}, *behind)]
        observed = [
            _aggregated(definition, template, [StatusItem("member1", told[0]), StatusItem("member2", other)])
            for other in told
        ]
        assert [edit.get(one, ("status", "observedGeneration")) for one in observed] == [3, None, None, None]
        assert not any(edit.get(one, ("status", "resourceTemplateGeneration")) for one in observed)


def _conditions(obj: Object) -> list[Object]:
    return edit.get(obj, ("status", "conditions")) or []


def _template(
    chance: random.Random, definition: Definition, objects: Sequence[Object], reported: Sequence[Object]
) -> Any:
    """A template with a status of its own, from other clusters than those that report now."""
    found: Any = dict(chance.choice([obj for obj in objects if isinstance(obj.get("metadata"), dict)]))
    found["metadata"] = {**found["metadata"], "generation": 3}
    found.pop("status", None)
    with suppress(InterpretationError, QueryError):
        items = (_item(chance, "gone", reported), _item(chance, "other", reported))
        found = interpret(definition, Call(Operation.AGGREGATE_STATUS, found, items=items))["aggregatedStatus"]
    return found


def _item(chance: random.Random, cluster: str, reported: Sequence[Object]) -> StatusItem:
    """What a cluster may say: nothing, something old, or something that is not of the present object."""
    status: Any = chance.choice([None, {}, *reported[:20], chance.choice(reported)])
    if status and chance.random() < 0.5:
        times = (chance.randint(1, 3) for _ in range(3))
        names = ("observedGeneration", "generation", "resourceTemplateGeneration")
        status = {**status, **dict(zip(names, times, strict=True))}
    return StatusItem(cluster, status)


def _aggregated(definition: Definition, template: Object, items: Sequence[StatusItem]) -> Any:
    """The answer; None for an error, which may name one cluster or another."""
    with suppress(InterpretationError):
        call = Call(Operation.AGGREGATE_STATUS, template, items=tuple(items))
        return interpret(definition, call)["aggregatedStatus"]
    return None
