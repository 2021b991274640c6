"""Three kinds of workload that exist nowhere else, one for each shape a definition can have."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from karta_interpreter.base.findings import Finding
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition, load_documents

BREW = """
# One pod template: like a Deployment, with a state instead of conditions.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: brew}
spec:
  structureDefinition:
    rootComponent:
      name: brew
      kind: {group: toys.example.com, version: v1, kind: Brew}
      specDefinition: {podTemplateSpecPath: .spec.template}
      scaleDefinition: {replicasPath: .spec.kettles // 1}
      statusDefinition:
        phaseDefinition: {path: .status.state}
        conditionsDefinition: {path: .status.conditions}
        statusMappings:
          running: [{byPhase: Boiling}]
          failed: [{byConditions: [{type: Spilled, status: "True"}]}]
          degraded: [{byExpression: {expression: .status.foam > 3, expectedResult: "true"}}]
      suspendDefinition:
        suspendActions: [{path: .spec.pause, value: "true"}]
        resumeActions: [{path: .spec.pause, value: "false"}]
"""

ORCHESTRA = """
# A conductor, and a list of sections with a name, a template and bounds each.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: orchestra}
spec:
  structureDefinition:
    rootComponent:
      name: orchestra
      kind: {group: toys.example.com, version: v1, kind: Orchestra}
      statusDefinition:
        conditionsDefinition: {path: .status.conditions}
        statusMappings:
          running: [{byConditions: [{type: Playing, status: "True"}]}]
    childComponents:
      - name: conductor
        ownerRef: orchestra
        specDefinition:
          podSpecPath: .spec.conductor.pod
          metadataPath: .spec.conductor.meta
        podSelector: {componentTypeSelector: {matchLabels: {part: conductor}}}
      - name: section
        ownerRef: orchestra
        specDefinition: {podTemplateSpecPath: ".spec.sections[].template"}
        scaleDefinition:
          replicasPath: .spec.sections[].players
          minReplicasPath: .spec.sections[].least
          maxReplicasPath: .spec.sections[].most
        instanceIdPath: .spec.sections[].name
        podSelector:
          componentTypeSelector: {keyPath: .metadata.labels.part, value: section}
          componentInstanceSelector: {idPath: .metadata.labels.section}
"""

HARBOR = """
# A map of docks, their pods given in pieces.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: harbor}
spec:
  structureDefinition:
    rootComponent:
      name: harbor
      kind: {group: toys.example.com, version: v1, kind: Harbor}
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        statusMappings: {running: [{byPhase: Open}]}
    childComponents:
      - name: dock
        ownerRef: harbor
        specDefinition:
          fragmentedPodSpecDefinition:
            schedulerNamePath: .spec.docks[].scheduler
            labelsPath: .spec.docks[].labels
            annotationsPath: .spec.docks[].notes
            resourcesPath: .spec.docks[].resources
            resourceClaimsPath: .spec.docks[].claims
            podAffinityPath: .spec.docks[].affinity.podAffinity
            nodeAffinityPath: .spec.docks[].affinity.nodeAffinity
            containersPath: .spec.docks[].sidecars
            containerPath: .spec.docks[].main
            priorityClassNamePath: .spec.docks[].priority
            imagePath: .spec.docks[].image
        scaleDefinition: {replicasPath: ".spec.docks[] | .cranes // 1"}
        instanceIdPath: .spec.docks | to_entries[] | .key
        podSelector: {componentInstanceSelector: {idPath: .metadata.labels.dock}}
"""

Raw = dict[str, Any]


@pytest.fixture
def brew() -> Raw:
    return _read(BREW)


@pytest.fixture
def orchestra() -> Raw:
    return _read(ORCHESTRA)


@pytest.fixture
def harbor() -> Raw:
    return _read(HARBOR)


@pytest.fixture
def toys(brew: Raw, orchestra: Raw, harbor: Raw) -> dict[str, Raw]:
    return {"brew": brew, "orchestra": orchestra, "harbor": harbor}


@pytest.fixture
def texts() -> dict[str, str]:
    return {"brew": BREW, "orchestra": ORCHESTRA, "harbor": HARBOR}


@pytest.fixture
def compiled(toys: dict[str, Raw]) -> dict[str, Definition]:
    return {name: load_definition(raw) for name, raw in toys.items()}


@pytest.fixture
def findings_of() -> Callable[[Raw], list[Finding]]:
    def findings_of(raw: Raw) -> list[Finding]:
        (loaded,) = load_documents(json.dumps(raw), "toy.json")
        return list(loaded.findings)

    return findings_of


def _read(text: str) -> Raw:
    value: Raw = yaml.safe_load(text)
    return value
