"""Forms of definitions that no kind of the catalogue has, with objects: lists within lists, and pods in fragments."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import yaml

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.component_splits import splits_of
from tests.proofs.conformance.customizations import Pair

_STATUS: Final = """
      statusDefinition:
        conditionsDefinition: {path: .status.conditions, typeFieldName: type, statusFieldName: status}
        statusMappings:
          running: [{byConditions: [{type: Ready, status: "True"}]}]
          failed: [{byConditions: [{type: Failed, status: "True"}]}]
"""

FLEET: Final = f"""
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {{name: fleet}}
spec:
  structureDefinition:
    rootComponent:
      name: fleet
      kind: {{group: forms.example.com, version: v1, kind: Fleet}}{_STATUS}
    childComponents:
      - name: task
        ownerRef: fleet
        instanceIdPath: .spec.groups[] | "\\(.name)-\\(.template.tasks[].name)"
        specDefinition: {{podTemplateSpecPath: ".spec.groups[].template.tasks[].template"}}
        scaleDefinition:
          replicasPath: .spec.groups[] | (.replicas // 1) * (.template.tasks[] | .replicas // 1)
        podSelector: {{componentInstanceSelector: {{idPath: .metadata.labels.task}}}}
"""
"""Groups of tasks, as a HyperJob of Volcano has them: the tasks are in lists within a list, and so are their counts."""

HARBOR: Final = f"""
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {{name: harbor}}
spec:
  structureDefinition:
    rootComponent:
      name: harbor
      kind: {{group: forms.example.com, version: v1, kind: Harbor}}
      specDefinition:
        fragmentedPodSpecDefinition:
          imagePath: .spec.image
          resourcesPath: .spec.resources
          nodeAffinityPath: .spec.affinity.nodeAffinity
          podAffinityPath: .spec.affinity.podAffinity
          priorityClassNamePath: .spec.priority
      scaleDefinition: {{replicasPath: .spec.replicas // 1}}{_STATUS}
    childComponents:
      - name: dock
        ownerRef: harbor
        instanceIdPath: .spec.docks[].name
        specDefinition:
          fragmentedPodSpecDefinition:
            schedulerNamePath: .spec.docks[].scheduler
            labelsPath: .spec.docks[].labels
            annotationsPath: .spec.docks[].notes
            resourcesPath: .spec.docks[].resources
            resourceClaimsPath: .spec.docks[].claims
            containersPath: .spec.docks[].sidecars
            containerPath: .spec.docks[].main
            imagePath: .spec.docks[].image
        scaleDefinition: {{replicasPath: ".spec.docks[] | .cranes // 1"}}
        podSelector: {{componentInstanceSelector: {{idPath: .metadata.labels.dock}}}}
      - name: pilot
        ownerRef: harbor
        specDefinition:
          fragmentedPodSpecDefinition: {{imagePath: .spec.pilot.image, containersPath: .spec.pilot.containers}}
        scaleDefinition: {{minReplicasPath: .spec.pilot.min, maxReplicasPath: .spec.pilot.max}}
      - name: tower
        ownerRef: harbor
        specDefinition: {{podTemplateSpecPath: .spec.tower.template}}
"""
"""Pods in fragments, as the root, with instances and as a part that may be missing, next to a whole template."""


def _container(name: str, cpu: str, **more: Any) -> Any:
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}


def _task(name: str, cpu: str, **more: Any) -> Any:
    return {"name": name, "template": {"spec": {"containers": [_container("main", cpu)]}}, **more}


_NODES: Final = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    }
}
_REFERRING: Final = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}]}
_GROUPS: Final[list[Any]] = [
    {"name": "train", "replicas": 2, "template": {"tasks": [_task("master", "1"), _task("worker", "2", replicas=3)]}},
    {"name": "serve", "template": {"tasks": [_task("worker", "4", replicas=2)]}},
]
_SPECS: Final[Mapping[str, list[Any]]] = {
    FLEET: [
        {"groups": _GROUPS},
        {"groups": [*reversed(_GROUPS), {"name": "empty", "template": {}}, {"name": "idle"}]},
        {"groups": [{**_GROUPS[0], "name": "é" * 256}, {"name": 7, "template": {"tasks": [_task("a", "1")]}}]},
        {"groups": [{**_GROUPS[0], "name": "x" * 257}]},
        {"groups": [{**_GROUPS[0], "name": {"a": 1}}]},
        {"groups": [{"name": "a-b", "template": {"tasks": [_task("c", "1")]}},
                    {"name": "a", "template": {"tasks": [_task("b-c", "1")]}}]},
        {},
    ],
    HARBOR: [
        {"image": "ship", "resources": {"limits": {"cpu": "2"}}, "replicas": 3, "priority": "high",
         "affinity": {"nodeAffinity": _NODES, "podAffinity": {}}},
        {"docks": [
            {"name": "a", "cranes": 2, "main": {"name": "crane"}, "resources": {"requests": {"cpu": "1"}}},
            {"name": "b", "main": _container("crane", "3"), "resources": {"requests": {"cpu": "1"}}},
            {"name": "c", "sidecars": [_container("log", "100m", **_REFERRING)], "main": _container("crane", "4")},
            {"name": "d", "sidecars": [_container("log", "1")], "main": _container("log", "1"), "resources": {}},
            {"name": "e", "sidecars": [_container("log", "1")], "resources": {"requests": {"cpu": "9"}}},
            {"name": "f", "claims": [{"name": "gpu", "resourceClaimName": "gpus"}], "image": "x", "notes": {"a": "b"}},
        ], "pilot": {"min": 2, "max": 4, "containers": [_container("pilot", "1")]},
         "tower": {"template": {"spec": {"containers": [_container("tower", "1")]}}}},
        {"docks": [{"name": "a", "resources": "1"}]},
        {"docks": [{"name": "a", "sidecars": "log"}]},
        {"docks": [{"name": "a", "scheduler": 1}]},
        {"pilot": {"min": 2}},
        {"pilot": {"image": "x"}, "affinity": {"nodeAffinity": {}}},
        {"image": ["x"]},
    ],
}  # fmt: skip
_STATUSES: Final[list[Any]] = [
    {"conditions": [{"type": "Ready", "status": "True"}], "ready": 2},
    {"conditions": [{"type": "Failed", "status": "True"}], "ready": 1},
]
_KEEPING: Final = {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}}


def pairs() -> Iterator[Pair]:
    """Yield each operation of each definition with its script and with calls."""
    for text, specs in _SPECS.items():
        definition = load_definition(yaml.safe_load(text))
        for operation in Operation:
            script = Script(operation, script_of(definition, operation), definition.name)
            calls = [call for spec in specs for call in _calls(definition, operation, spec, specs)]
            yield Pair(definition, operation, script, calls)


def _calls(definition: Definition, operation: Operation, spec: Any, specs: list[Any]) -> Iterator[Call]:
    def made(spec: Any) -> Any:
        kind = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind}
        return {**kind, "metadata": {"name": "x", "namespace": "y", **_KEEPING}, "spec": spec}

    obj = made(spec)
    match operation:
        case Operation.REVISE_REPLICA:
            yield from (Call(operation, obj, replicas=count) for count in (0, 6, 9, 10, 18))
        case Operation.REVISE_COMPONENTS:
            with suppress(InterpretationError):
                yield from (Call(operation, obj, components=split) for split in splits_of(definition, obj))
        case Operation.RETAIN:
            yield from (Call(operation, obj, observed={**made(other), "status": _STATUSES[0]}) for other in specs)
        case Operation.AGGREGATE_STATUS:
            yield Call(operation, obj, items=tuple(map(StatusItem, "ab", _STATUSES)))
        case _:
            yield from (Call(operation, {**obj, "status": status}) for status in _STATUSES)
