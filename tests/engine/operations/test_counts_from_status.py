"""Pods that only the status counts, such as one for each node: Karmada gets nothing to divide.

By Karmada's sources: no replicas without requirements go to each cluster whole (AssignReplicas of
pkg/scheduler/core/common.go), and so do no components. No replicas with requirements are divided, and a cluster without
any is taken out (removeZeroReplicasCluster), so that no cluster would ever report a status.
"""

from typing import Any

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.support.rows import rows
from tests.support.scripts import answer

_TEMPLATE = {"spec": {"containers": [{"name": "beam", "resources": {"requests": {"cpu": "2"}}}]}}
_BEAM = {"apiVersion": "coast.example.com/v1", "kind": "Lighthouse", "metadata": {"name": "north"}}
_SPEC = {"least": 2, "most": 5, "lamp": _TEMPLATE, "horn": _TEMPLATE}
_REPORTED = {"lamps": 3, "horns": 4}
_LAMPS, _HORNS = {"replicasPath": ".status.lamps // 0"}, {"replicasPath": ".status.horns // 0"}


def _defined(lamp: dict[str, Any], horn: dict[str, Any] | None = None, *, has_pods: bool = True) -> Definition:
    root: dict[str, Any] = {
        "name": "lighthouse",
        "kind": {"group": "coast.example.com", "version": "v1", "kind": "Lighthouse"},
        "scaleDefinition": lamp,
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Lit"}]},
        },
    }
    root |= {"specDefinition": {"podTemplateSpecPath": ".spec.lamp"}} if has_pods else {}
    child: dict[str, Any] = {
        "name": "horn",
        "ownerRef": "lighthouse",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
    }
    child |= {"specDefinition": {"podTemplateSpecPath": ".spec.horn"}, "scaleDefinition": horn}
    child |= {"podSelector": {"componentTypeSelector": {"keyPath": ".metadata.labels.part", "value": "horn"}}}
    structure = {"rootComponent": root, "childComponents": [child] if horn is not None else []}
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "lighthouse"}}
    return load_definition({**karta, "spec": {"structureDefinition": structure}})


def _answer(definition: Definition, operation: Operation, status: dict[str, int]) -> Any:
    """Return the answer that a definition, its explanation and its script agree about."""
    call = Call(operation, {**_BEAM, "spec": _SPEC, "status": status})
    expected = interpret(definition, call)
    assert explain(definition, call).results == expected
    script = Script(operation, script_of(definition, operation), "lighthouse")
    assert answer([script], object=call.object) == expected
    return expected


@rows(
    ("lamp", "horn", "before", "after", "reason"),
    [
        (_LAMPS, None, 0, 0, "only the controller counts"),
        (_LAMPS, _HORNS, 0, 0, "only the controller counts both"),
        ({"replicasPath": ".status.lamps // 1"}, None, 0, 0, "a default is no count of the template"),
        ({"minReplicasPath": ".status.lamps // 0"}, None, 0, 0, "a minimum is a count as well"),
        ({"replicasPath": ".spec.least"}, None, 2, 2, "the template counts"),
        ({"replicasPath": ".spec.least"}, _HORNS, 2, 6, "the template counts some of the pods"),
        ({"replicasPath": ".status.lamps // .spec.least"}, None, 2, 3, "the template counts until the controller does"),
        ({"replicasPath": ".status.lamps", "minReplicasPath": ".spec.least"}, None, 2, 3, "the template has a minimum"),
        ({**_LAMPS, "maxReplicasPath": ".spec.most"}, None, 0, 3, "a maximum of the template can be divided"),
        ({"replicasPath": "1"}, None, 1, 1, "a constant does not change with the pods"),
        ({}, None, 1, 1, "no count means one pod"),
    ],
)
def test_pods_that_only_the_status_counts_are_not_divided(
    lamp: dict[str, Any], horn: dict[str, Any] | None, before: int, after: int, reason: str
) -> None:
    definition = _defined(lamp, horn)

    for status, number in (({}, before), (_REPORTED, after)):
        replica = _answer(definition, Operation.INTERPRET_REPLICA, status)
        assert replica["replica"] == number, reason
        assert (replica["requires"] is None) is (before == after == 0), reason
        components = _answer(definition, Operation.INTERPRET_COMPONENT, status)["components"]
        assert sum(component["replicas"] for component in components) == number, reason
        assert bool(components) is (replica["requires"] is not None), reason


def test_a_count_without_pods_is_not_divided_either() -> None:
    found = _answer(_defined(_LAMPS, has_pods=False), Operation.INTERPRET_REPLICA, _REPORTED)

    assert found == {"replica": 0, "requires": None}


def test_explanation_says_why_there_is_nothing_to_divide() -> None:
    call = Call(Operation.INTERPRET_REPLICA, {**_BEAM, "spec": _SPEC, "status": _REPORTED})

    (fact,) = [fact for fact in explain(_defined(_LAMPS), call).facts if fact.rule == "total"]

    assert fact.note == "only the status counts the pods, in all 0"
