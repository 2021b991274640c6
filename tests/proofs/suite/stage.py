"""Where Karmada's suite runs: a Karmada with two members that have controllers and nodes, and our server."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.binaries import NEWEST, build_core
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import Interpreter, loopback_alias, serve
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.podstatus import PENDING, RUNNING
from tests.proofs.rig.processes import free_port

_ROOT = Path(__file__).parents[3]
_KARTA = _ROOT / "docs" / "examples" / "webhook" / "karta.yaml"
_TYPE = Path("examples/customresourceinterpreter/apis/workload.example.io_workloads.yaml")
_API_VERSION = "workload.example.io/v1alpha1"
_REGISTRATION = named("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "karta-interpreter")
_CONTEXTS = ("karmada-host", "karmada-apiserver")
"""The names that the suite takes from its kubeconfig. It asks the first for nothing in the cases that run here."""
_MISSING_REGISTRY = "fake/"
"""The registry that the suite gives to images which nobody has."""


@dataclass(frozen=True, slots=True)
class Stage:
    plane: ControlPlane
    server: Interpreter
    kubeconfig: Path


@contextmanager
def staged(folder: Path, karmada: Path, say: Callable[[str], None]) -> Iterator[Stage]:
    """Have everything run until the end of the block; ``karmada`` is the folder of Karmada's source."""
    plane = ControlPlane.create(folder, build_core(say, NEWEST))
    members = {name: Cluster.of(plane.layout, name, folder / name, {}) for name in plane.members}
    with ExitStack() as stack:
        stack.callback(plane.stop)
        for member in members.values():
            stack.callback(member.stop)
        plane.start(say)
        # The suite's own installation of Karmada has all gates on.
        plane.restart_components(multiple_pod_templates=True, AllAlpha=True, AllBeta=True)
        _populate(plane, members, _read(karmada / _TYPE))
        server = _serve(plane)
        say("our server is registered")
        yield Stage(plane, server, _kubeconfig(plane))


def _populate(plane: ControlPlane, members: Mapping[str, Cluster], definition: Object) -> None:
    kind = definition["spec"]["names"]["kind"]
    plane.karmada.apply(definition)
    for name, member in members.items():
        member.kubelet.otherwise = _phase
        member.start_member()
        member.member.apply(definition)
        until(f"{name} serves {kind}", partial(serves, plane.karmada, name, _API_VERSION, kind))


def _phase(pod: Object) -> str:
    images = [container["image"] for container in pod["spec"]["containers"]]
    return PENDING if any(image.startswith(_MISSING_REGISTRY) for image in images) else RUNNING


def _serve(plane: ControlPlane) -> Interpreter:
    """Start a server with the catalogue and the Karta of the suite's Workload, and wait until Karmada calls it."""
    user = {"token": install(plane.karmada)}
    plane.karmada.apply(_read(_KARTA))
    host, port = loopback_alias(), free_port()
    chain, key = plane.authority.server("interpreter", host)
    config = write_kubeconfig(plane.folder / "interpreter.config", plane.karmada.port, plane.authority, user)
    server = serve(
        plane.processes,
        "interpreter",
        (host, port),
        plane.authority.file,
        *("--cluster", "--register", "--kubeconfig", config, f"--public-url=https://{host}:{port}"),
        *("--certificate-file", chain, "--key-file", key, "--ca-file", plane.authority.file),
        "--multiple-pod-templates-scheduling",
    )
    group = _API_VERSION.partition("/")[0]
    until("the suite's Workload is registered", lambda: group in str(plane.karmada.find(_REGISTRATION)))
    return server


def _kubeconfig(plane: ControlPlane) -> Path:
    config = _read(plane.layout.kubeconfig)
    context = config["contexts"][0]["context"]
    config["contexts"] = [{"name": name, "context": context} for name in _CONTEXTS]
    file = plane.folder / "suite.config"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


def _read(file: Path) -> Object:
    content: Object = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content
