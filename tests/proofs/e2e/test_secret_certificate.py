"""Two replicas share a certificate in a Secret of the host cluster, renew it and its authority, and no call is lost."""

import base64
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.e2e.stream import streaming
from tests.proofs.rig.api import Api, until
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.background import background
from tests.proofs.rig.host import SECRET
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.service import Service

_BASE = Path(__file__).parents[3] / "deploy" / "kustomize" / "base"
_SECRET = "karmada-system/karta-interpreter-tls"  # noqa: S105 - a name
_LIFE, _LIVES = 40.0, 4
_DAY = 86400.0
_AUTHORITIES, _CERTIFICATES = 3, 6
_PATIENCE = 600.0


@dataclass
class Host:
    """The cluster that the server runs in, which is not karmada-apiserver; here a member plays it."""

    api: Api
    config: Path

    @classmethod
    def install(cls, api: Api, authority: Authority, folder: Path) -> "Host":
        """Install the rights of the server there, and nothing else."""
        api.add_namespace("karmada-system")
        for kind in ("serviceaccount", "role", "rolebinding"):
            api.apply(yaml.safe_load((_BASE / f"{kind}.yaml").read_text(encoding="utf-8")))
        user = {"token": api.token("karta-interpreter")}
        return cls(api, write_kubeconfig(folder / "host.config", api.port, authority, user))

    def content(self) -> dict[str, bytes]:
        data = (self.api.find(SECRET) or {}).get("data", {})
        return {key: base64.b64decode(value) for key, value in data.items()}


@dataclass
class Observer:
    """A client that opens connection after connection, and trusts what Karmada is told to trust at this moment."""

    installed: Installed
    port: int
    leaves: set[bytes] = field(default_factory=set)
    bundles: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    connections: int = 0

    def connects(self, times: int = 20) -> None:
        """Wait until it has opened that many more connections."""
        wanted = self.connections + times
        until(f"{times} more connections", lambda: self.connections >= wanted)

    def run(self, ended: threading.Event) -> None:
        while not ended.wait(0.05):
            (bundle,) = {webhook["clientConfig"]["caBundle"] for webhook in self.installed.registration()["webhooks"]}
            self.bundles.add(bundle)
            try:
                self.leaves.add(_leaf(self.port, base64.b64decode(bundle).decode()))
            except OSError as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            self.connections += 1

    @property
    def authorities(self) -> set[x509.Certificate]:
        """All that Karmada was told of."""
        pems = [base64.b64decode(bundle) for bundle in list(self.bundles)]
        return {certificate for pem in pems for certificate in x509.load_pem_x509_certificates(pem)}


def _leaf(port: int, bundle: str) -> bytes:
    context = ssl.create_default_context(cadata=bundle)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
        context.wrap_socket(connection, server_hostname=SERVICE) as secured,
    ):
        return secured.getpeercert(binary_form=True) or b""


@contextmanager
def observing(installed: Installed, port: int) -> Iterator[Observer]:
    """Keep connecting until the end of the block."""
    observer = Observer(installed, port)
    with background(observer.run):
        yield observer


