"""Nine fights that are seeded, and the writers in members that look like one and are none."""

import copy
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from typing import Any

from tests.proofs.fleet.workloads import KINDS, Kind
from tests.proofs.rig.api import ApiError, Object
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.places import at

Change = Callable[[Object, int], None]

FIRST = 900
"""The number of the first object with a fight: those of the plan are below."""
_HUMAN = "kubectl-edit"
_AUTOSCALER = "kube-controller-manager"
_UNKNOWN = "unknown"
_TURNS = 5
"""How often a write is tried: somebody else may have written at the same time."""


@dataclass(frozen=True)
class Seeded:
    """A fight: ``change`` is what the member's ``manager`` insists on, which is the value of ``field``.

    Without a change it is Kubernetes' own autoscaler. With ``scale`` it writes through that subresource.
    """

    number: int
    stem: str
    manager: str
    field: str
    change: Change | None = None
    scale: bool = False

    @property
    def kind(self) -> Kind:
        return next(kind for kind in KINDS if kind.stem == self.stem)

    @property
    def name(self) -> str:
        return f"{self.stem}-{FIRST + self.number:03}"

    @property
    def named(self) -> str:
        """The manager that is to be named. Whoever removes a field does not own it."""
        return _UNKNOWN if self.manager == "policy-cleaner" else self.manager


def _set(*place: str | int, value: Callable[[int], object]) -> Change:
    def change(thing: Object, number: int) -> None:
        *parents, last = place
        at(thing, tuple(parents))[last] = value(number)

    return change


def _inject(thing: Object, _: int) -> None:
    containers = thing["spec"]["headGroupSpec"]["template"]["spec"]["containers"]
    if all(one["name"] != "mesh" for one in containers):
        containers.append({"name": "mesh", "image": "registry.example/mesh:1"})


def _drop(thing: Object, _: int) -> None:
    thing["spec"]["template"]["metadata"].get("annotations", {}).pop("owner", None)


_POD: Sequence[str | int] = ("spec", "template", "spec")
_CONTAINER: Sequence[str | int] = (*_POD, "containers", 0)
_IN_CONTAINER = ".spec.template.spec.containers[]"

SEEDED: Sequence[Seeded] = (
    Seeded(0, "deploy", _AUTOSCALER, ".spec.replicas"),
    Seeded(
        1,
        "deploy",
        "vpa-updater",
        f"{_IN_CONTAINER}.resources.requests.memory",
        _set(*_CONTAINER, "resources", "requests", "memory", value=lambda number: f"{300 + number}Mi"),
    ),
    Seeded(
        2,
        "deploy",
        _HUMAN,
        ".spec.template.spec.nodeSelector",
        _set(*_POD, "nodeSelector", value=lambda _: {"disk": "fast"}),
    ),
    Seeded(
        3,
        "clone",
        "image-pinner",
        f"{_IN_CONTAINER}.image",
        _set(*_CONTAINER, "image", value=lambda _: "registry.example/clone@sha256:1"),
    ),
    Seeded(
        4,
        "ray",
        "ray-scaler",
        ".spec.workerGroupSpecs[].replicas",
        _set("spec", "workerGroupSpecs", 0, "replicas", value=lambda _: 3),
    ),
    Seeded(5, "ray", "mesh-injector", ".spec.headGroupSpec.template.spec.containers[]", _inject),
    Seeded(6, "lws", "keda-operator", ".spec.replicas", _set("spec", "replicas", value=lambda _: 3), scale=True),
    Seeded(
        7,
        "sts",
        "secrets-operator",
        f"{_IN_CONTAINER}.env[].value",
        _set(*_CONTAINER, "env", 0, "value", value=lambda _: "rotated"),
    ),
    Seeded(8, "deploy", "policy-cleaner", ".spec.template.metadata.annotations.owner", _drop),
)


def autoscaler(name: str, namespace: str, least: int = 4) -> Object:
    """Return the autoscaler of a Deployment, which wants at least so many replicas."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": least + 1, "metrics": [cpu]}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


@dataclass
class Writer:
    """Insists on a value in a member, every ``seconds``, in a thread of its own."""

    seeded: Seeded
    member: Cluster
    thing: Object
    seconds: float
    stopped: threading.Event
    errors: list[str] = field(default_factory=list)

    def start(self) -> None:
        threading.Thread(target=self._work, name=self.seeded.name, daemon=True).start()

    def _work(self) -> None:
        number = 0
        if self.seeded.change is None:
            metadata = self.thing["metadata"]
            self._attempt(partial(self.member.member.apply, autoscaler(metadata["name"], metadata["namespace"])))
            return
        while not self.stopped.wait(self.seconds):
            self._attempt(partial(self._write, self.seeded.change, number))
            number += 1

    def _write(self, change: Change, number: int) -> None:
        api = self.member.member
        live = api.find(self.thing)
        if live is None:
            return
        changed: Any = copy.deepcopy(live)
        change(changed, number)
        if changed == live:
            return
        path = f"{api.path(live)}{'/scale' if self.seeded.scale else ''}?fieldManager={self.seeded.manager}"
        if self.seeded.scale:
            api.request(
                "PATCH", path, {"spec": {"replicas": changed["spec"]["replicas"]}}, "application/merge-patch+json"
            )
        else:
            api.request("PUT", path, changed)

    def _attempt(self, write: Callable[[], object]) -> None:
        with suppress(OSError, HTTPException):
            for _ in range(_TURNS):
                try:
                    write()
                except ApiError as error:
                    self.errors.append(str(error)[:200])
                else:
                    return
