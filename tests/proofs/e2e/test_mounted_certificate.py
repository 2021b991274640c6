"""A certificate of a mounted Secret gets another authority, in the order of docs/install.md, and no call fails."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.e2e.stream import streaming
from tests.proofs.e2e.test_secret_certificate import observing
from tests.proofs.rig.api import until
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.mount import Mount
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.service import Service


@dataclass
class Mounted:
    """A replica with the Secret of ``certificate.mode=existingSecret``, which the test writes."""

    installed: Installed
    secret: Mount
    replica: Interpreter

    def write(self, signer: Authority, *trusted: Authority) -> None:
        """Have a pair of one authority, and trust some."""
        chain, key = signer.server("mounted", self.installed.host, SERVICE)
        bundle = b"".join(authority.bundle for authority in trusted)
        self.secret.write({"tls.crt": chain.read_bytes(), "tls.key": key.read_bytes(), "ca.crt": bundle})

    def registered(self, *trusted: Authority) -> None:
        """Wait until Karmada is told to trust these, and nobody else."""
        bundle = base64.b64encode(b"".join(authority.bundle for authority in trusted)).decode()

        def told() -> bool:
            return {each["clientConfig"]["caBundle"] for each in self.installed.registration()["webhooks"]} == {bundle}

        until(f"{len(trusted)} authorities are registered", told)


@pytest.fixture
def mounted(plane: ControlPlane, installed: Installed, front: Service, tmp_path: Path) -> Iterator[Mounted]:
    secret = Mount(tmp_path / "tls")
    chain, key = plane.authority.server("mounted", installed.host, SERVICE)
    secret.write(
        {"tls.crt": chain.read_bytes(), "tls.key": key.read_bytes(), "ca.crt": plane.authority.file.read_bytes()}
    )
    names = {"--certificate-file": "tls.crt", "--key-file": "tls.key", "--ca-file": "ca.crt"}
    options = [f"{option}={secret.folder / name}" for option, name in names.items()]
    replica = installed.serve(*options, service=front.port)
    front.add(replica.port)
    installed.registered({"service": {"name": "karta-interpreter", "port": front.port}})
    yield Mounted(installed, secret, replica)
    front.remove(replica.port)
    installed.stop(replica)


def test_new_authority_in_documented_order_costs_no_call(
    plane: ControlPlane, installed: Installed, front: Service, mounted: Mounted, tmp_path: Path
) -> None:
    old, new = plane.authority, Authority(tmp_path / "new", "another authority")
    kind = kind_of("RayCluster")
    before = plane.requests_seen(SERVICE)
    with ExitStack() as running:
        flow = running.enter_context(flowing(plane, kind, kind.workload("mounted"), weighted(2, 1)))
        stream = running.enter_context(streaming(flow))
        observer = running.enter_context(observing(installed, front.port))
        until("a connection was opened", lambda: observer.leaves)
        mounted.write(old, old, new)
        mounted.registered(old, new)
        mounted.write(new, old, new)
        until("the pair of the new authority is served", lambda: _trusts(mounted.replica, new))
        mounted.write(new, new)
        mounted.registered(new)
        observer.connects()
    mounted.replica.context = ssl.create_default_context(cafile=new.file)
    seen = plane.requests_seen(SERVICE) - before
    say(f"  {stream.changes} changes, {observer.connections} connections, Karmada got {dict(seen)}")
    assert observer.failures == []
    assert set(seen) == {"200"}
    assert not [line for line in mounted.replica.logged() if line["level"] == "error"]


def _trusts(replica: Interpreter, authority: Authority) -> bool:
    context = ssl.create_default_context(cafile=authority.file)
    try:
        return Interpreter(replica.process, replica.host, replica.port, context).ready()
    except ssl.SSLCertVerificationError:
        return False
