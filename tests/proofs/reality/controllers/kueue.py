"""Kueue, in front of the controllers whose workloads it queues, some in each cluster."""

import base64
from dataclasses import replace

from tests.proofs.reality import programs
from tests.proofs.reality.configuration import configuration
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.controllers.appwrapper import APPWRAPPER
from tests.proofs.reality.controllers.builtin import BUILTIN
from tests.proofs.reality.controllers.jobset import JOBSET
from tests.proofs.reality.controllers.kuberay import KUBERAY
from tests.proofs.reality.controllers.lws import LWS
from tests.proofs.reality.controllers.mpi import MPI
from tests.proofs.reality.controllers.trainer import TRAINER
from tests.proofs.reality.controllers.training_operator import TRAINING_OPERATOR
from tests.proofs.reality.queueing import API, FLAVORS, WORKLOADS
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.phase_kubelet import NODES
from tests.proofs.rig.processes import free_port

_NAMESPACE = "kueue-system"
_CONVERTED = ("localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters")
_FRAMEWORKS = (
    *("batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset"),
    *("leaderworkerset.x-k8s.io/leaderworkerset", "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice"),
    *("kubeflow.org/mpijob", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob"),
    *("kubeflow.org/xgboostjob", "kubeflow.org/jaxjob", "trainer.kubeflow.org/trainjob"),
    "workload.codeflare.dev/appwrapper",
)
_NOT_QUEUED = {"CronJob", "DaemonSet", "ReplicaSet"}
_POOLS = ("red", "blue", "rack")


def _start(cluster: Cluster) -> None:
    source, port = programs.KUEUE.source() / "config" / "components", free_port()
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    _let_manage_certificates(cluster, port)
    content = configuration(
        "config.kueue.x-k8s.io/v1beta2",
        {"port": port, "certDir": str(cluster.certificates)},
        namespace=_NAMESPACE,
        integrations={"frameworks": [*_FRAMEWORKS]},
        featureGates={"VisibilityOnDemand": False},
    )
    config = cluster.write_config("kueue", content)
    cluster.run("kueue", f"--config={config}")
    cluster.wait_for_port("kueue", port)
    cluster.install_webhooks("kueue", source / "webhook" / "manifests.yaml", port)
    cluster.member.apply(_named("Topology", "hosts", {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}))
    for name, spec in FLAVORS.items():
        cluster.member.apply(_named("ResourceFlavor", name, spec))
    for node, pool in zip(NODES, _POOLS, strict=True):
        thing = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
        cluster.member.merge(thing, {"metadata": {"labels": {"pool": pool, "row": "one"}}})


def _let_manage_certificates(cluster: Cluster, port: int) -> None:
    """Kueue wants a Secret to keep certificates in, and CRDs to enter them in; with certificates of others it starts
    only where they are in a folder that it cannot be told. No version is asked for that would have to be converted.
    """
    cluster.add_namespace(_NAMESPACE)
    metadata = {"name": "kueue-webhook-server-cert", "namespace": _NAMESPACE}
    cluster.member.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    authority = base64.b64encode(cluster.layout.authority.bundle).decode()
    client = {"url": f"https://127.0.0.1:{port}/convert", "caBundle": authority}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    conversion = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
    for plural in _CONVERTED:
        metadata = {"name": f"{plural}.kueue.x-k8s.io"}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata}
        cluster.member.merge(crd, conversion)


def _named(kind: str, name: str, spec: object) -> dict[str, object]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _in_front_of(name: str, *controllers: Controller) -> Controller:
    """Return Kueue with these controllers."""
    queued = (kind for controller in controllers for kind in controller.kinds if kind.name not in _NOT_QUEUED)
    return Controller(
        name=name,
        kinds=tuple(replace(kind, children=(*kind.children, WORKLOADS)) for kind in queued),
        start=_start,
        programs=(programs.KUEUE,),
        needs=tuple(controller.name for controller in controllers),
        ports=tuple({port for controller in controllers for port in controller.ports}),
        alone=True,
    )


KUEUES = (
    _in_front_of("kueue", BUILTIN, JOBSET, LWS, KUBERAY, MPI),
    _in_front_of("kueue-training", JOBSET, TRAINING_OPERATOR, TRAINER),
    # The webhooks of AppWrapper and KubeRay are on one port.
    _in_front_of("kueue-appwrapper", JOBSET, TRAINING_OPERATOR, MPI, APPWRAPPER),
)
