"""What Karmada itself answers for a kind without a webhook.

An operation that is not registered still has an answer: Karmada then asks the scripts that it
carries (``pkg/resourceinterpreter/default/thirdparty``) and its own code (``default/native``). What they answer
together with us has to make sense. The tables are those of Karmada 1.18.
"""

from karta_interpreter.k8s.gvk import GVK


def _kinds(*lines: str) -> frozenset[GVK]:
    """Read lines of an API version and kinds of it."""
    split = [line.split() for line in lines]
    return frozenset(GVK(*version.rpartition("/")[::2], kind) for version, *kinds in split for kind in kinds)


INTERPRETS_COMPONENT = _kinds(
    "batch.volcano.sh/v1alpha1 Job",
    "flink.apache.org/v1beta1 FlinkDeployment",
    "kubeflow.org/v1 PyTorchJob TFJob",
    "kubeflow.org/v2beta1 MPIJob",
    "ray.io/v1 RayCluster RayJob",
    "sparkoperator.k8s.io/v1beta2 SparkApplication",
)
"""Kinds for which Karmada answers InterpretComponent."""

REVISES_REPLICA = _kinds(
    "apps/v1 Deployment ReplicaSet StatefulSet",
    "batch/v1 Job",
    "apps.kruise.io/v1alpha1 BroadcastJob CloneSet UnitedDeployment",
    "apps.kruise.io/v1beta1 StatefulSet",
    "argoproj.io/v1alpha1 Workflow",
    "ray.io/v1 RayService",
)
"""Kinds for which Karmada answers ReviseReplica."""

SELECTS_STATUS = _kinds(
    "v1 Service",
    "apps/v1 DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling/v2 HorizontalPodAutoscaler",
    "batch/v1 Job",
    "networking.k8s.io/v1 Ingress",
    "policy/v1 PodDisruptionBudget",
    "apps.kruise.io/v1alpha1 BroadcastJob CloneSet DaemonSet SidecarSet UnitedDeployment",
    "apps.kruise.io/v1beta1 StatefulSet",
    "batch.volcano.sh/v1alpha1 Job",
    "flink.apache.org/v1beta1 FlinkDeployment",
    "helm.toolkit.fluxcd.io/v2beta1 HelmRelease",
    "kubeflow.org/v1 Notebook",
    "kubeflow.org/v2beta1 MPIJob",
    "kustomize.toolkit.fluxcd.io/v1 Kustomization",
    "kyverno.io/v1 ClusterPolicy Policy",
    "source.toolkit.fluxcd.io/v1 GitRepository",
    "source.toolkit.fluxcd.io/v1beta2 Bucket HelmChart HelmRepository OCIRepository",
    "sparkoperator.k8s.io/v1beta2 SparkApplication",
)
"""Kinds of which Karmada answers InterpretStatus with some fields of the status, not all."""
