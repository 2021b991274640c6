"""The nodes of the member and their scheduler: every pod is bound, and gets the phase that its case wants.

No container runs. A pod's status is what a kubelet would report of containers in that phase.
"""

import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException

from tests.proofs.rig.api import Api, ApiError, Object
from tests.proofs.rig.nodes import add_node
from tests.proofs.rig.podstatus import ENDED, PENDING, pod_status

Wish = Callable[[Object], str]
"""The phase that a pod is to be in."""

NODES = ("node-a", "node-b", "node-c")
_ROOM = {"cpu": "512", "memory": "4Ti", "pods": "2000", "nvidia.com/gpu": "64", "ephemeral-storage": "10Ti"}
_MERGE = "application/merge-patch+json"
_OUTDATED = {404, 409}
_WORKERS = 2


def _pending(_: Object) -> str:
    return PENDING


@dataclass
class Kubelet:
    """Gives pods the phases that cases want, namespace by namespace; pods of no case get the phase of ``otherwise``.

    A pod that gets another image starts it, unless its namespace is among those that keep theirs.
    """

    api: Api
    wishes: dict[str, Wish] = field(default_factory=dict)
    otherwise: Wish = _pending
    keeping_images: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    _pods: dict[str, Object] = field(default_factory=dict)
    _told: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _queue: "queue.SimpleQueue[str]" = field(default_factory=queue.SimpleQueue)
    _turns: "itertools.count[int]" = field(default_factory=itertools.count)
    _addresses: "itertools.count[int]" = field(default_factory=itertools.count)

    def start(self) -> None:
        """Add the nodes, and begin; the threads end with the program."""
        for name in NODES:
            add_node(self.api, name, _ROOM)
        for _ in range(_WORKERS):
            threading.Thread(target=self._work, name="kubelet", daemon=True).start()

    def saw(self, pod: Object, exists: bool) -> None:
        uid = pod["metadata"]["uid"]
        if exists:
            self._pods[uid] = pod
            self._queue.put(uid)
        else:
            self._pods.pop(uid, None)

    def want(self, namespace: str, wish: Wish) -> None:
        """Have the pods of a namespace be in these phases from now on."""
        self.wishes[namespace] = wish
        for uid, pod in list(self._pods.items()):
            if pod["metadata"]["namespace"] == namespace:
                self._queue.put(uid)

    def _work(self) -> None:
        while True:
            pod = self._pods.get(self._queue.get())
            if pod is None:
                continue
            try:
                self._serve(pod)
            except (ApiError, OSError, HTTPException) as error:
                self._told.pop(pod["metadata"]["uid"], None)
                # A pod may be gone, or another one, since its event.
                if not isinstance(error, ApiError) or error.status not in _OUTDATED:
                    self.errors.append(repr(error))

    def _serve(self, pod: Object) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        deleted = "deletionTimestamp" in metadata
        phase = pod.get("status", {}).get("phase", PENDING)
        if not spec.get("nodeName"):
            if deleted:
                self._remove(path)
            elif not spec.get("schedulingGates"):
                self._bind(path, pod)
        elif deleted:
            if phase not in ENDED:
                self._tell(path, pod, "Failed")  # as a kubelet that has stopped the containers
            self._remove(path)
        elif phase not in ENDED:
            self._fulfil(path, pod)

    def _fulfil(self, path: str, pod: Object) -> None:
        metadata = pod["metadata"]
        wanted = self.wishes.get(metadata["namespace"], self.otherwise)(pod)
        keeps = metadata["namespace"] in self.keeping_images
        told = wanted, *(container["image"] for container in pod["spec"]["containers"] if not keeps)
        if self._told.get(metadata["uid"]) != told:
            self._told[metadata["uid"]] = told
            self._tell(path, pod, wanted)

    def _bind(self, path: str, pod: Object) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": self._node(pod["spec"])}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod["metadata"]["name"]},
            "target": target,
        }
        self.api.request("POST", f"{path}/binding", binding)

    def _node(self, spec: Object) -> str:
        """Return the node that a DaemonSet or a selector names, or else the next one."""
        named = [spec.get("nodeSelector", {}).get("kubernetes.io/hostname")]
        affinity = spec.get("affinity", {}).get("nodeAffinity", {})
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
        for term in required.get("nodeSelectorTerms", []):
            named += [value for entry in term.get("matchFields", []) for value in entry["values"]]
        known = [name for name in named if name in NODES]
        return known[0] if known else NODES[next(self._turns) % len(NODES)]

    def _tell(self, path: str, pod: Object, wanted: str) -> None:
        status = pod_status(pod, wanted, next(self._addresses))
        self.api.request("PATCH", f"{path}/status", {"status": status}, _MERGE)

    def _remove(self, path: str) -> None:
        self.api.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
