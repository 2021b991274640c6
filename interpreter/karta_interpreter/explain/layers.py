"""Which layer answers a call, and what Karmada would do before and after it.

For each operation Karmada asks customizations of the cluster, webhooks, the scripts that it carries and its own code,
in this order; the first one that is enabled decides, also by an error (``pkg/resourceinterpreter/interpreter.go``). The
tables are those of Karmada 1.18 (``default/thirdparty/resourcecustomizations`` and ``default/native``).
"""

from typing import Final

from karta_interpreter.explain.explanation import Layer
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations import Operation

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
    """Read lines of an API version, kinds of it, and their operations in two letters each."""
    found: dict[GVK, frozenset[Operation]] = {}
    for line in lines:
        api_version, kinds, *names = line.split()
        group, _, version = api_version.rpartition("/")
        found |= {GVK(group, version, kind): frozenset(map(_NAMES.__getitem__, names)) for kind in kinds.split(",")}
    return found


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
"""The operations that a script which Karmada carries answers, by kind."""

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

_WITHOUT: Final = {
    Operation.RETAIN: "the template replaces the member's object",
    Operation.INTERPRET_REPLICA: "the object is no workload and has no replicas to divide",
    Operation.INTERPRET_COMPONENT: "the object has no components",
    Operation.REVISE_REPLICA: "every cluster gets the object unchanged",
    Operation.INTERPRET_STATUS: "the whole status is collected",
    Operation.AGGREGATE_STATUS: "the template's status is never written",
    Operation.INTERPRET_HEALTH: "every object counts as healthy",
    Operation.INTERPRET_DEPENDENCY: "the object has no dependencies",
}


def layers_of(definition: Definition, operation: Operation, origin: str) -> tuple[Layer, ...]:
    """Return the layers in Karmada's order; ``origin`` is where the definition comes from, such as ``catalogue``."""
    scripts, gvk = definition.scripts.of(operation), definition.gvk
    names = ", ".join(script.name for script in scripts)
    origin = origin or definition.source or "given"
    allowed = definition.answers(operation)
    carried, native = operation in CARRIED.get(gvk, ()), operation in NATIVE.get(gvk, ())
    after = "its own code" if native else f"nothing: {_WITHOUT[operation]}"
    left_out = "left out by the annotation karta-interpreter.io/operations" if definition.has_karta else "none"
    return (
        Layer(
            "customization",
            f"a ResourceInterpreterCustomization of the control plane with {operation}, if there is one",
        ),
        *([Layer("script", f"script of {names}", answers=True)] if scripts else []),
        Layer(
            "karta",
            f"Karta {definition.name} ({origin})" if definition.has_karta and allowed else left_out,
            answers=allowed and not scripts,
        ),
        Layer("karmada", "the script that it carries for the kind" if carried else after),
    )
