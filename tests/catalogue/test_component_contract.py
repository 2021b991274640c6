"""InterpretComponent as a contract: Karmada compares the components before and after each change of an object.

A name that comes, goes or changes stops the propagation of a workload. So objects of the kinds with several pod sets
go through chains of changes. ``CHANGES=35000`` tries a million of them.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

import pytest

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.revise_components import set_components
from tests.catalogue.component_changes import components_of, has_several_pod_sets, steps
from tests.catalogue.component_splits import splits_of
from tests.catalogue.entries import applies, entries
from tests.catalogue.knowledge import knowing
from tests.support.examples import CHANGES, SWEEPS_ALL, few


@pytest.mark.slow
@applies(has_several_pod_sets)
def test_components_stay_the_same_but_for_a_count_that_changes(
    definition: Definition, objects: Sequence[Object], reported: Sequence[Object]
) -> None:
    tried = list(islice(steps(definition, objects, reported), CHANGES))
    assert len(tried) == CHANGES
    in_pods = definition.in_pods if definition.annotations.unit else definition
    for step in tried:
        total = None
        if definition.answers(Operation.INTERPRET_REPLICA) and step.after is not None:
            known = knowing(in_pods, step.change.obj)
            total = interpret(known, Call(Operation.INTERPRET_REPLICA, step.change.obj))["replica"]
        assert step.violation(step.before, step.after, total) == ""


_FIXED = {
    "AppWrapper": "counts are of objects inside of the object",
    "Elasticsearch": "not divided: its node sets hold data",
    "Experiment": "not divided: the trials of a search learn from each other",
    "JobFlow": "not divided: counts are in the JobTemplates that it refers to",
    "Kafka": "not divided: there is one of each part, and brokers hold data",
    "RoleBasedGroup": "not divided: the roles of a group serve together",
}
"""Kinds of whose components none can be set, and why."""

_FIXED_COMPONENTS = {
    ("InferenceService", "canary"),
    ("InferenceService", "worker"),
    ("LLMInferenceService", "tokenizer"),
    ("MiniCluster", "services"),
    ("NIMService", "epp"),
    ("RayCluster", "head"),
    ("RayJob", "head"),
    ("RayJob", "submitter"),
    ("RayService", "head"),
    ("SparkApplication", "driver"),
    ("SparkCluster", "master"),
    ("SparkConnect", "server"),
    ("TrainJob", "job"),
    ("TrainJob", "launcher"),
}
"""Components of a fixed number of pods, or of a number that follows from something other than a count."""


def _some(test: str) -> list[tuple[Definition, Sequence[Object]]]:
    """Return the kinds with several pod sets that a sweep asks about."""
    several = [(entry.definition, entry.objects) for entry in entries() if has_several_pod_sets(entry)]
    return [(made, objects) for made, objects in few(several, test) if made]


@pytest.mark.sweep
def test_counts_of_components_can_be_set() -> None:
    kinds, settable, fixed = set[str](), set[str](), set[tuple[str, str]]()
    for definition, objects in _some("settable"):
        kind = definition.gvk.kind
        set_ = {name for obj in objects for name in _set_each(definition, obj)}
        kinds.add(kind)
        settable |= {kind} if set_ else set()
        fixed |= {(kind, part.name) for part in definition.leaves if set_ and part.name not in set_}
    assert kinds - settable == _FIXED.keys() & (_FIXED.keys() if SWEEPS_ALL else kinds)
    assert fixed == {each for each in _FIXED_COMPONENTS if SWEEPS_ALL or each[0] in kinds}
    if SWEEPS_ALL:
        divided = {kind for kind in kinds if not _FIXED.get(kind, "").startswith("not divided")}
        assert len(settable) >= 0.95 * len(divided)


@applies(has_several_pod_sets)
def test_revised_components_are_those_that_were_asked_for(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in objects:
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            for split in splits_of(known, obj):
                present = components_of(known, obj)
                with suppress(InterpretationError):
                    revised = interpret(known, Call(Operation.REVISE_COMPONENTS, obj, components=split))["revised"]
                    found = {component["name"]: component["replicas"] for component in components_of(known, revised)}
                    assert found == dict(split)
                    is_same = found == {component["name"]: component["replicas"] for component in present}
                    assert (revised is obj) is is_same


@pytest.mark.sweep
def test_components_that_can_be_set_can_be_revised() -> None:
    """A split that counts of components can have is not refused."""
    several = _some("revised")
    fixed = {made.gvk.kind for made, objects in several if not _is_revised(made, objects)}
    kinds = _FIXED.keys() if SWEEPS_ALL else {made.gvk.kind for made, _ in several}
    assert fixed == _FIXED.keys() & kinds


def _is_revised(definition: Definition, objects: Sequence[Object]) -> bool:
    """Tell whether any split changes any of the objects."""
    for obj in objects:
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            for split in splits_of(known, obj):
                with suppress(InterpretationError):
                    call = Call(Operation.REVISE_COMPONENTS, obj, components=split)
                    if interpret(known, call)["revised"] is not obj:
                        return True
    return False


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
            found = {component["name"]: component["replicas"] for component in components_of(definition, revised)}
            assert found == {**present, **counts}
            yield scale.pod_set.component
