"""MPI Operator, which has no webhooks."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.rig.cluster import Cluster


def _start(cluster: Cluster) -> None:
    manifests = programs.MPI_OPERATOR.source() / "manifests" / "base"
    # It ends where the CRD is not served.
    cluster.install_crds([manifests / "kubeflow.org_mpijobs.yaml"])
    cluster.add_namespace("mpi-operator")
    cluster.run("mpi-operator", "--kube-api-qps=500", "--kube-api-burst=1000", "--monitoring-port=0")


MPI = Controller(
    name="mpi-operator",
    kinds=(
        Kind(
            "kubeflow.org/v2beta1",
            "MPIJob",
            completes=True,
            component=labelled("training.kubeflow.org/job-role"),
            switch="spec.runPolicy.suspend",
        ),
    ),
    start=_start,
    programs=(programs.MPI_OPERATOR,),
    ports=(8080,),
)
