"""What Karmada itself answers for a kind without a webhook.

An operation that is not registered still has an answer: Karmada then asks the scripts that it
carries (``pkg/resourceinterpreter/default/thirdparty``) and its own code (``default/native``). What they answer
together with us has to make sense. The tables are those of Karmada 1.18.
"""

from karta_interpreter.k8s.gvk import GVK

_KRUISE = "apps.kruise.io"
_FLUX = "source.toolkit.fluxcd.io"

INTERPRETS_COMPONENT = frozenset(
    {
        GVK("batch.volcano.sh", "v1alpha1", "Job"),
        GVK("flink.apache.org", "v1beta1", "FlinkDeployment"),
        GVK("kubeflow.org", "v1", "PyTorchJob"),
        GVK("kubeflow.org", "v1", "TFJob"),
        GVK("kubeflow.org", "v2beta1", "MPIJob"),
        GVK("ray.io", "v1", "RayCluster"),
        GVK("ray.io", "v1", "RayJob"),
        GVK("sparkoperator.k8s.io", "v1beta2", "SparkApplication"),
    }
)
"""Kinds for which Karmada answers InterpretComponent."""

REVISES_REPLICA = frozenset(
    {
        GVK("apps", "v1", "Deployment"),
        GVK("apps", "v1", "ReplicaSet"),
        GVK("apps", "v1", "StatefulSet"),
        GVK("batch", "v1", "Job"),
        GVK(_KRUISE, "v1alpha1", "BroadcastJob"),
        GVK(_KRUISE, "v1alpha1", "CloneSet"),
        GVK(_KRUISE, "v1alpha1", "UnitedDeployment"),
        GVK(_KRUISE, "v1beta1", "StatefulSet"),
        GVK("argoproj.io", "v1alpha1", "Workflow"),
        GVK("ray.io", "v1", "RayService"),
    }
)
"""Kinds for which Karmada answers ReviseReplica."""

SELECTS_STATUS = frozenset(
    {
        GVK("apps", "v1", "DaemonSet"),
        GVK("apps", "v1", "Deployment"),
        GVK("apps", "v1", "ReplicaSet"),
        GVK("apps", "v1", "StatefulSet"),
        GVK("autoscaling", "v2", "HorizontalPodAutoscaler"),
        GVK("batch", "v1", "Job"),
        GVK("networking.k8s.io", "v1", "Ingress"),
        GVK("policy", "v1", "PodDisruptionBudget"),
        GVK("", "v1", "Service"),
        GVK(_KRUISE, "v1alpha1", "BroadcastJob"),
        GVK(_KRUISE, "v1alpha1", "CloneSet"),
        GVK(_KRUISE, "v1alpha1", "DaemonSet"),
        GVK(_KRUISE, "v1alpha1", "SidecarSet"),
        GVK(_KRUISE, "v1alpha1", "UnitedDeployment"),
        GVK(_KRUISE, "v1beta1", "StatefulSet"),
        GVK("batch.volcano.sh", "v1alpha1", "Job"),
        GVK("flink.apache.org", "v1beta1", "FlinkDeployment"),
        GVK("helm.toolkit.fluxcd.io", "v2beta1", "HelmRelease"),
        GVK("kubeflow.org", "v1", "Notebook"),
        GVK("kubeflow.org", "v2beta1", "MPIJob"),
        GVK("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"),
        GVK("kyverno.io", "v1", "ClusterPolicy"),
        GVK("kyverno.io", "v1", "Policy"),
        GVK(_FLUX, "v1", "GitRepository"),
        GVK(_FLUX, "v1beta2", "Bucket"),
        GVK(_FLUX, "v1beta2", "HelmChart"),
        GVK(_FLUX, "v1beta2", "HelmRepository"),
        GVK(_FLUX, "v1beta2", "OCIRepository"),
        GVK("sparkoperator.k8s.io", "v1beta2", "SparkApplication"),
    }
)
"""Kinds of which Karmada answers InterpretStatus with some fields of the status, not all."""
