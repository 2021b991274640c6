"""Objects of a chosen size, as Karmada sends them: with managedFields, annotations and a status."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

OPERATIONS: Final = (
    "InterpretReplica",
    "InterpretComponent",
    "InterpretHealth",
    "InterpretStatus",
    "InterpretDependency",
    "ReviseReplica",
    "Retain",
    "AggregateStatus",
)
UID: Final = "5f0c8f3e-2b1a-4a52-9f4e-3f6a35c1d111"
"""Stands in each body; the load generator writes another one over it for each request."""
_REPLICAS: Final = 4_171_926
_MOST_GROUPS: Final = 200
_CLUSTERS: Final = ("member1", "member2", "member3")

_SERVER_METADATA: Final = {
    "uid": "b1281059-13a8-4dd5-9dc8-11405a0323c6",
    "resourceVersion": "396312",
    "creationTimestamp": "2026-11-02T08:15:40Z",
}
_POLICY_LABELS: Final = {"propagationpolicy.karmada.io/permanent-id": "291731c8-47e7-4a50-a662-f8918bc204d9"}
_POLICY_ANNOTATIONS: Final = {
    "propagationpolicy.karmada.io/name": "training",
    "propagationpolicy.karmada.io/namespace": "research",
}
_WORK_LABELS: Final = {
    "karmada.io/managed": "true",
    "resourcebinding.karmada.io/permanent-id": "8c974a9f-406b-40e3-adf9-42932be63649",
    "work.karmada.io/permanent-id": "e7a0504b-9c1a-4770-a8c2-4876ec84f195",
}
_WORK_ANNOTATIONS: Final = {
    "resourcebinding.karmada.io/name": "training",
    "resourcebinding.karmada.io/namespace": "research",
    "resourcetemplate.karmada.io/generation": "4",
    "resourcetemplate.karmada.io/uid": "b1281059-13a8-4dd5-9dc8-11405a0323c6",
    "work.karmada.io/conflict-resolution": "abort",
    "work.karmada.io/name": "training-69969d9995",
    "work.karmada.io/namespace": "karmada-es-member1",
}

Make = Callable[[int], dict[str, Any]]
"""Makes an object of a number of parts."""


def request_body(operation: str, size: int, make: Make) -> bytes:
    """Return the body of one webhook call about an object of ``size`` bytes of JSON, which ``make`` makes of parts.

    It is spelled as by Karmada's client: Karmada's fields in the order of its types, the object's fields sorted.
    """
    return body_about(operation, sized(size, make))


def body_about(operation: str, obj: dict[str, Any], clusters: Sequence[str] = _CLUSTERS) -> bytes:
    """Return the same for an object that is there; these clusters report its status to AggregateStatus."""
    group, _, version = obj["apiVersion"].rpartition("/")
    observed, replicas, aggregated = _more(operation, obj, clusters)
    request = {
        "uid": UID,
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "name": obj["metadata"]["name"],
        "namespace": obj["metadata"]["namespace"],
        "operation": operation,
        "object": _as_go_writes(obj),
        **observed,
        "replicas": replicas,
        **aggregated,
    }
    envelope = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
    return orjson.dumps(envelope) + b"\n"


def sized(size: int, make: Make) -> dict[str, Any]:
    """Return an object of ``size`` bytes of JSON, or a little more when its parts do not fit."""
    parts = 1
    while len(orjson.dumps(make(2 * parts))) < size:
        parts *= 2
    low, high = parts, 2 * parts
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if len(orjson.dumps(make(middle))) < size else (low, middle)
    obj = make(low)
    missing = size - len(orjson.dumps(obj)) - len(',"note":""')
    obj["metadata"]["annotations"]["note"] = "x" * max(missing, 0)
    return obj


def _as_go_writes(obj: dict[str, Any]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS))


def _more(operation: str, obj: dict[str, Any], clusters: Sequence[str]) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """Return what is asked next to the object: what a cluster has, the replicas, the statuses of clusters."""
    if operation == "ReviseReplica":
        return {}, _REPLICAS, {}
    if operation == "Retain":
        return {"observedObject": _as_go_writes(obj)}, 0, {}
    if operation == "AggregateStatus":
        items = [{"clusterName": name, "status": obj["status"], "applied": True} for name in clusters]
        return {}, 0, {"aggregatedStatus": items}
    return {}, 0, {}


def workload(variables: int) -> dict[str, Any]:
    """Return the kind of Karmada's example webhook, which is like a Deployment and reads `envFrom`."""
    made = deployment(variables)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["envFrom"] = [{"configMapRef": {"name": "training-settings"}}]
    return made | {"apiVersion": "workload.example.io/v1alpha1", "kind": "Workload"}


def bounded(variables: int) -> dict[str, Any]:
    """Return the same as another kind."""
    return workload(variables) | {"kind": "BoundedWorkload"}


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


def ray_cluster(parts: int) -> dict[str, Any]:
    """Return a running RayCluster of many worker groups: one pod set each, and the head.

    Each part is a group; when there are as many as somebody may have, a part is a variable of one of them.
    """
    groups = min(parts, _MOST_GROUPS)
    workers = [_worker_group(number) for number in range(groups)]
    for number in range(parts - groups):
        env = workers[number % groups]["template"]["spec"]["containers"][0]["env"]
        env.append({"name": f"SETTING_{number}", "value": f"value-{number}"})
    spec = {
        "rayVersion": "2.49.0",
        "headGroupSpec": {"rayStartParams": {"dashboard-host": "::"}, "template": _template("head")},
        "workerGroupSpecs": workers,
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
            "managedFields": [_entry(api_version, {"spec": spec})],
        },
        "spec": spec,
        "status": status,
    }


def _worker_group(number: int) -> dict[str, Any]:
    return {
        "groupName": f"group-{number}",
        "replicas": 2 + number,
        "minReplicas": 0,
        "maxReplicas": _REPLICAS,  # whatever is asked for fits
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


def as_stored(obj: Mapping[str, Any], *, in_member: bool) -> dict[str, Any]:
    """Return an object as karmada-apiserver has it, or the API server of a member after Karmada has applied it there.

    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": {"suspend": True}}
    >>> as_stored(job, in_member=True)["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    {'f:suspend': {}}
    """
    labels = {**(obj["metadata"].get("labels") or {}), **_POLICY_LABELS}
    annotations = {**(obj["metadata"].get("annotations") or {}), **_POLICY_ANNOTATIONS}
    if in_member:
        labels |= _WORK_LABELS
        annotations |= _WORK_ANNOTATIONS
        annotations["resourcetemplate.karmada.io/managed-labels"] = ",".join(sorted(labels))
        annotations["resourcetemplate.karmada.io/managed-annotations"] = ",".join(sorted(annotations))
    metadata = {**obj["metadata"], **_SERVER_METADATA, "labels": labels, "annotations": annotations}
    parts = {"metadata": {"labels": labels, "annotations": annotations}, "spec": obj.get("spec")}
    entries = [_entry(obj["apiVersion"], {key: part for key, part in parts.items() if part is not None})]
    if obj.get("status") is not None:
        entries.append(_entry(obj["apiVersion"], {"status": obj["status"]}) | {"subresource": "status"})
    return {**obj, "metadata": {**metadata, "managedFields": entries}}


def _entry(api_version: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of one manager that owns every field of some parts, as the API server writes it."""
    return {
        "manager": "kubectl",
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "time": "2026-11-02T08:15:42Z",
        "fieldsV1": _owned(parts),
    }


def _owned(value: Any) -> dict[str, Any]:
    """Return the set of owned fields below a value: lists of named objects by name, other lists as a whole."""
    if isinstance(value, Mapping):
        return {f"f:{key}": _owned(below) for key, below in value.items()}
    if isinstance(value, list) and all(isinstance(element, dict) and "name" in element for element in value):
        return {f'k:{{"name":"{element["name"]}"}}': {".": {}, **_owned(element)} for element in value}
    return {}
