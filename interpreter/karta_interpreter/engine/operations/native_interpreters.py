"""The operations that Karmada answers without a webhook, by kind. The tables describe Karmada 1.18.

Karmada first tries the scripts that it carries (``pkg/resourceinterpreter/default/thirdparty/resourcecustomizations``),
then its own code (``default/native``).
"""

from typing import Final

from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.karmada import Operation

_NAMES: Final = {
    "Re": Operation.RETAIN,
    "Rp": Operation.INTERPRET_REPLICA,
    "Co": Operation.INTERPRET_COMPONENT,
    "Rv": Operation.REVISE_REPLICA,
    "St": Operation.INTERPRET_STATUS,
    "Ag": Operation.AGGREGATE_STATUS,
    "He": Operation.INTERPRET_HEALTH,
    "De": Operation.INTERPRET_DEPENDENCY,
}


def _table(*lines: str) -> dict[GVK, frozenset[Operation]]:
    """Read lines with an API version, its kinds, and their operations in two letters each."""
    by_kind: dict[GVK, frozenset[Operation]] = {}
    for line in lines:
        api_version, kinds, *names = line.split()
        group, _, version = api_version.rpartition("/")
        by_kind |= {GVK(group, version, kind): frozenset(map(_NAMES.__getitem__, names)) for kind in kinds.split(",")}
    return by_kind


CARRIED: Final = _table(
    "apps.kruise.io/v1alpha1 AdvancedCronJob Ag De",
    "apps.kruise.io/v1alpha1 BroadcastJob Re Rp Rv St Ag He De",
    "apps.kruise.io/v1alpha1 SidecarSet Re Rp St Ag He De",
    "apps.kruise.io/v1alpha1 CloneSet,UnitedDeployment Rp Rv St Ag He De",
    "apps.kruise.io/v1alpha1 DaemonSet St Ag He De",
    "apps.kruise.io/v1beta1 StatefulSet Rp Rv St Ag He De",
    "argoproj.io/v1alpha1 Workflow Re Rp Rv He De",
    "batch.volcano.sh/v1alpha1 Job Co St Ag He",
    "flink.apache.org/v1beta1 FlinkDeployment Rp Co St Ag He",
    "helm.toolkit.fluxcd.io/v2beta1 HelmRelease Re St Ag He De",
    "kubeflow.org/v1 Notebook Rp St Ag He",
    "kubeflow.org/v1 PyTorchJob,TFJob Co Ag He De",
    "kubeflow.org/v2beta1 MPIJob Co St Ag He",
    "kustomize.toolkit.fluxcd.io/v1 Kustomization Re St Ag He De",
    "kyverno.io/v1 ClusterPolicy,Policy St Ag He",
    "ray.io/v1 RayCluster Co Ag He",
    "ray.io/v1 RayJob Co Ag He De",
    "ray.io/v1 RayService Rp Rv Ag He De",
    "source.toolkit.fluxcd.io/v1 GitRepository Re St Ag He De",
    "source.toolkit.fluxcd.io/v1beta2 Bucket,HelmChart,HelmRepository,OCIRepository Re St Ag He De",
    "sparkoperator.k8s.io/v1beta2 SparkApplication Co St Ag He",
)
"""The operations that a script carried by Karmada answers, by kind."""

NATIVE: Final = _table(
    "apps/v1 Deployment Re Rp Rv St Ag He De",
    "apps/v1 ReplicaSet,StatefulSet Rp Rv St Ag He De",
    "apps/v1 DaemonSet St Ag He De",
    "batch/v1 Job Re Rp Rv St Ag De",
    "batch/v1 CronJob Ag De",
    "v1 Pod Re Rp Ag He De",
    "v1 Service Re St Ag He",
    "v1 ServiceAccount,Secret Re",
    "v1 PersistentVolumeClaim Re Ag He",
    "v1 PersistentVolume Re Ag",
    "networking.k8s.io/v1 Ingress St Ag He De",
    "policy/v1 PodDisruptionBudget St Ag He",
    "autoscaling/v2 HorizontalPodAutoscaler St Ag",
    "multicluster.x-k8s.io/v1alpha1 ServiceImport De",
)
"""The operations that Karmada's own code answers, by kind."""


def natively_answered(operation: Operation) -> frozenset[GVK]:
    """Return the kinds for which Karmada answers an operation without a webhook."""
    return frozenset(gvk for table in (CARRIED, NATIVE) for gvk, answered in table.items() if operation in answered)
