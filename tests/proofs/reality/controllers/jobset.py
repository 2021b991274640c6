"""JobSet, with its webhooks."""

from tests.proofs.reality import programs
from tests.proofs.reality.configuration import configuration
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port


def _start(cluster: Cluster) -> None:
    source, port = programs.JOBSET.source() / "config" / "components", free_port()
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    webhook = {"port": port, "certDir": str(cluster.certificates)}
    content = configuration("config.jobset.x-k8s.io/v1alpha1", webhook, internalCertManagement={"enable": False})
    config = cluster.write_config("jobset", content)
    cluster.run("jobset", f"--config={config}")
    cluster.wait_for_port("jobset", port)
    # As its kustomization has it: only pods of JobSets.
    pods = {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]}
    cluster.install_webhooks("jobset", source / "webhook" / "manifests.yaml", port, pods=pods)


JOBSET = Controller(
    name="jobset",
    kinds=(
        Kind(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            completes=True,
            component=labelled("jobset.sigs.k8s.io/replicatedjob-name"),
        ),
    ),
    start=_start,
    programs=(programs.JOBSET,),
)
