"""What we write or export survives our own Retain next to a member in the other state, as Karmada overrides first."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError, InterpreterError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.fields import label
from karta_interpreter.base.k8s.patch import diff
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.annotations import Retained
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.fights.rounds import differences
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS, is_queued, kept_as_it_runs
from karta_interpreter.engine.workload import Karta, Workload
from karta_interpreter.languages.jq import Query
from tests.catalogue.entries import answers, applies
from tests.catalogue.knowledge import knowing

_SCALED: Final = {
    GVK("kubeflow.org", "v1", "PyTorchJob"): ("spec", "elasticPolicy", "metrics"),
    GVK("nvidia.com", "v1alpha1", "DynamoGraphDeployment"): ("spec", "services"),
    GVK("nvidia.com", "v1beta1", "DynamoGraphDeployment"): ("spec", "components"),
    GVK("ray.io", "v1", "RayCluster"): ("spec", "enableInTreeAutoscaling"),
    GVK("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup"): ("spec", "roles"),
}
"""Where objects configure an autoscaler, whose counts docs/operations.md gives to the member."""

_LARGEST: Final = {
    # The controller sets back what is larger (disallowScale in controllers/flux/scale.go of Flux Operator 0.2).
    GVK("flux-framework.org", "v1alpha2", "MiniCluster"): (("spec", "size"), ("status", "maximumSize")),
}
"""The count of a kind and the largest one that its member can ever have, which its status tells."""

_RETAINS = answers(Operation.RETAIN, scripted=False)
_COUNTS = answers(Operation.RETAIN, Operation.REVISE_REPLICA, Operation.INTERPRET_REPLICA, scripted=False)


def _retained(definition: Definition, desired: Object, observed: Object) -> Object:
    call = Call(Operation.RETAIN, desired, observed=observed)
    retained: Object = interpret(knowing(definition, desired), call)["retained"]
    return retained


def _is_owned(definition: Definition, direction: str, member: Object) -> bool:
    """Return whether a switch belongs to the member for now, as Harvester's of a machine without quota."""
    switches = {path for action in getattr(definition, direction) for path in _paths(action.path, member)}
    owned = [
        rule.place for rule in definition.annotations.retained if isinstance(rule, Retained) and _holds(rule, member)
    ]
    return any(_paths(place, member) & switches for place in owned)


def _holds(rule: Retained, member: Object) -> bool:
    return rule.condition is not None and rule.condition.first(member) is True


def _paths(query: Query, obj: Object) -> set[tuple[str | int, ...]]:
    return {location.path for location in query.locate_each(obj) if location}


@applies(lambda entry: _RETAINS(entry) and entry.definition and entry.definition.suspend)
def test_switch_that_template_sets_survives_retain(definition: Definition, objects: Sequence[Object]) -> None:
    compared = 0
    for obj in objects:
        with suppress(InterpreterError):  # an object that cannot be switched
            workload = Workload(Karta(definition), obj)
            states: dict[str, Object] = {"suspend": workload.suspend().object, "resume": workload.resume().object}
            _retained(definition, obj, obj)
            for direction, ours in states.items():
                (theirs,) = (state for other, state in states.items() if other != direction)
                compared += _survives(definition, direction, obj, ours, theirs)
    assert compared


def _survives(definition: Definition, direction: str, obj: Object, ours: Object, theirs: Object) -> bool:
    """Fail if the other state of the member undoes the patches of a direction. Return False without any."""
    patches = diff(obj, ours)
    if is_queued(definition, obj) or _is_owned(definition, direction, theirs):
        return False
    switches = [action.path for action in getattr(definition, direction)]
    retained = _retained(definition, ours, theirs)
    assert [path.evaluate(retained) for path in switches] == [path.evaluate(ours) for path in switches], ours
    return bool(patches)


