"""LeaderWorkerSet, with its webhooks."""

from tests.proofs.reality import programs
from tests.proofs.reality.configuration import configuration
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port


def _start(cluster: Cluster) -> None:
    source, port = programs.LWS.source() / "config", free_port()
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    webhook = {"port": port, "certDir": str(cluster.certificates)}
    content = configuration("config.lws.x-k8s.io/v1alpha1", webhook, internalCertManagement={"enable": False})
    config = cluster.write_config("lws", content)
    cluster.run("lws", f"--config={config}")
    cluster.wait_for_port("lws", port)
    # As its kustomization has it: only pods of LeaderWorkerSets.
    pods = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}
    cluster.install_webhooks("lws", source / "webhook" / "manifests.yaml", port, pods=pods)


def _component(pod: Object) -> str:
    index = pod["metadata"]["labels"].get("leaderworkerset.sigs.k8s.io/worker-index")
    return "leader" if index == "0" else "worker"


def _component_of_role(pod: Object) -> str:
    return f"{_component(pod)}-{pod['metadata']['labels']['disaggregatedset.x-k8s.io/role']}"


LWS = Controller(
    name="lws",
    kinds=(
        Kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", completes=False, component=_component),
        Kind(
            "disaggregatedset.x-k8s.io/v1",
            "DisaggregatedSet",
            completes=False,
            component=_component_of_role,
            children=("/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",),
        ),
    ),
    start=_start,
    programs=(programs.LWS,),
)
