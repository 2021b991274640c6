"""A member with real controllers, and a karmada-apiserver: API servers on loopback that share one etcd.

karmada-apiserver has the CRDs only: what it stores is the object that Karmada would make a template of.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import yaml

from tests.proofs.rig import commands
from tests.proofs.rig.activity import Activity
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.client import Client, Watch
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import Interpreter, serve
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.layout import Layout
from tests.proofs.rig.phase_kubelet import Kubelet
from tests.proofs.rig.processes import Process, Processes, free_port, listens

_MEMBER = "member1"
_CONTROLLERS = (
    *("deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller"),
    *("job-controller", "cronjob-controller", "garbage-collector-controller", "namespace-controller"),
    *("serviceaccount-controller", "serviceaccount-token-controller"),
    *("endpointslice-controller", "endpoints-controller"),
    *("ttl-after-finished-controller", "replicationcontroller-controller", "horizontal-pod-autoscaler-controller"),
)
_PATIENCE = 120.0
_WRITERS = 4


@dataclass
class Cluster:
    """A member and its control plane, with the files and the programs of the member in ``folder``.

    ``programs`` are the files of the controllers by name, ``crds`` what these have installed. ``listeners`` get the
    namespace and the phase whenever a case wants its pods in another one, for what controllers ask next to the server.
    """

    layout: Layout
    folder: Path
    programs: Mapping[str, Path]
    processes: Processes
    karmada: Client
    member: Client
    kubelet: Kubelet
    activity: Activity = field(default_factory=Activity)
    listeners: list[Callable[[str, str], None]] = field(default_factory=list)
    crds: list[Object] = field(default_factory=list)
    watches: dict[str, Watch] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path, binaries: Path, programs: Mapping[str, Path]) -> Self:
        """Lay out the files of a control plane and its member; nothing runs yet."""
        layout = Layout.create(folder, binaries)
        return cls.of(layout, _MEMBER, folder, programs)

    @classmethod
    def of(cls, layout: Layout, name: str, folder: Path, programs: Mapping[str, Path]) -> Self:
        """Lay out the files of a member, for itself in ``folder``."""
        (folder / "log").mkdir(parents=True, exist_ok=True)
        # The names that controllers look for in a folder of certificates.
        layout.authority.server("tls", "localhost")
        context = layout.context()
        karmada, member = (Client(one, layout.ports[one], context) for one in ("karmada", name))
        cluster = cls(layout, folder, programs, Processes(folder / "log"), karmada, member, Kubelet(member))
        write_kubeconfig(cluster.kubeconfig, member.port, layout.authority)
        # Where controllers look for them that cannot be told.
        served = cluster.temporary / "k8s-webhook-server"
        served.mkdir(parents=True)
        (served / "serving-certs").symlink_to(layout.pki)
        return cluster

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator of the member."""
        return self.folder / "member.config"

    @property
    def certificates(self) -> Path:
        """A folder with ``tls.crt``, ``tls.key`` and ``ca.crt`` for webhooks."""
        return self.layout.pki

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def start(self, **flags: str) -> None:
        """Start etcd, the API servers with these flags in addition, Kubernetes' own controllers and the nodes."""
        self.processes.start("etcd", *commands.command(self.layout, "etcd"))
        for api in (self.karmada, self.member):
            self.processes.start(f"{api.name}-apiserver", *commands.api_server(self.layout, api.name, **flags))
        for api in (self.karmada, self.member):
            until(f"{api.name} is ready", api.ready, _PATIENCE)
        self.start_member()

    def start_member(self) -> None:
        """Start Kubernetes' own controllers and the nodes."""
        manager = commands.kube_controller_manager(self.layout, self.kubeconfig, _CONTROLLERS)
        self.processes.start("kube-controller-manager", *manager)
        self.kubelet.start()
        self.watch("/api/v1/pods")

    def serve(self) -> Interpreter:
        self.add_namespace("karmada-system")
        user, file = {"token": install(self.karmada)}, self.folder / "interpreter.config"
        config = write_kubeconfig(file, self.karmada.port, self.layout.authority, user)
        address = ("localhost", free_port())
        return serve(self.processes, "interpreter", address, None, "--cluster", "--kubeconfig", config)

    def stop(self) -> None:
        self.activity.stop()
        for watch in self.watches.values():
            watch.ended.set()
        self.processes.stop_all()

    def watch(self, path: str) -> None:
        """Follow a collection of the member from now on."""
        if path not in self.watches:
            self.watches[path] = Watch(self.member, path, self._saw).start()

    def run(self, name: str, *arguments: str | Path, **environment: str) -> Process:
        """Start a controller on the member."""
        return self.run_in(None, name, *arguments, **environment)

    def run_in(self, directory: Path | None, name: str, *arguments: str | Path, **environment: str) -> Process:
        """Start a controller that reads files by relative paths in a directory."""
        variables = {"KUBECONFIG": str(self.kubeconfig), "TMPDIR": str(self.temporary), **environment}
        program = self.programs[name]
        return self.processes.start(name, program, *arguments, environment=variables, directory=directory)

    def write_config(self, name: str, content: Object) -> Path:
        file = self.folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        return file

    def wait_for_port(self, name: str, port: int) -> None:
        """Wait until a controller listens."""

        def is_heard() -> bool:
            assert self.processes.running[name].alive, f"{name} has ended:\n{self.processes.running[name].tail()}"
            return listens(port)

        until(f"{name} listens at {port}", is_heard, _PATIENCE)

    def install_crds(self, files: Iterable[Path]) -> None:
        """Install the CRDs in these files on both API servers, and wait until they are served."""
        found = [thing for file in files for thing in documents(file) if thing["kind"] == "CustomResourceDefinition"]
        self.crds += found
        with ThreadPoolExecutor(_WRITERS) as pool:
            list(pool.map(self._install_crd, found))

    def install_webhooks(
        self,
        name: str,
        file: Path,
        port: int,
        *,
        pods: Object | None = None,
        wanted: Callable[[Object], bool] = lambda _: True,
    ) -> None:
        """Install the webhooks of a manifest on the member, by URL; without a name of ours under their own names.

        ``pods`` is the objectSelector of those for pods, ``wanted`` chooses among all.
        """
        authority = base64.b64encode(self.layout.authority.bundle).decode()
        for thing in documents(file):
            if not thing["kind"].endswith("WebhookConfiguration"):
                continue
            thing["metadata"] = {"name": f"{name}-{thing['kind'].lower()}" if name else thing["metadata"]["name"]}
            thing["webhooks"] = [hook for hook in thing["webhooks"] if wanted(hook)]
            for hook in thing["webhooks"]:
                path = hook["clientConfig"]["service"]["path"]
                hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
                hook["timeoutSeconds"] = 30
                if pods and any("pods" in rule["resources"] for rule in hook["rules"]):
                    hook["objectSelector"] = pods
            self.member.apply(thing)

    def add_namespace(self, name: str) -> None:
        for api in (self.member, self.karmada):
            api.add_namespace(name)

    def _saw(self, thing: Object, exists: bool) -> None:
        self.activity.saw(thing, exists)
        if thing["kind"] == "Pod":
            self.kubelet.saw(thing, exists)

    def _install_crd(self, thing: Object) -> None:
        thing.pop("status", None)
        spec: Any = thing["spec"]
        spec.pop("conversion", None)
        plural, versions = spec["names"]["plural"], [one["name"] for one in spec["versions"] if one["served"]]
        for api in (self.member, self.karmada):
            # karmada-apiserver has those of another member. A busy machine may take longer than a request may.
            until(f"{api.name} takes {plural}", partial(_is_stored, api, thing), _PATIENCE)
        for api in (self.member, self.karmada):
            for version in versions:
                root = f"/apis/{spec['group']}/{version}"
                until(f"{api.name} serves {plural} of {root}", partial(_is_served, api, root, plural), _PATIENCE)


def _is_stored(api: Client, thing: Object) -> bool:
    """Whether an object is there, or now is."""
    return bool(api.find(thing) or api.request("POST", api.collection(thing), thing))


def _is_served(api: Client, root: str, plural: str) -> bool:
    """Whether objects can be listed, and controllers that ask which kinds there are hear of this one."""
    listed = (api.get(root) or {}).get("resources", ())
    return any(one["name"] == plural for one in listed) and api.get(f"{root}/{plural}?limit=1") is not None


def documents(file: Path) -> list[Object]:
    # Some CRDs are megabytes of YAML.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [thing for thing in yaml.load_all(file.read_text(encoding="utf-8"), loader) if thing]
