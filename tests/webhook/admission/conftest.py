import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

Raw = dict[str, Any]


@pytest.fixture
def karta() -> Raw:
    """A definition without findings."""
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "brew"},
        "spec": {
            "structureDefinition": {
                "rootComponent": {
                    "name": "brew",
                    "kind": {"group": "toys.example.com", "version": "v1", "kind": "Brew"},
                    "specDefinition": {"podTemplateSpecPath": ".spec.template"},
                    "scaleDefinition": {"replicasPath": ".spec.kettles // 1"},
                    "statusDefinition": {
                        "phaseDefinition": {"path": ".status.state"},
                        "statusMappings": {"running": [{"byPhase": "Boiling"}]},
                    },
                }
            }
        },
    }


@pytest.fixture
def review() -> Callable[..., bytes]:
    """The body of a review, as an API server sends it."""

    def body(obj: Raw | None, operation: str = "CREATE", *, old: Raw | None = None, **more: Any) -> bytes:
        about: Mapping[str, Any] = obj or old or {}
        group, _, version = about.get("apiVersion", "run.ai/v1alpha1").rpartition("/")
        request = {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": group, "version": version, "kind": about.get("kind", "Karta")},
            "resource": {"group": group, "version": version, "resource": "kartas"},
            "name": "brew",
            "operation": operation,
            "userInfo": {"username": "admin"},
            "object": obj,
            "oldObject": old,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **more,
        }
        return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()

    return body
