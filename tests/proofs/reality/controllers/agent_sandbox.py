"""Agent Sandbox, without the webhook that converts its older version."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port


def _start(cluster: Cluster) -> None:
    cluster.install_crds((programs.AGENT_SANDBOX.source() / "k8s" / "crds").glob("*.yaml"))
    port = free_port()
    address = f"127.0.0.1:{port}"
    flags = ("--enable-webhook=false", "--leader-elect=false", "--metrics-bind-address=0")
    cluster.run("agent-sandbox", *flags, f"--health-probe-bind-address={address}")
    cluster.wait_for_port("agent-sandbox", port)


AGENT_SANDBOX = Controller(
    name="agent-sandbox",
    kinds=(
        Kind(
            "agents.x-k8s.io/v1beta1",
            "Sandbox",
            completes=False,
            children=("/api/v1/persistentvolumeclaims",),
            switch="spec.operatingMode",
            suspended="Suspended",
            resumed="Running",
        ),
    ),
    start=_start,
    programs=(programs.AGENT_SANDBOX,),
)
