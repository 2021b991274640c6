"""With Karmada's gate ResourceQuotaEstimate the requirements name the class that an operator gives to its pods."""

from typing import Any

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.operations import Call, Operation, Options, interpret
from tests.catalogue.entries import entries
from tests.catalogue.knowledge import knowing
from tests.support.rows import rows

_POD = {"priorityClassName": "high"}
_RESOURCES = {"requests": {"cpu": "1"}}


@rows(
    ["kind", "spec"],
    [
        # GetDeploymentParams and GetLWSParams, since release 3.1
        ("NIMService.apps.nvidia.com/v1alpha1", {"image": {"repository": "nim"}, "resources": _RESOURCES, **_POD}),
        # createPodSpec of pkg/specs/pods.go
        ("Cluster.postgresql.cnpg.io/v1", {"instances": 1, "resources": _RESOURCES, **_POD}),
        # RenderLaunchManifest of pkg/virt-controller/services/template.go
        ("VirtualMachineInstance.kubevirt.io/v1", {"domain": {"memory": {"guest": "1Gi"}}, **_POD}),
        # addSchedulingConstraints of workflow/controller/workflowpod.go
        ("Workflow.argoproj.io/v1alpha1",
            {"entrypoint": "a", "templates": [{"name": "a", "container": {"resources": _RESOURCES}}],
            "podPriorityClassName": "high"}),
        ("Workflow.argoproj.io/v1alpha1",
            {"entrypoint": "a", "templates": [{"name": "a", "container": {"resources": _RESOURCES}}],
            "templateDefaults": _POD, "podPriorityClassName": "low"}),
        # Builder.Build of pkg/pod/pod.go
        ("TaskRun.tekton.dev/v1",
            {"taskSpec": {"steps": [{"name": "a", "computeResources": _RESOURCES}]}, "podTemplate": _POD}),
    ],
)  # fmt: skip
def test_a_class_beside_the_pods_is_theirs(kind: str, spec: Object) -> None:
    assert _requirements(kind, spec)["priorityClassName"] == "high"


def test_pods_with_classes_of_their_own_have_none_in_common() -> None:
    # addSchedulingConstraints: the class of a template comes before that of the Workflow.
    templates = [{"name": name, "container": {"resources": _RESOURCES}} for name in "ab"]
    spec = {"entrypoint": "a", "templates": [templates[0], templates[1] | _POD], "podPriorityClassName": "low"}
    assert _requirements("Workflow.argoproj.io/v1alpha1", spec) == {"resourceRequest": {"cpu": "1"}}


def _requirements(kind: str, spec: Object) -> Any:
    definition = next(
        each for entry in entries() if (each := entry.definition) and f"{each.gvk.kind}.{each.gvk.api_version}" == kind
    )
    obj = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, "metadata": {}, "spec": spec}
    call, options = Call(Operation.INTERPRET_REPLICA, obj), Options(resource_quota_estimate=True)
    answer: Any = interpret(knowing(definition, obj), call, options)
    assert answer["replica"] == 1
    return answer["requires"]
