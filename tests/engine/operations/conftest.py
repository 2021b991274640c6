"""Small definitions of made-up kinds."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition

PREFIX = "karta-interpreter.io/"
RUNNING = {"running": [{"byConditions": [{"type": "Ready", "status": "True"}]}]}

Define = Callable[..., Definition]


@pytest.fixture
def define() -> Define:
    """A function that makes a definition of kind example.io/v1 Train from its components' scale and pods."""

    def make(
        *children: dict[str, Any],
        root: dict[str, Any] | None = None,
        mappings: dict[str, Any] | None = None,
        **annotations: str,
    ) -> Definition:
        kind = {"group": "example.io", "version": "v1", "kind": "Train"}
        status = {
            "phaseDefinition": {"path": ".status.phase"},
            "conditionsDefinition": {"path": ".status.conditions"},
            "statusMappings": mappings or RUNNING,
        }
        return load_definition(
            {
                "apiVersion": "run.ai/v1alpha1",
                "kind": "Karta",
                "metadata": {
                    "name": "train",
                    "annotations": {PREFIX + name: value for name, value in annotations.items()},
                },
                "spec": {
                    "structureDefinition": {
                        "rootComponent": {"name": "train", "kind": kind, "statusDefinition": status, **(root or {})},
                        "childComponents": [{"ownerRef": "train", **child} for child in children],
                    }
                },
            }
        )

    return make


def component(name: str, template: str, replicas: str = "", **scale: str) -> dict[str, Any]:
    paths = {"replicasPath": replicas} if replicas else {}
    return {
        "name": name,
        "specDefinition": {"podTemplateSpecPath": template},
        "scaleDefinition": paths | {f"{bound}ReplicasPath": path for bound, path in scale.items()},
        "podSelector": {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": name}},
    }


def template(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": "busybox", **container}]}}
