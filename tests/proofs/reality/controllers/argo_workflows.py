"""Argo Workflows: no executor runs in the pods, and none is needed where no step has outputs."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.cluster import Cluster

_NAMESPACE = "argo"
_PORT = 6060


def _start(cluster: Cluster) -> None:
    crds = programs.ARGO_WORKFLOWS.source() / "manifests" / "base" / "crds"
    cluster.install_crds(file for file in (crds / "minimal").glob("argoproj*.yaml") if "_workflows" not in file.name)
    # The schemas are some megabytes each, and only that of the kind that is looked at matters.
    cluster.install_crds([crds / "full" / "argoproj.io_workflows.yaml"])
    cluster.add_namespace(_NAMESPACE)
    metadata = {"name": "workflow-controller-configmap", "namespace": _NAMESPACE}
    settings = {"metricsConfig": "{enabled: false}"}
    cluster.member.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": settings})
    flags = (f"--namespace={_NAMESPACE}", "--executor-image=executor", "--qps=200", "--burst=400")
    cluster.run("argo-workflows", *flags, LEADER_ELECTION_DISABLE="true")
    cluster.wait_for_port("argo-workflows", _PORT)


ARGO_WORKFLOWS = Controller(
    name="argo-workflows",
    kinds=(Kind("argoproj.io/v1alpha1", "Workflow", completes=True, status_subresource=False),),
    start=_start,
    programs=(programs.ARGO_WORKFLOWS,),
    ports=(_PORT,),
)