@pytest.fixture
def host(plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    host = Host.install(plane.members["member1"], plane.authority, tmp_path)
    # In a pod it would be the service account.
    monkeypatch.setenv("KUBECONFIG", str(host.config))
    yield host
    host.api.delete(SECRET)


def serve(installed: Installed, front: Service, life: float = _LIFE) -> Interpreter:
    """Start a replica, whose certificates live for some seconds."""
    replica = installed.serve_self_signed(
        f"--certificate-secret={_SECRET}",
        f"--certificate-days={life / _DAY}",
        f"--authority-days={_LIVES * life / _DAY}",
        service=front.port,
    )
    front.add(replica.port)
    return replica


def test_certificates_and_authorities_change_and_no_call_fails(
    plane: ControlPlane, installed: Installed, host: Host, front: Service
) -> None:
    replicas = [serve(installed, front) for _ in range(2)]
    installed.registered({"service": {"name": "karta-interpreter", "port": front.port}})
    kinds = [kind_of("RayCluster"), kind_of("PyTorchJob")]
    with ExitStack() as flows:
        changing = [
            flows.enter_context(flowing(plane, kind, kind.workload(f"secret-{kind.name.lower()}"), weighted(2, 1)))
            for kind in kinds
        ]
        before = plane.requests_seen(SERVICE)
        begun = time.monotonic()
        with streaming(*changing) as stream, observing(installed, front.port) as observer:

            def rotated() -> bool:
                return len(observer.authorities) >= _AUTHORITIES and len(observer.leaves) >= _CERTIFICATES

            until("certificates and authorities were changed often enough", rotated, _PATIENCE)
        seen = plane.requests_seen(SERVICE) - before
        counts = f"{len(observer.leaves)} certificates, {len(observer.authorities)} authorities"
        say(f"  {time.monotonic() - begun:.0f} s: {counts} while {observer.connections} connections were opened")
        say(f"  {stream.changes} changes, Karmada got {dict(seen)}")
    assert observer.failures == []
    assert set(seen) == {"200"}
    assert len(x509.load_pem_x509_certificates(host.content()["ca.crt"])) <= 3
    writes = [line for replica in replicas for line in replica.logged() if line["message"] == "the Secret is written"]
    say(f"  the Secret was written {len(writes)} times by two replicas")
    complaints = [line for replica in replicas for line in replica.logged() if line["level"] in {"error", "warning"}]
    assert not [line for line in complaints if line["message"] != "slow call"], "a busy machine makes calls slow"
    for replica in replicas:
        front.remove(replica.port)
        installed.stop(replica)


def test_broken_and_deleted_secret_are_repaired(installed: Installed, host: Host, front: Service) -> None:
    replica = serve(installed, front, life=_DAY)
    installed.registered({"service": {"name": "karta-interpreter", "port": front.port}})
    first = host.content()["ca.crt"]
    with observing(installed, front.port) as observer:
        host.api.merge(SECRET, {"data": {"tls.key": base64.b64encode(b"junk").decode()}})
        until("the key is one again", lambda: host.content()["tls.key"].startswith(b"-----BEGIN PRIVATE KEY"))
        host.api.delete(SECRET)
        until("the Secret is there again", host.content)
        observer.connects()
    say(f"  {observer.connections} new connections, and the log says:")
    for line in replica.logged():
        if line["message"].startswith(("the Secret", "the content")):
            say(f"  {line['message']}: {line.get('reason') or ', '.join(line['authorities_until'])}")
    assert observer.failures == []
    assert first in host.content()["ca.crt"]
    (broken,) = [line for line in replica.logged() if line["level"] == "error"]
    assert "tls.key holds no PEM private key" in broken["reason"]
    assert "PRIVATE KEY" not in replica.process.log.read_text(encoding="utf-8")
    front.remove(replica.port)
    installed.stop(replica)


def test_last_certificate_is_served_during_outage_of_host(
    plane: ControlPlane, installed: Installed, host: Host, front: Service
) -> None:
    replica = serve(installed, front, life=_DAY)
    installed.registered({"service": {"name": "karta-interpreter", "port": front.port}})
    with observing(installed, front.port) as observer:
        plane.processes.running[f"{host.api.name}-apiserver"].stop(signal.SIGKILL)
        complaint = until("it is told of", lambda: [line for line in replica.logged() if line["level"] == "error"])
        observer.connects()
        assert replica.ready()
        plane.start_api_server(host.api.name)
        until("the API server is back", host.api.ready)
        host.api.delete(SECRET)
        until("the Secret is there again", host.content)
    say(f"  {observer.connections} new connections, and the log says: {complaint[0]['reason']}")
    assert observer.failures == []
    assert len(observer.leaves) == 1
    front.remove(replica.port)
    installed.stop(replica)