@applies(_COUNTS)
def test_revised_count_survives_retain(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in (each for each in objects if not _is_left(definition, each)):
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            # What is today's count by a default is not written, so the template gets another one first.
            few, many = (_revised(known, _revised(known, obj, 18), count) for count in (6, 12))
            for ours, theirs in ((few, many), (many, few)):
                retained = _retained(definition, ours, theirs)
                assert _count(known, retained) == _count(known, _surviving(known, ours, theirs)), obj


def _surviving(definition: Definition, ours: Object, theirs: Object) -> Object:
    """Return the object whose counts Retain gives: the member's where its operator refuses another share."""
    return theirs if any(kept_as_it_runs(definition, ours, theirs)) else ours


def _count(definition: Definition, obj: Object) -> int:
    count: int = interpret(definition, Call(Operation.INTERPRET_REPLICA, obj))["replica"]
    return count


def _is_reached(definition: Definition, obj: Object) -> bool:
    """Return whether a member can have the count of an object."""
    count, largest = (edit.get(obj, path) for path in _LARGEST.get(definition.gvk, ()) or ((), ()))
    return not (isinstance(count, int) and isinstance(largest, int) and count > largest > 0)


def _revised(definition: Definition, obj: Object, count: int) -> Object:
    revised: Object = interpret(definition, Call(Operation.REVISE_REPLICA, obj, replicas=count))["revised"]
    return revised


_UNGATHERED: Final = {
    # One that has its limit from a WorkflowTemplate.
    GVK("argoproj.io", "v1alpha1", "Workflow"),
    GVK("flink.apache.org", "v1beta1", "FlinkBlueGreenDeployment"),
    GVK("flink.apache.org", "v1beta1", "FlinkDeployment"),
    GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"),
}
"""The kinds that stay with a part of their pods, by the reasons of their facts."""


@applies(_COUNTS)
def test_default_count_survives_retain(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in (each for each in objects if not _is_left(definition, each)):
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            ours, theirs = _revised(known, obj, _count(known, obj)), _revised(known, obj, 12)
            retained = _retained(definition, ours, theirs)
            is_kept = _count(known, retained) == _count(known, _surviving(known, ours, theirs))
            unwritten = facts_of(definition.gvk).differences.unwritten
            fields = {*unwritten.fields} if unwritten else set()
            assert is_kept or {each.field for each in differences(ours, retained)} <= fields, obj


@applies(lambda entry: _COUNTS(entry) and entry.definition and entry.definition.gvk not in _UNGATHERED)
def test_whole_survives_retain_beside_part(definition: Definition, objects: Sequence[Object]) -> None:
    """A cluster that had a part of the pods, and gets those of a cluster that is gone, has all of them."""
    for obj in (each for each in objects if not _is_left(definition, each) and _is_reached(definition, each)):
        known = knowing(definition, obj)
        with suppress(InterpretationError):
            today = _count(known, obj)
            whole = _revised(known, obj, today)
            for count in {1, today // 2, today - 1} & {*range(1, today)}:
                with suppress(InterpretationError):  # a number that the kind cannot have
                    part = _revised(known, obj, count)
                    retained = _retained(definition, whole, part)
                    assert _count(known, retained) == _count(known, _surviving(known, whole, part)), obj


@applies(answers(Operation.RETAIN, Operation.INTERPRET_COMPONENT, scripted=False))
def test_components_that_are_set_survive_retain(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in (each for each in objects if not _is_left(definition, each)):
        with suppress(InterpreterError):
            names = (name for name in _components(definition, obj) if _set(definition, obj, name, 18) is not obj)
            name = next(names, "")
            few, many = (_set(definition, _set(definition, obj, name, 18), name, count) for count in (6, 12))
            for ours, theirs in ((few, many), (many, few)):
                retained = _retained(definition, ours, theirs)
                surviving = _surviving(knowing(definition, ours), ours, theirs)
                assert _components(definition, retained) == _components(definition, surviving), obj


def _set(definition: Definition, obj: Object, name: str, count: int) -> Object:
    """Return the object with a count of a component; the same where it cannot have it."""
    with suppress(InterpreterError):
        return Workload(Karta(definition), obj).set_components({name: count}).object
    return obj


def _components(definition: Definition, obj: Object) -> dict[str, int]:
    components = interpret(knowing(definition, obj), Call(Operation.INTERPRET_COMPONENT, obj))["components"] or ()
    return {each["name"]: each["replicas"] for each in components}


def _is_left(definition: Definition, obj: Object) -> bool:
    """Return whether the template leaves counts to the members: to an autoscaler, or to a queue."""
    autoscaler = _SCALED.get(definition.gvk)
    is_scaled = label(obj, RETAIN_REPLICAS) == "true" or (autoscaler and edit.get(obj, autoscaler) not in (None, False))
    return bool(is_scaled) or is_queued(definition, obj)
