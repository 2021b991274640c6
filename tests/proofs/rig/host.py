"""The cluster that the server runs in, with what decides there how many pods it has.

A member plays it: its API server gets those of Kubernetes' controllers that see to this, metrics-server, and a node.
"""

import base64
import http.client
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from tests.proofs.rig import commands
from tests.proofs.rig.api import Api, ApiError, Object, named, until
from tests.proofs.rig.background import background
from tests.proofs.rig.kubeconfig import certified, write_kubeconfig
from tests.proofs.rig.kubelet import Kubelet, Pod
from tests.proofs.rig.ledger import counted
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port
from tests.proofs.rig.service import Service

NAMESPACE, NAME = "karmada-system", "karta-interpreter"
_KUSTOMIZE = Path(__file__).parents[3] / "deploy" / "kustomize"
_SETTINGS = "/etc/karta-interpreter"
_SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
_USED = f"/apis/metrics.k8s.io/v1beta1/namespaces/{NAMESPACE}/pods"
_METRICS = {"namespace": "kube-system", "name": "metrics-server"}
SECRET = named("v1", "Secret", f"{NAME}-tls", NAMESPACE)
_GLANCE = 0.1

Things = dict[str, Object]


def manifests() -> Things:
    """Return, by kind, what the chart installs there with the autoscaler turned on."""
    files = [*(_KUSTOMIZE / "base").glob("*.yaml"), *(_KUSTOMIZE / "components" / "hpa").glob("*.yaml")]
    found = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files if file.name != "kustomization.yaml"]
    things: Things = {thing["kind"]: thing for thing in found if thing["kind"] not in {"Kustomization", "Component"}}
    # As the component does: the number is the autoscaler's.
    del things["Deployment"]["spec"]["replicas"]
    return things


@dataclass
class Host:
    """The cluster, at work."""

    plane: ControlPlane
    api: Api
    kubelet: Kubelet
    front: Service

    @property
    def pods(self) -> list[Pod]:
        return list(self.kubelet.running.values())

    def install(self, things: Things) -> None:
        for thing in things.values():
            self.api.apply(thing)

    def remove(self, things: Things) -> None:
        """Take away what was installed, and what the server made itself."""
        self.api.delete(things["HorizontalPodAutoscaler"])
        # There is no garbage collector that would see to the pods.
        self.api.merge(things["Deployment"], {"spec": {"replicas": 0}})
        until("no pod is left", lambda: not self.kubelet.running)
        for thing in (*things.values(), SECRET):
            self.api.delete(thing)

    def calls(self) -> dict[str, int]:
        """How many calls each pod has answered."""
        for pod in self.pods:
            pod.read()
        return {pod.name: sum(counted(pod.metrics).values()) for pod in self.pods}

    def authority(self) -> bytes:
        """Whom callers of the server have to trust."""
        return base64.b64decode((self.api.find(SECRET) or {})["data"]["ca.crt"])

    def is_ready(self, pods: int) -> bool:
        """Whether there are so many pods, all of them ready."""
        return len(self.pods) == pods and all(pod.ready for pod in self.pods)


@contextmanager
def hosting(
    plane: ControlPlane,
    api: Api,
    config: Path,
    front: Service,
    *,
    controllers: Iterable[str] = commands.AUTOSCALING,
    images: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[Host]:
    """Have the cluster work until the end of the block; ``config`` is in the Secret with the kubeconfig for Karmada.

    ``images`` has the variables of containers by their image.
    """
    api.add_namespace(NAMESPACE)
    own = write_kubeconfig(administrators(plane), api.port, plane.authority)
    folder = plane.folder / "pod"
    (folder / "karmada").mkdir(parents=True, exist_ok=True)
    (folder / "karmada" / "kubeconfig").write_bytes(config.read_bytes())
    # In a pod it would be the service account.
    environment = {"KUBECONFIG": str(_account(plane, api))}
    folders = {_SETTINGS: str(folder)}
    kubelet = Kubelet(api, NAMESPACE, plane.processes, folders, environment, images or {})
    host = Host(plane, api, kubelet, front)
    with ExitStack() as stack:
        stack.enter_context(host.kubelet.at_work(plane.authority))
        stack.enter_context(background(partial(_route, host)))
        if controllers is commands.AUTOSCALING:
            stack.enter_context(_metering(plane, api, own))
            until("the metrics API is served", lambda: api.get(_USED) is not None)
        command = commands.kube_controller_manager(plane.layout, own, controllers)
        plane.processes.start("kube-controller-manager", *command)
        stack.callback(plane.processes.stop, "kube-controller-manager")
        yield host


def administrators(plane: ControlPlane) -> Path:
    """Return the kubeconfig of the host cluster for an administrator."""
    return plane.folder / "host.config"


def _account(plane: ControlPlane, api: Api) -> Path:
    """Write the kubeconfig of the pods' service account, which need not be there yet."""
    pair = plane.authority.client("account", f"system:serviceaccount:{NAMESPACE}:{NAME}", "system:serviceaccounts")
    return write_kubeconfig(plane.folder / "account.config", api.port, plane.authority, certified(*pair))


@contextmanager
def _metering(plane: ControlPlane, api: Api, config: Path) -> Iterator[None]:
    """Have metrics-server behind the API server."""
    port = free_port()
    plane.authority.server("metrics-server", "metrics-server.kube-system.svc")
    plane.processes.start("metrics-server", *commands.command(plane.layout, "metrics-server", config=config, port=port))
    things = _metrics_api(port, base64.b64encode(plane.authority.bundle).decode())
    for thing in things:
        api.apply(thing)
    try:
        yield
    finally:
        # What is registered and does not answer makes all discovery incomplete.
        for thing in things:
            api.delete(thing)
        plane.processes.stop("metrics-server")


def _metrics_api(port: int, authority: str) -> list[Object]:
    registered = {
        "service": _METRICS | {"port": port},
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "caBundle": authority,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    service = {"spec": {"type": "ExternalName", "externalName": "localhost"}}
    api_service = named("apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io")
    return [named("v1", "Service", **_METRICS) | service, api_service | {"spec": registered}]


def _route(host: Host, ended: threading.Event) -> None:
    """Have the Service lead where its EndpointSlices say, as kube-proxy does."""
    known: set[int] = set()
    while not ended.wait(_GLANCE):
        with suppress(ApiError, OSError, http.client.HTTPException):
            ports = set(_endpoints(host))
            if ports != known:
                host.front.replace(ports)
                known = ports


def _endpoints(host: Host) -> Iterator[int]:
    ports = {pod.address: pod.server.port for pod in host.pods}
    for piece in host.api.request("GET", _SLICES)["items"]:
        for endpoint in piece["endpoints"] or ():
            if endpoint["conditions"]["ready"]:
                yield from (ports[address] for address in endpoint["addresses"] if address in ports)
