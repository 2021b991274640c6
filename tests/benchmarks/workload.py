"""Objects of a chosen size, as Karmada sends them: with managedFields, annotations and a status."""

from collections.abc import Callable
from typing import Any

import orjson

HOT_OPERATIONS = ("InterpretReplica", "InterpretComponent", "InterpretHealth")


def request_body(operation: str, size: int, make: "Callable[[int], dict[str, Any]]") -> bytes:
    """Return the body of one webhook call about an object of ``size`` bytes of JSON, which ``make`` makes of parts."""
    parts = 1
    while len(orjson.dumps(make(parts + 1))) < size:
        parts += 1
    obj = make(parts)
    missing = size - len(orjson.dumps(obj)) - len(',"note":""')
    obj["metadata"]["annotations"]["note"] = "x" * max(missing, 0)
    group, _, version = obj["apiVersion"].rpartition("/")
    request = {
        "uid": "5f0c8f3e-2b1a-4a52-9f4e-3f6a35c1d111",
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "name": "training",
        "namespace": "research",
        "operation": operation,
        "object": obj,
        "replicas": 0,
    }
    envelope = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
    return orjson.dumps(envelope) + b"\n"


def deployment(variables: int) -> dict[str, Any]:
    """Return a running Deployment whose container has that many variables: one pod set."""
    template = _template("server")
    env = [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(variables)]
    template["spec"]["containers"][0]["env"] += env
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "training"}}, "template": template}
    counters = {
        "observedGeneration": 4,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
    }
    conditions = [
        {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
    ]
    return _object("apps/v1", "Deployment", spec, {**counters, "conditions": conditions})


def ray_cluster(groups: int) -> dict[str, Any]:
    """Return a running RayCluster with that many worker groups: one pod set each, and the head."""
    spec = {
        "rayVersion": "2.49.0",
        "headGroupSpec": {"rayStartParams": {"dashboard-host": "::"}, "template": _template("head")},
        "workerGroupSpecs": [_worker_group(number) for number in range(groups)],
    }
    status = {
        "state": "ready",
        "observedGeneration": 4,
        "availableWorkerReplicas": 2 * groups,
        "desiredWorkerReplicas": 2 * groups,
        "conditions": [
            {"type": "HeadPodReady", "status": "True", "reason": "HeadPodRunningAndReady", "message": ""},
            {"type": "RayClusterProvisioned", "status": "True", "reason": "AllPodRunningAndReadyFirstTime"},
        ],
    }
    return _object("ray.io/v1", "RayCluster", spec, status)


def _object(api_version: str, kind: str, spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": "training",
            "namespace": "research",
            "generation": 4,
            "uid": "b1281059-13a8-4dd5-9dc8-11405a0323c6",
            "resourceVersion": "396312",
            "labels": {"team": "research", "propagationpolicy.karmada.io/permanent-id": "291731c8-47e7-4a50-a662"},
            "annotations": {"propagationpolicy.karmada.io/name": "training"},
            "managedFields": [_managed_fields(api_version, spec)],
        },
        "spec": spec,
        "status": status,
    }


def _worker_group(number: int) -> dict[str, Any]:
    return {
        "groupName": f"group-{number}",
        "replicas": 2 + number,
        "minReplicas": 0,
        "maxReplicas": 16,
        "numOfHosts": 1,
        "rayStartParams": {},
        "template": _template("worker"),
    }


def _template(role: str) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"ray.io/node-type": role, "app": "training"}},
        "spec": {
            "nodeSelector": {"accelerator": "l4"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [
                {
                    "name": f"ray-{role}",
                    "image": "rayproject/ray:2.49.0",
                    "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
                    "resources": {
                        "requests": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"},
                        "limits": {"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "1"},
                    },
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/training"}],
                }
            ],
            "volumes": [{"name": "config", "configMap": {"name": "training-config"}}],
        },
    }


def _managed_fields(api_version: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of one manager that owns every field, as the API server writes it."""
    return {
        "manager": "kubectl",
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "time": "2026-11-02T08:15:42Z",
        "fieldsV1": {"f:spec": _owned(spec)},
    }


def _owned(value: Any) -> dict[str, Any]:
    """Return the set of owned fields below a value: lists of named objects by name, other lists as a whole."""
    if isinstance(value, dict):
        return {f"f:{key}": _owned(below) for key, below in value.items()}
    if isinstance(value, list) and all(isinstance(element, dict) and "name" in element for element in value):
        return {f'k:{{"name":"{element["name"]}"}}': {".": {}, **_owned(element)} for element in value}
    return {}
