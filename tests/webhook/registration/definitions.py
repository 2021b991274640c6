"""Definitions made to measure."""

from collections.abc import Iterable, Mapping
from typing import Any

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot

TOY = GVK("toys.example.com", "v1", "Toy")

Scale = Mapping[str, str]


def define(
    gvk: GVK = TOY,
    parts: Mapping[str, Scale] | None = None,
    *,
    instances: bool = False,
    suspend: bool = False,
    annotations: Mapping[str, str] | None = None,
) -> Definition:
    """A definition whose children are ``parts``: names, and a scale definition each."""
    raw = karta(gvk, parts, instances=instances, suspend=suspend, annotations=annotations)
    return load_definition(raw, source=f"{gvk.kind}.yaml")


def karta(
    gvk: GVK = TOY,
    parts: Mapping[str, Scale] | None = None,
    *,
    instances: bool = False,
    suspend: bool = False,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    children = [_part(name, scale, instances=instances) for name, scale in (parts or {}).items()]
    root: dict[str, Any] = {
        "name": "root",
        "kind": {"group": gvk.group, "version": gvk.version, "kind": gvk.kind},
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Running"}]},
        },
    }
    if suspend:
        root["suspendDefinition"] = {
            "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
            "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
        }
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {
            "name": gvk.kind.lower(),
            "annotations": {f"karta-interpreter.io/{key}": text for key, text in (annotations or {}).items()},
        },
        "spec": {"structureDefinition": {"rootComponent": root, "childComponents": children}},
    }


def replicas(path: str) -> Scale:
    return {"replicasPath": path}


def snapshot_of(*definitions: Definition, generation: int = 1) -> Snapshot:
    return Snapshot({each.gvk: ServedDefinition(each, "test") for each in definitions}, generation=generation)


def _part(name: str, scale: Scale, *, instances: bool) -> dict[str, Any]:
    part: dict[str, Any] = {
        "name": name,
        "ownerRef": "root",
        "specDefinition": {"podTemplateSpecPath": f".spec.{name}{'[]' if instances else ''}.template"},
        "podSelector": {"componentTypeSelector": {"keyPath": ".metadata.labels.part", "value": name}},
    }
    if scale:
        part["scaleDefinition"] = dict(scale)
    if instances:
        part["instanceIdPath"] = f".spec.{name}[].name"
        part["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.instance"}
    return part


def names(operations: Iterable[str]) -> set[str]:
    """Operations by their two-letter names in Karmada's own table order: Rp Co Rv Re Ag St He De, and Rc."""
    return {_SHORT[operation] for operation in operations}


_SHORT = {
    "InterpretReplica": "Rp",
    "InterpretComponent": "Co",
    "ReviseReplica": "Rv",
    "ReviseComponents": "Rc",
    "Retain": "Re",
    "AggregateStatus": "Ag",
    "InterpretStatus": "St",
    "InterpretHealth": "He",
    "InterpretDependency": "De",
}
