"""The objects of the fleet: what users write, of fifteen kinds, each a little different from the next of its kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.proofs.rig.api import Object
from tests.proofs.rig.places import Place

SETTINGS: Sequence[Object] = (
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"level": "info"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}, "stringData": {"token": "none"}},
)
"""What pods of every namespace name."""


@dataclass(frozen=True)
class Kind:
    """A kind: ``count`` is the place of its replicas, ``pod`` that of a pod template, ``switch`` that of its switch.

    ``spec`` makes the spec of an object from its name and number. ``divided`` is whether members share its replicas.
    """

    api_version: str
    name: str
    stem: str
    namespace: str
    spec: Callable[[str, int], Object]
    count: Place = ()
    pod: Place = ()
    switch: Place = ()
    divided: bool = False
    completes: bool = False
    weight: int = 4
    """Objects of a fleet of a hundred."""

    def object(self, number: int, **labels: str) -> Object:
        name = f"{self.stem}-{number:03}"
        own = {"app": name, "team": _TEAMS[number % 3], **labels}
        metadata = {"name": name, "namespace": self.namespace, "labels": own}
        annotations = {"docs": f"https://wiki.example.org/{self.stem}/{number}"}
        spec = self.spec(name, number)
        return {
            "apiVersion": self.api_version,
            "kind": self.name,
            "metadata": {**metadata, "annotations": annotations},
            "spec": spec,
        }


_TEAMS = ("search", "speech", "ranking")


def pod(name: str, number: int, restart: str = "", gpus: int = 0) -> Object:
    """Return a pod template: one to three containers, with an environment, volumes and sometimes a first container."""
    containers = [_container(name, number, index, gpus if index == 0 else 0) for index in range(1 + number % 3)]
    spec: Object = {
        "containers": containers,
        "volumes": [{"name": "cache", "emptyDir": {}}, {"name": "settings", "configMap": {"name": "settings"}}],
    }
    if number % 4 == 1:
        first = {"name": "fetch", "image": "registry.example/fetch:4", "resources": {"requests": {"cpu": "100m"}}}
        spec["initContainers"] = [first]
    if number % 5 == 2:
        spec["tolerations"] = [{"key": "pool", "operator": "Exists"}]
    if restart:
        spec["restartPolicy"] = restart
    return {"metadata": {"labels": {"app": name}, "annotations": {"owner": _TEAMS[number % 3]}}, "spec": spec}


def _container(name: str, number: int, index: int, gpus: int) -> Object:
    environment = [{"name": f"{name.upper().replace('-', '_')}_{at}", "value": f"{number}-{at}"} for at in range(6)]
    secret = {"secretKeyRef": {"name": "token", "key": "token"}}
    requests = {"cpu": f"{100 + 50 * (number % 7)}m", "memory": f"{128 * (1 + number % 5)}Mi"}
    resources: Object = {"requests": requests}
    if gpus:
        resources["limits"] = {"nvidia.com/gpu": str(gpus)}
    return {
        "name": ("main", "proxy", "metrics")[index],
        "image": f"registry.example/{name.partition('-')[0]}:{number % 9}",
        "args": ["--shard", str(number), "--verbose"],
        "env": [*environment, {"name": "TOKEN", "valueFrom": secret}],
        "resources": resources,
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    }


def _service(name: str, number: int) -> Object:
    selector = {"matchLabels": {"app": name}}
    return {"replicas": 2 + number % 3, "selector": selector, "template": pod(name, number)}


def _stateful(name: str, number: int) -> Object:
    return {**_service(name, number), "replicas": 1 + number % 2, "serviceName": name}


def _daemon(name: str, number: int) -> Object:
    return {key: value for key, value in _service(name, number).items() if key != "replicas"}


def _job(name: str, number: int) -> Object:
    return {"parallelism": 2, "completions": 2, "backoffLimit": 1, "template": pod(name, number, "Never")}


def _cron(name: str, number: int) -> Object:
    return {"schedule": "*/1 * * * *", "jobTemplate": {"spec": _job(name, number)}}


def _broadcast(name: str, number: int) -> Object:
    return {"parallelism": 1, "completionPolicy": {"type": "Always"}, "template": pod(name, number, "Never")}


def _united(name: str, number: int) -> Object:
    selector = {"matchLabels": {"app": name}}
    template = {"metadata": {"labels": {"app": name}}, "spec": _service(name, number)}
    subsets = [{"name": "east", "replicas": 1}, {"name": "west"}]
    return {
        "replicas": 2,
        "selector": selector,
        "template": {"cloneSetTemplate": template},
        "topology": {"subsets": subsets},
    }


def _job_set(name: str, number: int) -> Object:
    def jobs(role: str, count: int) -> Object:
        spec = {"parallelism": count, "completions": count, "backoffLimit": 0, "template": pod(name, number, "Never")}
        return {"name": role, "replicas": 1, "template": {"spec": spec}}

    return {"failurePolicy": {"maxRestarts": 1}, "replicatedJobs": [jobs("driver", 1), jobs("workers", 2)]}


def _leader_workers(name: str, number: int) -> Object:
    return {
        "replicas": 1 + number % 2,
        "leaderWorkerTemplate": {"size": 2, "workerTemplate": pod(name, number, gpus=1)},
    }


def _ray(name: str, number: int) -> Object:
    group = {"groupName": "small", "replicas": 1, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {}}
    return {
        "rayVersion": "2.46.0",
        "headGroupSpec": {"rayStartParams": {}, "template": pod(name, number)},
        "workerGroupSpecs": [{**group, "template": pod(name, number, gpus=1)}],
    }


def _ray_job(name: str, number: int) -> Object:
    # Only one that takes its cluster away can be suspended.
    return {"entrypoint": "python train.py", "shutdownAfterJobFinishes": True, "rayClusterSpec": _ray(name, number)}


def _mpi(name: str, number: int) -> Object:
    roles = {"Launcher": 1, "Worker": 2}
    specs = {role: {"replicas": count, "template": pod(name, number)} for role, count in roles.items()}
    return {"slotsPerWorker": 1, "runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": specs}


_TEMPLATE: Place = ("spec", "template")
_REPLICAS: Place = ("spec", "replicas")
_KRUISE = "apps.kruise.io/v1alpha1"
_RAY_POD: Place = ("spec", "headGroupSpec", "template")
_RAY_COUNT: Place = ("spec", "workerGroupSpecs", 0, "replicas")
_LWS_POD: Place = ("spec", "leaderWorkerTemplate", "workerTemplate")

KINDS: Sequence[Kind] = (
    Kind("apps/v1", "Deployment", "deploy", "web", _service, _REPLICAS, _TEMPLATE, divided=True, weight=16),
    Kind("apps/v1", "StatefulSet", "sts", "web", _stateful, _REPLICAS, _TEMPLATE, divided=True, weight=9),
    Kind("apps/v1", "DaemonSet", "ds", "web", _daemon, pod=_TEMPLATE, weight=3),
    Kind("batch/v1", "Job", "job", "batch", _job, switch=("spec", "suspend"), completes=True, weight=10),
    Kind("batch/v1", "CronJob", "cron", "batch", _cron, switch=("spec", "suspend"), weight=4),
    Kind(_KRUISE, "CloneSet", "clone", "web", _service, _REPLICAS, _TEMPLATE, divided=True, weight=10),
    Kind("apps.kruise.io/v1beta1", "StatefulSet", "asts", "web", _stateful, _REPLICAS, _TEMPLATE, weight=5),
    Kind(_KRUISE, "DaemonSet", "ads", "web", _daemon, pod=_TEMPLATE, weight=3),
    Kind(_KRUISE, "BroadcastJob", "bjob", "batch", _broadcast, completes=True, weight=4),
    Kind(_KRUISE, "UnitedDeployment", "united", "web", _united, _REPLICAS, weight=4),
    Kind(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "jobset",
        "batch",
        _job_set,
        switch=("spec", "suspend"),
        completes=True,
        weight=9,
    ),
    Kind(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "lws",
        "ml",
        _leader_workers,
        _REPLICAS,
        _LWS_POD,
        divided=True,
        weight=6,
    ),
    Kind("ray.io/v1", "RayCluster", "ray", "ml", _ray, _RAY_COUNT, _RAY_POD, weight=8),
    Kind("ray.io/v1", "RayJob", "rayjob", "ml", _ray_job, switch=("spec", "suspend"), completes=True, weight=4),
    Kind(
        "kubeflow.org/v2beta1",
        "MPIJob",
        "mpi",
        "batch",
        _mpi,
        switch=("spec", "runPolicy", "suspend"),
        completes=True,
        weight=5,
    ),
)
NAMESPACES = tuple(dict.fromkeys(kind.namespace for kind in KINDS))
