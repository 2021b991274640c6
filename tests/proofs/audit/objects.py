"""Dear objects of the catalogue's kinds, below and above the bound of large bodies."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post

_CLIENTS, _CLIENTS_OF_LARGE = 2, 4
_POD: Final = {
    "containers": [{"name": "main", "image": "registry.example/main", "resources": {"requests": {"cpu": "1"}}}]
}
_UID: Final = "3f1d8f0e-6a0b-4f4e-9c1d-000000000001"
_MANY: Final = 9_000


def body(operation: str, obj: Mapping[str, Any], **more: Any) -> bytes:
    """Return the body of a call, spelled as Karmada does."""
    group, _, version = obj["apiVersion"].rpartition("/")
    request = {
        "uid": _UID,
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "name": "hostile",
        "namespace": "bakery",
        "operation": operation,
        "object": obj,
        "replicas": 0,
        **more,
    }
    context = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
    return json.dumps(context, separators=(",", ":")).encode() + b"\n"


def pod_clique_set(names: int) -> dict[str, Any]:
    """Return a PodCliqueSet whose scaling group has that many names."""
    clique = {"name": "clique-0", "spec": {"roleName": "a", "replicas": 2, "podSpec": _POD}}
    group = {"name": "group", "replicas": 2, "cliqueNames": [f"clique-{number}" for number in range(names)]}
    template = {"cliques": [clique], "podCliqueScalingGroups": [group]}
    return _object("grove.io/v1alpha1", "PodCliqueSet", {"replicas": 2, "template": template})


def nim_service(secrets: int) -> dict[str, Any]:
    """Return a NIMService that pulls its image with that many secrets, and has as many certificates."""
    names = [f"secret-{number}" for number in range(secrets)]
    image = {"repository": "registry.example/nim", "pullSecrets": names}
    return _object("apps.nvidia.com/v1alpha1", "NIMService", {"image": image, "replicas": 2, "authSecret": "a"})


def ray_cluster(groups: int, variables: int = 0) -> dict[str, Any]:
    """Return a RayCluster with that many worker groups."""
    env = [{"name": f"N{number}", "value": "x"} for number in range(variables)]
    template = {"spec": {"containers": [_POD["containers"][0] | {"env": env}]}}
    workers = [{"groupName": f"g{number}", "replicas": 1, "template": template} for number in range(groups)]
    return _object("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": template}, "workerGroupSpecs": workers})


def deployment(pod: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a Deployment of a pod."""
    return _object("apps/v1", "Deployment", {"replicas": 2, "template": {"spec": pod}}, **more)


def _object(api_version: str, kind: str, spec: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "hostile", "namespace": "bakery"},
        "spec": spec,
        **more,
    }


def _nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": [value]}
    return value


def _clusters(count: int, conditions: int) -> Sequence[Mapping[str, Any]]:
    found = [
        {"type": f"T{number}", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for number in range(conditions)
    ]
    status = {"replicas": 1, "readyReplicas": 1, "observedGeneration": 1, "conditions": found}
    return [{"clusterName": f"member-{number}", "status": status, "applied": True} for number in range(count)]


def _containers(count: int, **fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": f"c{number}", "image": "x", **fields} for number in range(count)]}


def small() -> Iterator[bytes]:
    """Yield bodies that are answered in the server's own process, or would be if they were counted wrongly."""
    env = [{"name": "n", "valueFrom": {"secretKeyRef": {"name": f"s{number}"}}} for number in range(2_000)]
    resources = {"requests": {f"x.io/r{number}": "1" for number in range(5_000)}}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _nested(400)}}
    dear = [
        pod_clique_set(_MANY),
        nim_service(_MANY),
        ray_cluster(200, 10),
        ray_cluster(1_000),
        deployment(_containers(3_000)),
        deployment(_containers(1, env=env)),
        deployment(_containers(1, resources=resources)),
        deployment(
            {**_POD, "volumes": [{"name": "v", "secret": {"secretName": f"s{number}"}} for number in range(2_500)]}
        ),
        deployment({**_POD, "affinity": affinity}),
        deployment({**_POD, "nodeSelector": {f"k{number}": "v" for number in range(9_000)}}),
        deployment({**_POD, "tolerations": [{"key": f"k{number}"} for number in range(5_000)]}),
        deployment({**_POD, "serviceAccountName": "x" * 1_900_000}),
        deployment(_POD, status=_nested(450)),
        deployment(_POD, status={"conditions": [{"type": f"T{number}", "status": "True"} for number in range(3_900)]}),
        deployment(_containers(1, resources={"requests": {"cpu": "9" * 100_000, "memory": "1e" + "9" * 50}})),
    ]
    for obj in dear:
        for operation in (
            "InterpretReplica",
            "InterpretComponent",
            "InterpretDependency",
            "InterpretHealth",
            "InterpretStatus",
        ):
            yield body(operation, obj)
        yield body("ReviseReplica", obj, replicas=7)
    for count, conditions in ((100, 10), (1_000, 0), (2, 1_500)):
        yield body("AggregateStatus", deployment(_POD), aggregatedStatus=_clusters(count, conditions))
    for obj in (deployment(_containers(2_000)), ray_cluster(200, 5)):
        yield body("Retain", obj, observedObject=obj)


def large() -> Iterator[bytes]:
    """Yield bodies that are answered in a process of their own."""
    for obj in (pod_clique_set(100_000), nim_service(100_000), ray_cluster(10_000), deployment(_containers(100_000))):
        for operation in ("InterpretReplica", "InterpretDependency", "InterpretHealth"):
            yield body(operation, obj)
    yield body("InterpretStatus", deployment(_POD, status="@")).replace(
        b'"@"', b'{"a":' * 400_000 + b"1" + b"}" * 400_000
    )
    yield body("AggregateStatus", deployment(_POD), aggregatedStatus=_clusters(1_000, 20))
    yield body("AggregateStatus", deployment(_POD), aggregatedStatus=_clusters(20_000, 2))
    yield body("InterpretHealth", deployment(_POD, status={"a": "x" * 30_000_000}))
    yield body("InterpretHealth", deployment(_POD))[:-3] + b',"x":' + b"[" * 3_000_000
    yield b'{"request":{"object":' + b'{"a":[' * 2_000_000
    yield b'{"request":{"object":{"a":[' + b'{"a":{}},' * 3_400_000 + b"{}]}}}"
    yield b'{"request":{"object":[' + b"1e308," * 5_000_000 + b"1]}}"


async def _small(target: Target) -> Found:
    bodies = cycle(list(small()))
    await target.flood((post(each) for each in bodies), _CLIENTS, target.effort.seconds)
    return target.found()


async def asked_large(target: Target) -> Found:
    await target.flood((post(each) for each in large()), _CLIENTS_OF_LARGE, 2 * target.effort.seconds, patience=30)
    return target.found()


SMALL = Attack(_small)
LARGE = Attack(asked_large, contained=False)
