"""Kinds that have a number of pods and no pods, such as an autoscaler with its minimum, and their exported scripts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from karta_interpreter.base.errors import InterpretationError, LuaRunError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.registered.operations import operations_for
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.support.rows import rows
from tests.support.scripts import answer

_SUM = ".spec.minHands // ([.spec.crews[]? | .minHands // 0] | add)"
_CREWS = {"crews": [{"name": "light", "minHands": 2}, {"name": "sound", "minHands": 3}]}
_KEEPS = {"resourcetemplate.karmada.io/retain-replicas": "true"}


def _defined(annotations: Mapping[str, str] = MappingProxyType({}), **scale: Any) -> Definition:
    kind = {"group": "stage.example.com", "version": "v1", "kind": "CrewCall"}
    status = yaml.safe_load("{phaseDefinition: {path: .status.phase}, statusMappings: {running: [{byPhase: Running}]}}")
    root = {"name": "crewcall", "kind": kind, "statusDefinition": status, "scaleDefinition": scale}
    metadata = {
        "name": "crewcall",
        "annotations": {f"karta-interpreter.io/{name}": text for name, text in annotations.items()},
    }
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": metadata}
    return load_definition({**karta, "spec": {"structureDefinition": {"rootComponent": root}}})


def _object(spec: Any, labels: dict[str, str] | None = None) -> Any:
    metadata = {"name": "opening", "namespace": "stage", **({"labels": labels} if labels else {})}
    return {"apiVersion": "stage.example.com/v1", "kind": "CrewCall", "metadata": metadata, "spec": spec}


def _answer(definition: Definition, call: Call, **second: Any) -> Any:
    """Return the answer that a definition and its script agree about. None for an error of both."""
    script = Script(call.operation, script_of(definition, call.operation), "crewcall")
    try:
        expected = interpret(definition, call)
    except InterpretationError:
        with pytest.raises(LuaRunError):
            answer([script], object=call.object, **second)
        return None
    assert answer([script], object=call.object, **second) == expected
    return expected


@rows(
    ("scale", "spec", "replicas"),
    [
        pytest.param({"replicasPath": ".spec.minReplicas"}, {"minReplicas": 6, "maxReplicas": 20}, 6, id="a minimum"),
        pytest.param({"minReplicasPath": ".spec.minReplicas"}, {"minReplicas": 6}, 6, id="a minimum by its own path"),
        pytest.param({"replicasPath": ".spec.minReplicas"}, {"maxReplicas": 20}, 1, id="unset: the default of Karmada"),
        pytest.param({"replicasPath": _SUM}, _CREWS, 5, id="the sum of a group"),
        pytest.param({"replicasPath": _SUM}, {**_CREWS, "minHands": 9}, 9, id="a number before the sum"),
        pytest.param({"replicasPath": ".spec.minReplicas"}, {"minReplicas": "many"}, None, id="not a number"),
    ],
)
def test_count_without_pods_is_answered_without_requests(
    scale: dict[str, Any], spec: Any, replicas: int | None
) -> None:
    found = _answer(_defined(**scale), Call(Operation.INTERPRET_REPLICA, _object(spec)))
    assert found == (None if replicas is None else {"replica": replicas, "requires": None})


@rows(
    ("scale", "spec", "revised"),
    [
        pytest.param({"replicasPath": ".spec.minReplicas"}, {"minReplicas": 6, "maxReplicas": 20},
            {"minReplicas": 3, "maxReplicas": 20}, id="a minimum"),
        pytest.param({"minReplicasPath": ".spec.minReplicas", "maxReplicasPath": ".spec.maxReplicas"},
            {"minReplicas": 1, "maxReplicas": 2}, {"minReplicas": 3, "maxReplicas": 3},
            id="a maximum that is lower is raised"),
        pytest.param({"replicasPath": _SUM}, _CREWS, {**_CREWS, "minHands": 3}, id="the number before the sum"),
        pytest.param({"replicasPath": "[.spec.crews[].minHands] | add"}, _CREWS, None, id="a sum has no field"),
    ],
)  # fmt: skip
def test_count_without_pods_is_revised(scale: dict[str, Any], spec: Any, revised: Any) -> None:
    found = _answer(_defined(**scale), Call(Operation.REVISE_REPLICA, _object(spec), replicas=3), replicas=3)
    assert found == (None if revised is None else {"revised": _object(revised)})


@rows(
    ("labels", "desired", "observed", "kept"),
    [
        pytest.param(None, {"minReplicas": 6}, {"minReplicas": 2}, 6, id="a count of the template"),
        pytest.param(None, {"maxReplicas": 9}, {"minReplicas": 2}, 2, id="a count that the template leaves unset"),
        pytest.param(_KEEPS, {"minReplicas": 6}, {"minReplicas": 2}, 2, id="a count that is left to the members"),
    ],
)
def test_count_without_pods_is_retained(labels: Any, desired: Any, observed: Any, kept: int) -> None:
    definition, member = _defined(replicasPath=".spec.minReplicas"), _object(observed)
    call = Call(Operation.RETAIN, _object(desired, labels), observed=member)
    assert _answer(definition, call, observed=member)["retained"]["spec"]["minReplicas"] == kept


@rows(
    ("annotations", "expected"),
    [
        pytest.param({}, {"InterpretReplica", "ReviseReplica", "Retain"}, id="a count that can be written"),
        pytest.param({"elastic": "none"}, {"InterpretReplica", "ReviseReplica", "Retain"}, id="never divided"),
        pytest.param({"elastic": "crewcall"}, {"InterpretReplica", "ReviseReplica", "Retain"}, id="named"),
        pytest.param({"operations": "Retain"}, {"Retain"}, id="only what the definition names"),
    ],
)
def test_count_without_pods_is_registered(annotations: dict[str, str], expected: set[str]) -> None:
    definition = _defined(annotations, replicasPath=".spec.minReplicas")
    counting = {"InterpretReplica", "ReviseReplica", "Retain", "InterpretDependency"}
    assert set(map(str, operations_for(definition))) & counting == expected


def test_count_without_pods_is_explained_by_its_field() -> None:
    found = explain(_defined(replicasPath=".spec.minReplicas"), Call(Operation.INTERPRET_REPLICA, _object({})))
    assert [fact.rule for fact in found.facts] == ["count-not-found", "total", "count"]
    assert {fact.field for fact in found.facts if fact.field} == {
        "spec.structureDefinition.rootComponent.scaleDefinition",
        "spec.structureDefinition.rootComponent.scaleDefinition.replicasPath",
    }


def test_count_of_the_root_next_to_pods_is_not_counted() -> None:
    manifest = _defined(replicasPath=".spec.groups").manifest
    structure = manifest["spec"]["structureDefinition"]
    worker = {
        "name": "worker",
        "ownerRef": "crewcall",
        "specDefinition": {"podTemplateSpecPath": ".spec.template"},
        "scaleDefinition": {"replicasPath": ".spec.replicas"},
    }
    both = load_definition({**manifest, "spec": {"structureDefinition": {**structure, "childComponents": [worker]}}})
    obj = _object({"groups": 7, "replicas": 2, "template": {"spec": {"containers": []}}})
    assert interpret(both, Call(Operation.INTERPRET_REPLICA, obj))["replica"] == 2
