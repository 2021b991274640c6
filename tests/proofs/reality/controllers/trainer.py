"""Kubeflow Trainer with its webhooks, above JobSet."""

from tests.proofs.reality import programs
from tests.proofs.reality.configuration import configuration
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.reality.controllers.jobset import JOBSET
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.processes import free_port

_RUNTIMES = ("torch_distributed", "deepspeed_distributed")
_JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


def _start(cluster: Cluster) -> None:
    manifests, port = programs.TRAINER.source() / "manifests" / "base", free_port()
    cluster.install_crds((manifests / "crds").glob("trainer*.yaml"))
    cluster.add_namespace("kubeflow-system")
    content = configuration("config.trainer.kubeflow.org/v1alpha1", {"port": port}, certManagement={"enable": False})
    config = cluster.write_config("trainer", content)
    cluster.run("trainer", f"--config={config}", POD_NAMESPACE="kubeflow-system")
    cluster.wait_for_port("trainer", port)
    cluster.install_webhooks("trainer", manifests / "webhook" / "manifests.yaml", port)
    # In the member and where TrainJobs are interpreted, as a policy of Karmada propagates them.
    for runtime in _RUNTIMES:
        for thing in documents(manifests / "runtimes" / f"{runtime}.yaml"):
            for api in (cluster.member, cluster.karmada):
                api.apply(thing)


TRAINER = Controller(
    name="trainer",
    kinds=(
        Kind(
            "trainer.kubeflow.org/v1alpha1",
            "TrainJob",
            completes=True,
            component=labelled("jobset.sigs.k8s.io/replicatedjob-name"),
            children=(_JOBSETS,),
        ),
    ),
    start=_start,
    programs=(programs.TRAINER,),
    needs=(JOBSET.name,),
)
