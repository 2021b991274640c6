"""Kinds of workload that exist nowhere else, one for each way in which a definition can name pods."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from karta_interpreter import Karta, Workload

ORCHESTRA = """
# Sections in a list, each with a name, a template and bounds; and a conductor, who may be missing.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: orchestra}
spec:
  structureDefinition:
    rootComponent:
      name: orchestra
      kind: {group: toys.example.com, version: v1, kind: Orchestra}
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        conditionsDefinition: {path: .status.conditions}
        statusMappings:
          running: [{byPhase: Playing}]
          degraded: [{byConditions: [{type: OutOfTune, status: "True"}]}]
      suspendDefinition:
        suspendActions: [{path: .spec.paused, value: "true"}, {path: .spec.reason, value: '"break"'}]
        resumeActions: [{path: .spec.paused, value: "false"}, {path: .spec.reason, value: "null"}]
    childComponents:
      - name: conductor
        ownerRef: orchestra
        kind: {group: "", version: v1, kind: Pod}
        specDefinition: {podTemplateSpecPath: .spec.conductor.template}
        scaleDefinition: {replicasPath: .spec.conductor.count // 1}
        podSelector: {componentTypeSelector: {keyPath: .metadata.labels.part, value: conductor}}
      - name: section
        ownerRef: orchestra
        specDefinition: {podTemplateSpecPath: ".spec.sections[].template"}
        scaleDefinition:
          replicasPath: ".spec.sections[] | (.desks // 1) * (.players // 1)"
          minReplicasPath: .spec.sections[].least
        instanceIdPath: .spec.sections[].name
        podSelector:
          componentTypeSelector: {keyPath: .metadata.labels.part, value: section}
          componentInstanceSelector: {idPath: .metadata.labels.section}
      - name: chair
        ownerRef: section
"""

TAVERN = """
# The whole spec of the pods, their metadata and fields of its own, all in one object.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: tavern}
spec:
  structureDefinition:
    rootComponent:
      name: tavern
      kind: {group: toys.example.com, version: v1, kind: Tavern}
      specDefinition: {podSpecPath: .spec, metadataPath: .spec}
      scaleDefinition: {minReplicasPath: .spec.minReplicas, maxReplicasPath: .spec.maxReplicas}
      statusDefinition: {statusMappings: {running: [{byPhase: Open}]}, phaseDefinition: {path: .status.phase}}
"""

HARBOR = """
# Docks in a map, their pods in pieces.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: harbor}
spec:
  structureDefinition:
    rootComponent:
      name: harbor
      kind: {group: toys.example.com, version: v1, kind: Harbor}
      statusDefinition: {statusMappings: {running: [{byPhase: Open}]}, phaseDefinition: {path: .status.phase}}
    childComponents:
      - name: dock
        ownerRef: harbor
        specDefinition:
          fragmentedPodSpecDefinition:
            schedulerNamePath: .spec.docks[].scheduler
            labelsPath: .spec.docks[].labels
            resourcesPath: .spec.docks[].resources
            resourceClaimsPath: .spec.docks[].claims
            podAffinityPath: .spec.docks[].podAffinity
            containersPath: .spec.docks[].sidecars
            containerPath: .spec.docks[].main
            imagePath: .spec.docks[].main.image
            priorityClassNamePath: '.spec.docks[] | "p-\\(.grade)"'
        scaleDefinition: {replicasPath: ".spec.docks[] | .cranes // 1"}
        instanceIdPath: .spec.docks | to_entries[] | .key
        podSelector: {componentInstanceSelector: {idPath: .metadata.labels.dock}}
"""

LONER = """
# A pod that is its own template.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: loner}
spec:
  structureDefinition:
    rootComponent:
      name: loner
      kind: {group: "", version: v1, kind: Pod}
      specDefinition: {podTemplateSpecPath: .}
      scaleDefinition: {replicasPath: "1"}
      statusDefinition: {statusMappings: {running: [{byPhase: Running}]}, phaseDefinition: {path: .status.phase}}
"""

TEXTS = {"Orchestra": ORCHESTRA, "Tavern": TAVERN, "Harbor": HARBOR, "Pod": LONER}
KARTAS = {kind: Karta.load(text) for kind, text in TEXTS.items()}

Make = Callable[..., Workload]


@pytest.fixture
def make() -> Make:
    """A toy workload of a kind, with a spec and whatever else."""

    def make(kind: str, spec: Any = None, **rest: Any) -> Workload:
        api_version = "v1" if kind == "Pod" else "toys.example.com/v1"
        obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "toy"}, "spec": spec, **rest}
        return Workload(KARTAS[kind], obj)

    return make


@pytest.fixture
def texts() -> dict[str, str]:
    return TEXTS


@pytest.fixture
def raw() -> Callable[[str], dict[str, Any]]:
    """The definition of a toy kind as an object, to be changed."""

    def raw(kind: str) -> dict[str, Any]:
        value: dict[str, Any] = yaml.safe_load(TEXTS[kind])
        return value

    return raw
