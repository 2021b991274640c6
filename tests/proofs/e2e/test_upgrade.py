"""Helm installs the last release, upgrades to this version, rolls back and uninstalls; no call of Karmada fails."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.proofs.e2e.flow import Story, flowing
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.e2e.stream import streaming
from tests.proofs.rig import commands
from tests.proofs.rig.api import named, until
from tests.proofs.rig.binaries import caller as caller_program
from tests.proofs.rig.caller import Caller, calling
from tests.proofs.rig.host import NAME, NAMESPACE, SECRET, Host, administrators, hosting
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.releases import CURRENT, Release, Terminal, last_release, shown
from tests.proofs.rig.service import Service

_REPLICAS = 3
_CLIENTS = 10
_RATE = 100
_AGE = 10
"""Seconds after which a connection ends with an answer; production has more, and so a test would take longer."""


@dataclass
class Releases(Story):
    """What Helm has installed on both API servers."""

    plane: ControlPlane
    installed: Installed
    host: Host
    last: Release
    terminal: Terminal

    def install(self, release: Release) -> None:
        """Install a release, and wait until Karmada has its registration."""
        self.terminal.use(release)
        # The other tests may have the same resources there.
        common = f"--namespace {NAMESPACE} --wait --take-ownership"
        karmada, ours = "--kubeconfig karmada-apiserver.config", "--set service.externalName=localhost"
        self.run(f"helm {karmada} install {NAME} deploy/helm/karta-interpreter-control-plane {common} {ours}")
        values = {
            "replicas": _REPLICAS,
            "server.catalogue": "false",
            "server.connectionAge": _AGE,
            "registration.service": f"{NAMESPACE}/{NAME}:{self.host.front.port}",
        }
        given = " ".join(f"--set {name}={value}" for name, value in values.items())
        self.run(f"helm install {NAME} deploy/helm/karta-interpreter {common} {given}")
        self.installed.registered({"service": {"name": NAME, "port": self.host.front.port}})

    def upgrade(self) -> None:
        self.terminal.use(CURRENT)
        for command in shown("upgrade.md", "With Helm", "helm .*upgrade"):
            self.run(command)

    def roll_back(self) -> None:
        for command in shown("upgrade.md", "With Helm", "helm .*rollback"):
            self.run(command)

    def run(self, command: str) -> str:
        printed = self.terminal(command)
        self.saw(command)
        return printed

    def runs(self, release: Release) -> bool:
        images = {pod.container["image"] for pod in self.host.pods if not pod.stopping}
        return images == {release.image} and self.host.is_ready(_REPLICAS)

    def alone(self, release: Release) -> None:
        until(f"{release.image} runs alone", lambda: self.runs(release))
        self.saw(f"{release.image} runs alone")


@pytest.fixture
def releases(plane: ControlPlane, installed: Installed, front: Service, tmp_path: Path) -> Iterator[Releases]:
    last = last_release(tmp_path / "last")
    member, images = plane.members["member1"], {last.image: last.program}
    controllers = commands.UNINSTALLING
    with hosting(plane, member, installed.kubeconfig, front, controllers=controllers, images=images) as host:
        terminal = Terminal(tmp_path, administrators(plane), plane.layout.kubeconfig)
        yield Releases(plane, installed, host, last, terminal)
        terminal.run(f"helm uninstall {NAME} --namespace {NAMESPACE} --ignore-not-found")
        until("no pod is left", lambda: not host.kubelet.running)
        host.api.delete(SECRET)
        # The manifests stay for the other tests; what Helm knows of them does not.
        for secret in plane.karmada.request("GET", _records())["items"]:
            plane.karmada.delete({"apiVersion": "v1", "kind": "Secret", "metadata": secret["metadata"]})
        assert not host.kubelet.errors
        for pod in host.kubelet.gone:
            installed.ledger.read(pod.metrics)


def _records() -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/secrets?labelSelector=owner%3Dhelm"


def test_upgrade_and_way_back_lose_no_call(plane: ControlPlane, releases: Releases) -> None:
    releases.install(releases.last)
    port = releases.host.front.port
    kind = kind_of("RayCluster")
    objects = [kind_of(name).workload("load") for name in ("RayCluster", "PyTorchJob")]
    program, authority = caller_program(plane.layout.binaries), releases.host.authority()
    before = plane.requests_seen(SERVICE)
    with ExitStack() as stack:
        flow = stack.enter_context(flowing(plane, kind, kind.workload("upgraded"), weighted(2, 1)))
        stream = stack.enter_context(streaming(flow))
        caller = stack.enter_context(
            calling(program, (NAMESPACE, NAME, port), authority, objects, _CLIENTS, clients=_CLIENTS)
        )
        caller.rate(_RATE)
        releases.upgrade()
        releases.alone(CURRENT)
        spread(releases, caller)
        releases.roll_back()
        releases.alone(releases.last)
        spread(releases, caller)
        seen = plane.requests_seen(SERVICE) - before
        total = caller.last
        releases.saw(f"{total['calls']} calls, {total['failed']} failed, the slowest took {caller.slowest():.3f} s")
        releases.saw(f"{stream.changes} changes of a workload, Karmada got {dict(seen)}")
    assert total["failed"] == 0, total["error"]
    assert set(seen) == {"200"}
    (command,) = shown("upgrade.md", "With Helm", "helm get values")
    values = releases.run(command.partition(" > ")[0])
    assert f"connectionAge: {_AGE}" in values, "the values of the installation are kept"


def test_uninstalling_takes_the_registration_back(
    plane: ControlPlane, installed: Installed, releases: Releases
) -> None:
    releases.install(CURRENT)
    releases.run(uninstall())
    assert installed.registration()["webhooks"] == []
    assert releases.host.api.request("GET", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")["items"] == []
    until("no pod is left", lambda: not releases.host.pods)
    assert installed.registration()["webhooks"] == [], "nothing registers again"
    crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "kartas.run.ai")
    assert plane.karmada.find(crd), "the CRD stays"


def test_uninstalling_ends_while_karmada_is_away(plane: ControlPlane, installed: Installed, releases: Releases) -> None:
    releases.install(CURRENT)
    plane.processes.running["karmada-apiserver"].stop(signal.SIGKILL)
    done = releases.terminal.run(f"{uninstall()} --timeout 10s")
    plane.start_api_server("karmada")
    until("karmada-apiserver is back", plane.karmada.ready)
    releases.saw(done.stderr.strip())
    assert done.returncode == 1
    assert "uninstallation completed with 1 error" in done.stderr
    assert NAME not in releases.run(f"helm list --namespace {NAMESPACE} --all --short")
    until("no pod is left", lambda: not releases.host.pods)
    assert installed.registration()["webhooks"], "it is left for `kubectl delete`"
    plane.karmada.delete(installed.registration())


def uninstall() -> str:
    """Return the command that the documentation has for the server."""
    (command, *_) = shown("install.md", "Uninstalling", "helm uninstall")
    return command


def spread(releases: Releases, caller: Caller) -> None:
    """Wait until each pod has had its share of the calls: half of what an even spread would give it."""
    first, begun = releases.host.calls(), caller.last["calls"]

    def shares() -> dict[str, int]:
        now = releases.host.calls()
        return {name: now[name] - first.get(name, 0) for name in now}

    def is_even() -> bool:
        return bool(min(shares().values()) >= (caller.last["calls"] - begun) / _REPLICAS / 2)

    until("each pod answers", lambda: caller.last["calls"] - begun >= _RATE and is_even())
    releases.saw(f"calls of each pod: {sorted(shares().values())}")
