"""AppWrapper, above the controllers of what its cases wrap."""

import json

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.reality.controllers.jobset import JOBSET
from tests.proofs.reality.controllers.mpi import MPI
from tests.proofs.reality.controllers.training_operator import TRAINING_OPERATOR
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port

_NAMESPACE = "appwrapper-system"
_WEBHOOK = 9443
_ROTATED = "appwrapper-rotated"
_WRAPPED = (
    "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "/apis/kubeflow.org/v1/pytorchjobs",
    "/apis/kubeflow.org/v2beta1/mpijobs",
)


def _start(cluster: Cluster) -> None:
    source = programs.APPWRAPPER.source() / "config"
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(_NAMESPACE)
    # It enters certificates of its own into these; the webhooks that are called have ours.
    cluster.member.apply(_named("v1", "Secret", _ROTATED))
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        cluster.member.apply(_named("admissionregistration.k8s.io/v1", kind, _ROTATED))
    settings = {"config.yaml": json.dumps(_configuration(cluster))}
    cluster.member.apply({**_named("v1", "ConfigMap", "appwrapper-operator-config"), "data": settings})
    cluster.run("appwrapper", NAMESPACE=_NAMESPACE)
    cluster.wait_for_port("appwrapper", _WEBHOOK)
    cluster.install_webhooks("appwrapper", source / "webhook" / "manifests.yaml", _WEBHOOK)


def _configuration(cluster: Cluster) -> Object:
    certificates = {
        "namespace": _NAMESPACE,
        "certificateDir": str(cluster.certificates),
        "certificateName": "ca",
        "certificateOrg": "appwrapper",
        "mutatingWebhookConfigName": _ROTATED,
        "validatingWebhookConfigName": _ROTATED,
        "webhookServiceName": "appwrapper",
        "webhookSecretName": _ROTATED,
    }
    health = {"bindAddress": f"127.0.0.1:{free_port()}"}
    return {
        "certManagement": certificates,
        "controllerManager": {"metrics": {"bindAddress": "0"}, "health": health},
    }


def _named(version: str, kind: str, name: str) -> Object:
    metadata = {"name": name} if kind.endswith("Configuration") else {"name": name, "namespace": _NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


APPWRAPPER = Controller(
    name="appwrapper",
    kinds=(
        Kind(
            "workload.codeflare.dev/v1beta2",
            "AppWrapper",
            completes=True,
            # Cases label the pods of what is wrapped with the name of the component that the product gives them.
            component=labelled("component"),
            children=_WRAPPED,
        ),
    ),
    start=_start,
    programs=(programs.APPWRAPPER,),
    needs=(JOBSET.name, TRAINING_OPERATOR.name, MPI.name),
    ports=(_WEBHOOK, *MPI.ports),
)
