"""Objects and pods as a member has them an hour after their last change."""

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from karta_interpreter import Karta
from karta_interpreter.engine.verification import Evidence, Judgement, Verdict, verify

Thing = dict[str, Any]

NOW = 1_800_000_000

DEFINITION = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: shop}
spec:
  structureDefinition:
    rootComponent:
      name: shop
      kind: {group: example.io, version: v1, kind: Shop}
      specDefinition:
        podTemplateSpecPath: .spec.template
      scaleDefinition:
        replicasPath: .spec.replicas
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        statusMappings:
          running: [{byPhase: Deployed}]
          initializing: [{byPhase: Idle}]
"""
SHOP = Karta.load(DEFINITION)
"""The definition of a kind whose status is a phase."""


def ago(seconds: int) -> str:
    """Return a time before `NOW` as Kubernetes writes it."""
    return datetime.fromtimestamp(NOW - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def container(name: str = "main", cpu: str | None = "1", **fields: Any) -> Thing:
    """Return a container with a request."""
    return {"name": name, "image": f"{name}:1", **({"resources": {"requests": {"cpu": cpu}}} if cpu else {}), **fields}


def ready(since: int = 3600) -> Thing:
    """Return the status of a pod that is ready."""
    return {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(since)}]}


def crashing(reason: str = "CrashLoopBackOff") -> Thing:
    """Return the status of a pod whose container does not run."""
    return {"phase": "Running", "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": reason}}}]}


def pod(number: int, *containers: Thing, status: Thing | None = None, age: int = 3600, **fields: Any) -> Thing:
    """Return a pod. ``fields`` are fields of its spec, except for labels, annotations and the uid of its owner."""
    metadata: Thing = {"name": f"pod-{number}", "namespace": "team", "creationTimestamp": ago(age)}
    metadata |= {name: fields.pop(name) for name in ("labels", "annotations", "deletionTimestamp") if name in fields}
    if owner := fields.pop("owner", None):
        metadata["ownerReferences"] = [{"uid": owner, "controller": True}]
    spec = {"containers": list(containers) or [container()], **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status or ready()}


def workload(api_version: str, kind: str, spec: Thing, status: Thing | None = None, **metadata: Any) -> Thing:
    """Return an object that its controller has seen."""
    about = {
        "name": "it",
        "namespace": "team",
        "generation": 1,
        "creationTimestamp": ago(3600),
        "uid": "it",
        **metadata,
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": about, "spec": spec, "status": status or {}}


def deployment(*containers: Thing, replicas: int = 2, change: Callable[[Thing], object] = lambda _: None) -> Thing:
    """Return a Deployment whose pods are ready."""
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), replicas)
    spec = {"replicas": replicas, "template": {"spec": {"containers": list(containers) or [container()]}}}
    status = {"observedGeneration": 1, **counts, "conditions": [{"type": "Available", "status": "True"}]}
    obj = workload("apps/v1", "Deployment", spec, status)
    change(obj)
    return obj


def evidence(obj: Thing, *pods: Thing, **fields: Any) -> Evidence:
    """Return the evidence of a member."""
    return Evidence(copy.deepcopy(obj), pods, now=NOW, **fields)


def judged(question: str, shown: Evidence, karta: Karta | None = None) -> list[Judgement]:
    """Return the judgements about one question, by the catalogue's definition if no other is given."""
    definition = (karta or Karta.for_object(shown.object)).definition
    return [each for each in verify(definition, shown) if each.question == question]


def verdicts(question: str, shown: Evidence) -> list[tuple[Verdict, str]]:
    """Return the verdicts about one question, with their reasons."""
    return [(each.verdict, each.reason) for each in judged(question, shown)]
