"""Training Operator, with its webhooks."""

from pathlib import Path

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port

_NAMESPACE = "kubeflow"
_ROTATED = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")  # noqa: S108 - a constant of the operator
_JOBS = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")


def _start(cluster: Cluster) -> None:
    manifests, port = programs.TRAINING_OPERATOR.source() / "manifests" / "base", free_port()
    # The CRD of MPIJobs is that of MPI Operator, which serves another version of them.
    files = (manifests / "crds").glob("kubeflow*.yaml")
    cluster.install_crds(file for file in files if "mpijobs" not in file.name)
    _let_rotate_certificates(cluster)
    cluster.run(
        "training-operator",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        f"--webhook-server-port={port}",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--controller-threads=4",
        *(f"--enable-scheme={kind.lower()}" for kind in _JOBS),
    )
    cluster.wait_for_port("training-operator", port)
    cluster.install_webhooks("training-operator", manifests / "webhook" / "manifests.yaml", port)


def _let_rotate_certificates(cluster: Cluster) -> None:
    """The operator makes certificates for a Secret and a webhook of these names.

    It begins when a file is at a path that it cannot be told, as if the Secret were mounted; it serves the certificates
    of its folder of temporary files.
    """
    cluster.add_namespace(_NAMESPACE)
    secret = {"name": "training-operator-webhook-cert", "namespace": _NAMESPACE}
    cluster.member.apply({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    webhook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    cluster.member.apply({**webhook, "metadata": {"name": "validator.training-operator.kubeflow.org"}})
    _ROTATED.parent.mkdir(parents=True, exist_ok=True)
    _ROTATED.touch()


TRAINING_OPERATOR = Controller(
    name="training-operator",
    kinds=tuple(
        Kind(
            "kubeflow.org/v1",
            name,
            completes=True,
            component=labelled("training.kubeflow.org/replica-type"),
            switch="spec.runPolicy.suspend",
        )
        for name in _JOBS
    ),
    start=_start,
    programs=(programs.TRAINING_OPERATOR,),
)
