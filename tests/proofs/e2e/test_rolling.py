"""Restarts, new certificates and new definitions do not cost Karmada a single call."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.proofs.e2e.flow import Flow, flowing, say
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kartas import HEADS, karta_of
from tests.proofs.e2e.kinds import KINDS, Kind, kind_of
from tests.proofs.e2e.stream import streaming
from tests.proofs.rig.api import until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.mount import Mount
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.service import Service

_RESTARTS = 20
_ROTATIONS = (4, 9, 14)
_RELOAD = 11
# What it takes until all nodes know that an endpoint is gone, after its pod was told to stop.
_PROPAGATION = 0.5
# How long a replica serves on: a busy machine may be late in removing the endpoint.
_GRACE = 5


@dataclass
class Deployment:
    """Two replicas of our server behind the Service, with a mounted certificate."""

    installed: Installed
    front: Service
    certificate: Mount
    replicas: list[Interpreter] = field(default_factory=list)

    def issue(self) -> None:
        authority = self.installed.plane.authority
        chain, key = authority.server("rolling", self.installed.host, SERVICE)
        self.certificate.write({"tls.crt": chain.read_bytes(), "tls.key": key.read_bytes()})

    def grow(self) -> None:
        chain, key = (self.certificate.folder / name for name in ("tls.crt", "tls.key"))
        options = ("--certificate-file", chain, "--key-file", key, "--grace-period", str(_GRACE))
        replica = self.installed.serve(*options, service=self.front.port)
        self.replicas.append(replica)
        self.front.add(replica.port)

    def shrink(self) -> None:
        """Stop the oldest replica; the Service learns of it a moment later."""
        replica = self.replicas.pop(0)
        replica.terminate()
        time.sleep(_PROPAGATION)
        self.front.remove(replica.port)
        code, metrics = replica.ended()
        assert code == 0
        self.installed.ledger.read(metrics)

    def rotate(self) -> None:
        """Mount another certificate, and wait until the replicas serve it."""
        with self._logged_by_all("certificate renewed"):
            self.issue()

    def reload(self) -> None:
        """Change a Karta, and wait until the replicas have read it."""
        with self._logged_by_all("definitions loaded"):
            self.installed.plane.karmada.apply(put(karta_of(kind_of("RayCluster")), HEADS, "1 // 1"))

    @contextmanager
    def _logged_by_all(self, message: str) -> Iterator[None]:
        wanted = self._logged(message) + len(self.replicas)
        yield
        until(f"all replicas log: {message}", lambda: self._logged(message) >= wanted)

    def _logged(self, message: str) -> int:
        return sum(line["message"] == message for replica in self.replicas for line in replica.logged())


@pytest.fixture
def deployment(installed: Installed, front: Service, tmp_path: Path) -> Iterator[Deployment]:
    deployment = Deployment(installed, front, Mount(tmp_path / "tls"))
    deployment.issue()
    deployment.grow()
    deployment.grow()
    installed.registered({"service": {"name": "karta-interpreter", "port": deployment.front.port}})
    yield deployment
    while deployment.replicas:
        deployment.shrink()


def test_rolling_restart_loses_no_call(plane: ControlPlane, deployment: Deployment) -> None:
    with ExitStack() as flows:
        changing = [flows.enter_context(_flow(plane, kind)) for kind in KINDS]
        before = plane.requests_seen(SERVICE)
        with streaming(*changing) as stream:
            for turn in range(_RESTARTS):
                deployment.grow()
                deployment.shrink()
                if turn in _ROTATIONS:
                    deployment.rotate()
                if turn == _RELOAD:
                    deployment.reload()
                seen = plane.requests_seen(SERVICE) - before
                say(f"  restart {turn + 1:>2}: {stream.changes} changes, Karmada got {dict(seen)}")
        assert set(seen) == {"200"}


def _flow(plane: ControlPlane, kind: Kind) -> AbstractContextManager[Flow]:
    return flowing(plane, kind, kind.workload(f"rolling-{kind.name.lower()}"), weighted(2, 1))
