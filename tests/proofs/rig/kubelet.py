"""The one node of a cluster: runs the pods of a namespace as plain processes, and reports their state.

It is the scheduler, too, for which there is nothing to choose. Pods of Jobs run to their end.
"""

import http.client
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.proofs.rig.api import Api, ApiError, Object, named
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.background import background
from tests.proofs.rig.interpreter import PROGRAM, Interpreter, start
from tests.proofs.rig.nodes import add_node
from tests.proofs.rig.processes import Process, Processes, free_port
from tests.proofs.rig.usage import Container, Usage, telling

NODE = "host-node"
_NODE = named("v1", "Node", NODE)
_GLANCE = 0.1
_MERGE = "application/merge-patch+json"
_OUTDATED = http.client.NOT_FOUND, http.client.CONFLICT


@dataclass
class Pod:
    """A pod that runs; ``address`` is what the cluster knows it by."""

    name: str
    address: str
    container: Object
    server: Interpreter
    started: float = field(default_factory=time.time)
    ready: bool = False
    stopping: bool = False
    dead: bool = False
    looked: float = 0.0
    failures: int = 0
    metrics: str = ""

    @property
    def usage(self) -> Usage:
        return Usage.of(self.server.process.child.pid)

    def look(self) -> bool:
        """Ask as the readiness probe says; tell whether that changed anything."""
        probe = self.container["readinessProbe"]
        period = probe["periodSeconds"] if self.ready else self.container["startupProbe"]["periodSeconds"]
        if time.monotonic() - self.looked < period:
            return False
        self.looked, was = time.monotonic(), self.ready
        self.failures = 0 if self._answers() else self.failures + 1
        self.ready = not self.failures or (was and self.failures < probe["failureThreshold"])
        return self.ready is not was

    def read(self) -> None:
        """Remember its metrics, as long as it answers."""
        with suppress(OSError, http.client.HTTPException):
            self.metrics = self.server.get("/metrics")[1]

    def _answers(self) -> bool:
        try:
            return self.server.ready()
        except (OSError, http.client.HTTPException):
            return False


@dataclass
class Kubelet:
    """Runs pods.

    ``folders`` has the folders of this machine for paths of a container, ``environment`` the variables of every
    container, and ``images`` those of the containers of an image.
    """

    api: Api
    namespace: str
    processes: Processes
    folders: Mapping[str, str]
    environment: Mapping[str, str]
    images: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    running: dict[str, Pod] = field(default_factory=dict)
    gone: list[Pod] = field(default_factory=list)
    """Those that have ended, with the metrics that they had last."""
    tasks: dict[str, Process] = field(default_factory=dict)
    """Pods that run to their end, or have."""
    errors: list[BaseException] = field(default_factory=list)
    started: int = 0

    @contextmanager
    def at_work(self, authority: Authority) -> Iterator["Kubelet"]:
        """Be a node of the cluster until the end of the block, which leaves no pod behind."""
        port = free_port()
        pair = authority.server("kubelet", NODE)
        self._join(port)
        try:
            with background(self._work), telling(port, pair, self._containers):
                yield self
        finally:
            for process in (*(pod.server.process for pod in self.running.values()), *self.tasks.values()):
                process.stop()
            self.api.delete(_NODE)

    def _join(self, port: int) -> None:
        add_node(self.api, NODE)
        addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
        endpoint = {"daemonEndpoints": {"kubeletEndpoint": {"Port": port}}, "addresses": addresses}
        self.api.put(_NODE, lambda now: now | {"status": now["status"] | endpoint}, "/status")

    def _work(self, ended: threading.Event) -> None:
        while not ended.wait(_GLANCE):
            try:
                self._round()
            except (ApiError, OSError, http.client.HTTPException) as error:
                # A pod may be gone, or another one, since the list was read.
                if not isinstance(error, ApiError) or error.status not in _OUTDATED:
                    self.errors.append(error)

    def _round(self) -> None:
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        for found in self.api.request("GET", pods)["items"]:
            name = found["metadata"]["name"]
            path = f"{pods}/{name}"
            pod = self.running.get(name)
            if not found["spec"].get("nodeName"):
                target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
                self.api.request("POST", f"{path}/binding", binding)
            elif found["spec"]["restartPolicy"] == "Never":
                self._run(path, found)
            elif pod is None:
                self.running[name] = self._start(found)
                self._tell(path, self.running[name])
            elif "deletionTimestamp" in found["metadata"]:
                self._end(path, pod)
            elif not pod.server.process.alive:
                self._complain(pod)
            elif pod.look():
                self._tell(path, pod)

    def _run(self, path: str, found: Object) -> None:
        name, status = found["metadata"]["name"], found["status"]
        if name not in self.tasks:
            (container,) = found["spec"]["containers"]
            command = [PROGRAM, *container["args"]]
            self.tasks[name] = self.processes.start(name, *command, environment=self._variables(container))
            self.api.request("PATCH", f"{path}/status", {"status": {"phase": "Running"}}, _MERGE)
        elif status["phase"] == "Running" and not self.tasks[name].alive:
            phase = "Failed" if self.tasks[name].child.returncode else "Succeeded"
            self.api.request("PATCH", f"{path}/status", {"status": {"phase": phase}}, _MERGE)
        elif "deletionTimestamp" in found["metadata"]:
            self.tasks[name].child.kill()
            self.api.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})

    def _variables(self, container: Object) -> dict[str, str]:
        own = {one["name"]: self._placed(one["value"]) for one in container["env"]}
        return {**own, **self.environment, **self.images.get(container["image"], {})}

    def _start(self, found: Object) -> Pod:
        self.started += 1
        (container,) = found["spec"]["containers"]
        command, *arguments = container["args"]
        assert command == "serve"
        # All pods are on one machine here: each has a port of its own, whatever its address is.
        shared = "--host=", "--port=", "--health-port="
        own = [self._placed(argument) for argument in arguments if not argument.startswith(shared)]
        name, address = found["metadata"]["name"], ("localhost", free_port())
        server = start(self.processes, name, address, None, *own, environment=self._variables(container))
        return Pod(name, f"10.244.0.{self.started}", container, server)

    def _placed(self, text: str) -> str:
        for path, folder in self.folders.items():
            text = text.replace(path, folder)
        return text

    def _tell(self, path: str, pod: Pod) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        states = {"PodScheduled": True, "Initialized": True, "ContainersReady": pod.ready, "Ready": pod.ready}
        conditions = [{"type": name, "status": str(state), "lastTransitionTime": now} for name, state in states.items()]
        begun = datetime.fromtimestamp(pod.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        address = {"podIP": pod.address, "podIPs": [{"ip": pod.address}], "hostIP": "127.0.0.1"}
        status: dict[str, Any] = {"phase": "Running", "conditions": conditions, "startTime": begun, **address}
        self.api.request("PATCH", f"{path}/status", {"status": status}, _MERGE)

    def _end(self, path: str, pod: Pod) -> None:
        if not pod.stopping:
            pod.stopping = True
            pod.server.terminate()
        pod.read()
        if pod.server.process.alive:
            return
        self.gone.append(self.running.pop(pod.name))
        self.api.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})

    def _complain(self, pod: Pod) -> None:
        # It is not started again: no pod of these tests has a reason to end.
        if not pod.dead:
            self.errors.append(RuntimeError(f"{pod.name} has ended by itself:\n{pod.server.process.tail()}"))
        pod.dead, pod.ready = True, False

    def _containers(self) -> list[Container]:
        pods = list(self.running.values())
        return [Container(self.namespace, pod.name, pod.container["name"], pod.started, pod.usage) for pod in pods]
