"""A kind with a status and nothing else: what the health checks of both GitOps tools are tried on."""

from typing import Any


def toy_karta(status: Any, **annotations: str) -> Any:
    """A Karta with this status definition, if any, and these annotations."""
    kind = {"group": "example.io", "version": "v1", "kind": "Toy"}
    root = {"name": "toy", "kind": kind, "specDefinition": {"podTemplateSpecPath": ".spec.template"}}
    if status:
        root["statusDefinition"] = status
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "toy", "annotations": {f"karta-interpreter.io/{k}": v for k, v in annotations.items()}},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }
