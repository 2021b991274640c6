"""Kinds of workloads with pods, and what controllers of members do to them in spite of Karmada."""

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.webhook.answering.members import Thing, Write, go

POD = {
    "metadata": {"labels": {"app": "train"}, "annotations": {"team": "a"}},
    "spec": {
        "priorityClassName": "low",
        "containers": [
            {
                "name": "main",
                "image": "train:1",
                "args": ["--b", "--a"],
                "env": [{"name": "TOKEN", "value": "s3cr3t"}],
                "resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}},
            }
        ],
    },
}
GROUP = {"groupName": "gpu", "replicas": 2, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {}}
KINDS: dict[str, tuple[str, str, Thing]] = {
    "Deployment": (
        "apps/v1",
        ".spec.template",
        {"replicas": 2, "selector": {"matchLabels": {"app": "train"}}, "template": POD},
    ),
    "RayCluster": (
        "ray.io/v1",
        ".spec.headGroupSpec.template",
        {"headGroupSpec": {"rayStartParams": {}, "template": POD}, "workerGroupSpecs": [{**GROUP, "template": POD}]},
    ),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        ".spec.replicatedJobs[].template.spec.template",
        {
            "replicatedJobs": [
                {"name": "work", "replicas": 2, "template": {"spec": {"parallelism": 2, "template": POD}}}
            ]
        },
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        ".spec.pytorchReplicaSpecs.Worker.template",
        {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": POD}}},
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        ".spec.leaderWorkerTemplate.workerTemplate",
        {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": POD}},
    ),
    "Notebook": ("kubeflow.org/v1", ".spec.template", {"template": POD}),
}


def template(kind: str, **spec: Any) -> Thing:
    api_version, _, made = KINDS[kind]
    metadata = {"name": "train", "namespace": "ml", "annotations": {}, "labels": {}}
    # Copied by way of its text: head and worker have pods of their own.
    found: Thing = json.loads(go({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": made | spec}))
    return found


def pods(kind: str, thing: Thing) -> Thing:
    found: Any = thing
    for step in KINDS[kind][1].lstrip(".").replace("[]", ".0").split("."):
        found = found[int(step) if step == "0" else step]
    assert isinstance(found, dict)
    return found


def setter(*path: str, value: Callable[[int], object]) -> Write:
    def change(pod: Thing, number: int) -> None:
        here = pod
        for step in path[:-1]:
            here = here["containers" if step == "containers[]" else step]
            here = here[-1] if isinstance(here, list) else here
        here[path[-1]] = value(number)

    return change


SIDECAR = {"name": "mesh", "image": "mesh:1"}


def inject(first: bool) -> Write:
    def change(pod: Thing, _: int) -> None:
        listed = pod["spec"]["containers"]
        if all(each["name"] != "mesh" for each in listed):
            listed.insert(0 if first else len(listed), copy.deepcopy(SIDECAR))

    return change


def drop_priority(pod: Thing, _: int) -> None:
    pod["spec"].pop("priorityClassName", None)


def set_env(pod: Thing, _: int) -> None:
    pod["spec"]["containers"][-1]["env"][0]["value"] = "0ther-s3cr3t"


def add_env(pod: Thing, _: int) -> None:
    listed = pod["spec"]["containers"][-1]["env"]
    if len(listed) == 1:
        listed.append({"name": "NODE", "value": "n"})


MAIN = ".spec.containers[]"
WRITES: dict[str, tuple[Write, str]] = {
    "a default of pods": (
        setter("spec", "terminationGracePeriodSeconds", value=lambda _: 45),
        ".spec.terminationGracePeriodSeconds",
    ),
    "a default of containers": (
        setter("spec", "containers[]", "imagePullPolicy", value=lambda _: "Always"),
        f"{MAIN}.imagePullPolicy",
    ),
    "a node selector": (setter("spec", "nodeSelector", value=lambda _: {"disk": "nvme"}), ".spec.nodeSelector"),
    "a sidecar behind": (inject(first=False), MAIN),
    "a sidecar in front": (inject(first=True), MAIN),
    "a sorted list": (setter("spec", "containers[]", "args", value=lambda _: ["--a", "--b"]), f"{MAIN}.args"),
    "a time": (
        setter("metadata", "annotations", "restartedAt", value=lambda number: f"2026-11-22T20:{number:02}:00Z"),
        ".metadata.annotations.restartedAt",
    ),
    "a vertical autoscaler": (
        setter("spec", "containers[]", "resources", "requests", "memory", value=lambda number: f"{number + 2}Gi"),
        f"{MAIN}.resources.requests.memory",
    ),
    "a pinned image": (setter("spec", "containers[]", "image", value=lambda _: "train@sha256:1"), f"{MAIN}.image"),
    "a dropped field": (drop_priority, ".spec.priorityClassName"),
    "a variable": (add_env, f"{MAIN}.env[]"),
    "a secret": (set_env, f"{MAIN}.env[].value"),
}
