"""A definition of a made-up kind with a worker group for each element of a list, and what it is asked about."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition

Define = Callable[..., Definition]

MAPPINGS = {
    "running": [{"byPhase": "ready"}, {"byConditions": [{"type": "Ready", "status": "True"}]}],
    "degraded": [{"byPhase": "Stalled"}],
}


@pytest.fixture
def define() -> Define:
    """A function that makes a definition; ``group`` replaces fields of the component with pods."""

    def make(
        mappings: dict[str, Any] | None = None, annotations: dict[str, str] | None = None, **group: Any
    ) -> Definition:
        component = {
            "name": "group",
            "ownerRef": "train",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "instanceIdPath": ".spec.groups[].name",
            "specDefinition": {"podTemplateSpecPath": ".spec.groups[].template"},
            "scaleDefinition": {"replicasPath": ".spec.groups[] | .replicas // 1"},
            "podSelector": {
                "componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": "group"},
                "componentInstanceSelector": {"idPath": ".metadata.labels.group"},
            },
        }
        root = {
            "name": "train",
            "kind": {"group": "example.io", "version": "v1", "kind": "Train"},
            "statusDefinition": {
                "phaseDefinition": {"path": ".status.phase"},
                "conditionsDefinition": {"path": ".status.conditions"},
                "statusMappings": mappings or MAPPINGS,
            },
        }
        names = {f"karta-interpreter.io/{name}": text for name, text in (annotations or {}).items()}
        return load_definition(
            {
                "apiVersion": "run.ai/v1alpha1",
                "kind": "Karta",
                "metadata": {"name": "train", "annotations": names},
                "spec": {"structureDefinition": {"rootComponent": root, "childComponents": [{**component, **group}]}},
            }
        )

    return make


def train(*groups: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", "namespace": "ml"},
        "spec": {"groups": list(groups)},
        **({"status": status} if status else {}),
    }


def pods(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", **container}]}}
