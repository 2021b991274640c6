"""What an operator adds to pods requests the same in all definitions whose pods get it."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import unknown_requests
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries
from tests.catalogue.knowledge import knowing
from tests.support.rows import rows

_NAMED = re.compile(r'\{\s*name: "(queue-proxy|storage-initializer|modelcar|agent)",\s*')
"""Containers of KServe and Knative, in pods of several kinds."""


_AMOUNTS = re.compile(r'(?:cpu|memory|"ephemeral-storage"): |"[^"]*"')
"""Names of resources, and what is said of each. The conditions under which it is said belong to a kind."""


def _amounts(text: str, begin: int) -> str:
    depth = 0
    for position in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return " ".join(_AMOUNTS.findall(text, begin, position))
    raise AssertionError(text[begin:])


def test_containers_that_an_operator_adds_are_equal_in_all_definitions() -> None:
    forms: dict[str, dict[str, str]] = {}
    for entry in entries():
        for match in _NAMED.finditer(entry.text):
            forms.setdefault(match[1], {})[_amounts(entry.text, match.start())] = str(entry.folder)
    assert {name: list(texts.values()) for name, texts in forms.items() if len(texts) > 1} == {}
    assert len(forms) == len(("queue-proxy", "storage-initializer", "modelcar", "agent"))


_NO_ORDER: Final = "containers only, and containers run at the same time: "
_IN_FRONT: Final = (
    "configureTLS in ray-operator/controllers/ray/common/pod.go of KubeRay 1.7: the wait for a certificate"
)
_RAY: Final = {
    "firstInitContainers": _IN_FRONT,
    "initContainers": "DefaultWorkerPodTemplate there appends the wait for the head",
}
_VIRTUAL_MACHINE: Final = {
    "containers": _NO_ORDER + "overhead and volumes of virt-launcher",
    "initContainers": "pkg/virt-controller/services/template.go of KubeVirt: the log of the console is the first, "
    "and a guest has no init containers of its own",
}
_PLACES: Final[Mapping[str, Mapping[str, str]]] = {
    "VirtualMachine": _VIRTUAL_MACHINE,
    "VirtualMachineInstance": _VIRTUAL_MACHINE,
    "VirtualMachineInstanceReplicaSet": _VIRTUAL_MACHINE,
    "InferenceService": {
        "containers": _NO_ORDER + "agent_injector.go of KServe, and the queue-proxy of Knative",
        "initContainers": "storage_initializer_injector.go in pkg/webhook/admission/pod of KServe 0.20 appends",
    },
    "LLMInferenceService": {
        "containers": _NO_ORDER + "workload_storage.go in pkg/controller/v1alpha2/llmisvc of KServe 0.20",
        "initContainers": "workload_storage.go there appends, after the routing sidecar of the template",
    },
    "CronWorkflow": {
        "containers": _NO_ORDER + "a container set of one template",
        "initContainers": "a template is a pod of its own (createWorkflowPod of Argo Workflows): no order among them",
    },
    "Workflow": {
        "containers": _NO_ORDER + "a container set of one template",
        "initContainers": "a template is a pod of its own (createWorkflowPod of Argo Workflows): no order among them",
    },
    "NIMService": {"containers": _NO_ORDER + "the queue-proxy of Knative"},
    "StormService": {"containers": _NO_ORDER + "aibrix-runtime, which the webhook of AIBrix 0.7 puts in front"},
    "RayClusterFleet": {
        "containers": _NO_ORDER + "autoscaler",
        "initContainers": "DefaultWorkerPodTemplate of KubeRay appends the wait for the head",
    },
    "NodeSet": {
        "containers": _NO_ORDER + "slurmd",
        "firstInitContainers": "BuildPodTemplate in internal/builder/common/pod_template.go of Slurm Operator 1.2: "
        "MergeList of the operator's and of the template's",
    },
    # The definition puts the wait of workers behind their template itself, in podTemplateSpecPath.
    "AppWrapper": {"containers": _NO_ORDER + "the collector of Ray's history", "firstInitContainers": _IN_FRONT},
    "PipelineRun": {"initContainers": "a task is a pod of its own (pkg/pod/pod.go of Tekton): no order among them"},
    "TaskRun": {"containers": _NO_ORDER + "the steps are containers, and the template has none"},
    "RayCluster": {"containers": _NO_ORDER + "autoscaler and collector", **_RAY},
    "RayCronJob": {"containers": _NO_ORDER + "submitter, autoscaler and collector", **_RAY},
    "RayJob": {"containers": _NO_ORDER + "submitter, autoscaler and collector", **_RAY},
    "RayService": {"containers": _NO_ORDER + "autoscaler and collector", **_RAY},
    "Elasticsearch": {
        "firstInitContainers": "WithInitContainers in pkg/controller/common/defaults of ECK 3.5 prepends",
    },
    "MPIJob": {
        "initContainers": "newLauncher in pkg/controller.v1/mpi/mpijob_controller.go of Training Operator 1.9 appends"
    },
    "PyTorchJob": {"initContainers": "setInitContainer in pkg/controller.v1/pytorch of Training Operator 1.9 appends"},
    "Experiment": {
        "containers": _NO_ORDER + "the collector of metrics (inject_webhook.go of Katib)",
        "initContainers": "those of the MPIJob or the PyTorchJob of a trial, appended",
    },
}
"""Where the operator of each kind puts the containers that it adds, by its source."""


def test_lists_of_added_containers_have_their_order_from_the_operator() -> None:
    lists: dict[str, set[str]] = {}
    for entry in entries():
        if not entry.definition or not entry.definition.annotations.added_containers:
            continue
        given = lists.setdefault(entry.definition.gvk.kind, set())
        for obj in entry.objects:
            for added in knowing(entry.definition, obj).annotations.added_containers:
                given.update(name for value in added.query.evaluate(obj) for name in value or ())

    assert lists == {kind: set(places) for kind, places in _PLACES.items()}


_AROUND: Sequence[tuple[str, Collection[str], Callable[[Object], Object]]] = (
    (
        "Experiment.kubeflow.org/v1beta1",
        ("PyTorchJob.kubeflow.org/v1", "TFJob.kubeflow.org/v1", "XGBoostJob.kubeflow.org/v1", "MPIJob.kubeflow.org/v1"),
        lambda job: {
            "parallelTrialCount": 1,
            "metricsCollectorSpec": {"collector": {"kind": "Push"}},
            "trialTemplate": {"trialSpec": job},
        },
    ),
    (
        "AppWrapper.workload.codeflare.dev/v1beta2",
        (
            "PyTorchJob.kubeflow.org/v1",
            "RayCluster.ray.io/v1",
            "RayJob.ray.io/v1",
            "Job.batch/v1",
            "JobSet.jobset.x-k8s.io/v1alpha2",
        ),
        lambda job: {"components": [{"template": job}]},
    ),
)
"""Kinds that make objects of others, which, and the spec around one. Trials collect no metrics."""


@rows(["around", "kinds", "spec"], _AROUND)
def test_pods_inside_another_object_request_what_they_do_alone(
    around: str, kinds: Collection[str], spec: Callable[[Object], Object]
) -> None:
    known = {
        f"{each.gvk.kind}.{each.gvk.api_version}": (each, entry.cases)
        for entry in entries()
        if (each := entry.definition)
    }
    different, outer = list[str](), known[around][0]
    for inner, cases in map(known.__getitem__, kinds):
        for case in cases:
            if case.error or case.call.operation not in _COUNTED:
                continue
            job = {"apiVersion": inner.gvk.api_version, "kind": inner.gvk.kind, **case.call.object}
            obj = {"metadata": {"name": "outer", "namespace": "n"}, "spec": spec(job)}
            # Where one definition cannot know all pods, the other one may.
            if _requests(outer, obj) != _requests(inner, job) and not unknown_requests(inner, job):
                different.append(case.name)
    assert not different


_COUNTED = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT)


def _requests(definition: Definition, obj: Object) -> list[str]:
    """Return the count and the requests of each component with pods, which has another name inside another object."""
    obj = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, **obj}
    answer: Any = interpret(knowing(definition, obj), Call(Operation.INTERPRET_COMPONENT, obj))
    components = [each for each in answer["components"] if each["replicas"] and each["name"] != "suggestion"]
    return sorted(str((each["replicas"], each.get("replicaRequirements"))) for each in components)
