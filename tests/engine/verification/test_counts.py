import copy
import re
from typing import Any

import pytest

from karta_interpreter import Karta, Workload
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.verification import Evidence, Question, Verdict
from tests.engine.verification.member import (
    DEFINITION,
    NOW,
    Thing,
    ago,
    container,
    crashing,
    deployment,
    evidence,
    judged,
    pod,
    verdicts,
    workload,
)
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict
_TEMPLATE = {"spec": {"containers": [container()]}}


def _stale(obj: Thing) -> None:
    obj["metadata"]["generation"] = 2


def _deleted(obj: Thing) -> None:
    obj["metadata"]["deletionTimestamp"] = ago(10)


def _moved(obj: Thing) -> None:
    obj["metadata"]["namespace"] = "other"


def _of_another(obj: Thing) -> Thing:
    obj["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}]
    return obj


def _held(obj: Thing) -> None:
    """The status of a Deployment for which a quota holds all pods."""
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}
    obj["status"] = {"observedGeneration": 1, "unavailableReplicas": 2, "conditions": [failure]}


ROWS: list[Any] = [
    pytest.param(evidence(deployment(), pod(1), pod(2)), OK, "", id="as-many-pods-as-replicas"),
    pytest.param(
        evidence(deployment(), pod(1), pod(2), pod(3)),
        DIFFERS,
        "deployment has more pods than the answer",
        id="more-pods",
    ),
    pytest.param(
        evidence(deployment(), pod(1)),
        DIFFERS,
        "deployment has fewer pods than the answer",
        id="fewer-pods-while-running",
    ),
    pytest.param(
        evidence(deployment(change=_held)),
        UNJUDGED,
        "it has no pods at present",
        id="a-quota-or-a-queue-holds-all-pods",
    ),
    pytest.param(evidence(deployment(replicas=0)), OK, "", id="scaled-to-0"),
    pytest.param(evidence(deployment()), UNJUDGED, "it has no pods at present", id="its-status-counts-other-pods"),
    pytest.param(
        evidence(deployment(change=_stale), pod(1)),
        UNJUDGED,
        "its controller has not seen generation 2 yet",
        id="not-settled-because-the-controller-is-behind",
    ),
    pytest.param(
        evidence(deployment(change=_moved), pod(1), pod(2)),
        UNJUDGED,
        "pods are in namespace team, and the object is in other",
        id="not-settled-because-the-pods-are-of-another-namespace",
    ),
    pytest.param(
        evidence(deployment(), pod(1), _of_another(pod(2))),
        UNJUDGED,
        "pod pod-2 is owned by Deployment other, not it",
        id="not-settled-because-a-pod-is-of-another-object-of-the-kind",
    ),
    pytest.param(
        evidence(deployment(), pod(1), pod(2), pod(3, age=59)),
        UNJUDGED,
        "the object or one of its pods is younger than a minute",
        id="not-settled-because-a-pod-is-young",
    ),
    pytest.param(
        evidence(deployment(), pod(1), pod(2), pod(3, deletionTimestamp=ago(5))),
        UNJUDGED,
        "one of its pods is being deleted",
        id="not-settled-because-a-pod-ends",
    ),
    pytest.param(evidence(deployment(change=_deleted), pod(1)), UNJUDGED, "the object is being deleted", id="deleted"),
    pytest.param(
        evidence(deployment(), pod(1), pod(2), pod(3), scaled="HorizontalPodAutoscaler it"),
        UNJUDGED,
        "HorizontalPodAutoscaler it scales it",
        id="an-autoscaler-of-an-object-between",
    ),
    pytest.param(
        evidence(deployment(), pod(1), pod(2), pod(3, status={"phase": "Failed"})),
        OK,
        "",
        id="an-evicted-pod-stays-around",
    ),
    pytest.param(evidence(deployment(), pod(1, status=crashing()), pod(2)), OK, "", id="a-pod-that-crashes-exists"),
]


@rows(("shown", "verdict", "reason"), ROWS)
def test_count_of_pods_is_compared_with_answer(shown: Evidence, verdict: Verdict, reason: str) -> None:
    assert verdicts(Question.COUNTS, shown) == [(verdict, reason)]


@pytest.mark.parametrize("wrong", ["7", "(.spec.replicas) | tonumber + 1"])
def test_wrong_count_of_a_service_that_is_scaled_to_0_is_found(wrong: str) -> None:
    manifest = copy.deepcopy(Karta.for_object(deployment()).definition.manifest)
    manifest["spec"]["structureDefinition"]["rootComponent"]["scaleDefinition"]["replicasPath"] = wrong

    obj = workload(
        "apps/v1", "Deployment", {"replicas": 0, "template": _TEMPLATE}, {"observedGeneration": 3}, generation=3
    )
    assert [each.verdict for each in judged(Question.COUNTS, evidence(obj))] == [OK]
    assert [each.verdict for each in judged(Question.COUNTS, evidence(obj), Karta.load(manifest))] == [DIFFERS]


def test_wrong_count_names_field_and_numbers() -> None:
    (found,) = judged(Question.COUNTS, evidence(deployment(), pod(1), pod(2), pod(3)))

    assert found.field == "spec.structureDefinition.rootComponent.scaleDefinition.replicasPath"
    assert found.detail == "deployment: 2 answered, 3 pods"


def _ray(**worker: Any) -> Thing:
    group = {"groupName": "small", "replicas": 2, "template": {"spec": {"containers": [container("w")]}}, **worker}
    spec = {"headGroupSpec": {"template": {"spec": {"containers": [container("h")]}}}, "workerGroupSpecs": [group]}
    conditions = [{"type": name, "status": "True"} for name in ("RayClusterProvisioned", "HeadPodReady")]
    return workload("ray.io/v1", "RayCluster", spec, {"observedGeneration": 1, "conditions": conditions})


def _ray_pod(number: int, node: str, group: str = "small") -> Thing:
    waits = container("wait-gcs-ready", resources={"requests": {"cpu": "200m", "memory": "256Mi"}})
    init: Thing = {"initContainers": [waits]} if node == "worker" else {}
    return pod(number, container(node[0]), labels={"ray.io/node-type": node, "ray.io/group": group}, **init)


def test_pods_of_components_are_told_apart_by_selectors() -> None:
    pods = [_ray_pod(1, "head"), _ray_pod(2, "worker"), _ray_pod(3, "worker")]

    assert verdicts(Question.COUNTS, evidence(_ray(), *pods)) == [(OK, "")]


def test_pods_of_an_instance_that_the_object_lacks_are_strays() -> None:
    pods = [_ray_pod(1, "head"), _ray_pod(2, "worker"), _ray_pod(3, "worker"), _ray_pod(4, "worker", "gone")]

    (found,) = judged(Question.COUNTS, evidence(_ray(), *pods))
    assert (found.verdict, found.reason) == (DIFFERS, "pods belong to no component of the definition")
    assert found.field == "spec.structureDefinition.childComponents"


@pytest.mark.parametrize("between", ["", "StatefulSet"])
def test_component_whose_template_the_object_lacks_is_named(between: str) -> None:
    """The pods of a misspelled path belong to no component."""
    karta = Karta.load(DEFINITION.replace(".spec.template", ".spec.tempalte"))
    owner = {"apiVersion": "apps/v1", "kind": between, "metadata": {"name": "it", "uid": "between"}}
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": _TEMPLATE}, {"phase": "Deployed"})

    (found,) = judged(
        Question.COUNTS, evidence(shop, pod(1, owner="between"), owners=(owner,) if between else ()), karta
    )
    assert (found.verdict, found.reason) == (DIFFERS, "pods belong to no component of the definition")
    assert found.field == "spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath"


@pytest.mark.parametrize("role", ["head", "worker"])
def test_component_that_selects_pods_and_has_no_template_is_named(role: str) -> None:
    manifest = copy.deepcopy(Karta.for_object(_ray()).definition.manifest)
    children = manifest["spec"]["structureDefinition"]["childComponents"]
    number = next(at for at, child in enumerate(children) if child["name"] == role)
    children[number]["specDefinition"]["podTemplateSpecPath"] = ".spec.other | select(. != null)"

    pods = [_ray_pod(1, "head"), _ray_pod(2, "worker"), _ray_pod(3, "worker")]
    found = judged(Question.COUNTS, evidence(_ray(), *pods), Karta.load(manifest))
    assert {each.field for each in found if each.verdict is DIFFERS} == {
        f"spec.structureDefinition.childComponents[{number}].specDefinition.podTemplateSpecPath"
    }


def test_pod_of_a_helper_job_in_the_tree_is_no_difference() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "cleanup", "uid": "job"}}
    pods = [_ray_pod(1, "head"), _ray_pod(2, "worker"), _ray_pod(3, "worker"), pod(4, container("redis"), owner="job")]

    assert verdicts(Question.COUNTS, evidence(_ray(), *pods, owners=(job,))) == [
        (UNJUDGED, "pods of a Job belong to no component")
    ]


@rows(
    ("question", "second", "cpu", "reason"),
    [
        pytest.param(Question.COUNTS, 2, "1", "", id="as-many-as-all-instances-lack"),
        pytest.param(Question.COUNTS, 1, "1", "job has fewer pods than the answer", id="fewer-than-that"),
        pytest.param(Question.REQUIREMENTS, 2, "1", "", id="the-same-requests"),
        pytest.param(Question.REQUIREMENTS, 2, "2", "container main requests 2 cpu, not 1 cpu", id="other-requests"),
    ],
)
def test_pods_under_generated_names_are_judged_together(question: Question, second: int, cpu: str, reason: str) -> None:
    # The API server appends to the names, which the AppWrapper does not have.
    template = {"spec": {"containers": [container(resources={"requests": {"cpu": "1"}})]}}
    components = [
        {"template": {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "sweep-"}, "spec": spec}}
        for spec in ({"template": template}, {"parallelism": 2, "completions": 2, "template": template})
    ]
    conditions = [{"type": name, "status": "True"} for name in ("QuotaReserved", "ResourcesDeployed", "PodsReady")]
    status = {"phase": "Running", "conditions": conditions}
    obj = workload("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": components}, status)
    jobs = [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "uid": name}}
        for name in ("sweep-x", "sweep-y")
    ]
    owners = ["sweep-x", *["sweep-y"] * second]
    running = container(resources={"requests": {"cpu": cpu}})
    pods = [
        pod(number, running, labels={"batch.kubernetes.io/job-name": owner}, owner=owner)
        for number, owner in enumerate(owners)
    ]

    shown = evidence(obj, *pods, owners=tuple(jobs))
    assert [each.reason for each in judged(question, shown)] == [reason]


def test_wrong_count_of_pods_with_init_containers_only_is_one_of_the_count() -> None:
    # Each task is an init container of the template, since their pods come one after another.
    task = {"name": "build", "taskSpec": {"steps": [{"name": "go", "image": "i", "computeResources": {}}]}}
    conditions = [{"type": "Succeeded", "status": "Unknown", "reason": "Running"}]
    run = workload("tekton.dev/v1", "PipelineRun", {"pipelineSpec": {"tasks": [task]}}, {"conditions": conditions})

    (found,) = judged(Question.COUNTS, evidence(run, pod(0, container("step-go")), pod(1, container("step-go"))))
    assert found.reason == "pipelinerun has more pods than the answer"
    assert found.field == "spec.structureDefinition.rootComponent.scaleDefinition.replicasPath"


@rows(
    ("bounds", "workers", "expected"),
    [
        pytest.param({"minReplicas": 1, "maxReplicas": 4}, 4, UNJUDGED, id="within-the-bounds"),
        pytest.param({"minReplicas": 1, "maxReplicas": 4}, 5, DIFFERS, id="above-them"),
        pytest.param({"minReplicas": 2}, 3, DIFFERS, id="without-an-upper-bound"),
    ],
)
def test_autoscaler_explains_counts_within_bounds(bounds: Thing, workers: int, expected: Verdict) -> None:
    pods = [_ray_pod(0, "head"), *(_ray_pod(number + 1, "worker") for number in range(workers))]

    assert [each.verdict for each in judged(Question.COUNTS, evidence(_ray(**bounds), *pods))] == [expected]


@pytest.mark.parametrize(("least", "expected"), [(1, UNJUDGED), (2, DIFFERS)])
def test_autoscaler_of_an_object_between_explains_no_fewer_pods_than_the_minimum(least: int, expected: Verdict) -> None:
    shown = evidence(_ray(minReplicas=least), _ray_pod(0, "head"), _ray_pod(1, "worker"), scaled="autoscaler it")

    assert [each.verdict for each in judged(Question.COUNTS, shown)] == [expected]


@pytest.mark.parametrize(
    ("trainers", "expected"),
    [
        pytest.param(0, (UNJUDGED, "instances of task may run one after another"), id="the-next-job-waits"),
        pytest.param(2, (OK, ""), id="all-jobs-run"),
    ],
)
def test_job_that_waits_for_another_is_no_difference(trainers: int, expected: tuple[Verdict, str]) -> None:
    flows = [{"name": "extract"}, {"name": "train", "dependsOn": {"targets": ["extract"]}}]
    flow = workload("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": flows}, {"state": {"phase": "Running"}})
    tasks = {"extract": {"name": "a", "replicas": 1}, "train": {"name": "b", "replicas": 2}}
    templates = [
        workload("flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": [{**task, "template": _TEMPLATE}]}, name=name)
        for name, task in tasks.items()
    ]
    jobs = tuple(workload("batch.volcano.sh/v1alpha1", "Job", {}, name=f"it-{name}", uid=name) for name in tasks)
    pods = [
        pod(number, labels={"volcano.sh/job-name": f"it-{job}", "volcano.sh/task-spec": task}, owner=job)
        for number, (job, task) in enumerate([("extract", "a"), *[("train", "b")] * trainers])
    ]

    shown = evidence(flow, *pods, owners=jobs, reader=Known.of(templates))
    assert verdicts(Question.COUNTS, shown) == [expected]


def test_bounds_that_no_user_gives_are_no_autoscaler() -> None:
    # One to a hundred slices are possible, and the object says how many there are.
    role = {"name": "decode", "spec": {"replicas": 2, "leaderWorkerTemplate": {"workerTemplate": _TEMPLATE, "size": 1}}}
    status = {"conditions": [{"type": "Available", "status": "True"}]}
    obj = workload("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"slices": 1, "roles": [role]}, status)
    labels = {"leaderworkerset.sigs.k8s.io/worker-index": "0", "disaggregatedset.x-k8s.io/role": "decode"}
    pods = [pod(number, labels=labels) for number in range(3)]

    assert verdicts(Question.COUNTS, evidence(obj, *pods)) == [(DIFFERS, "leader has more pods than the answer")]


@rows("executors", [1, 2, 4])
def test_executors_that_come_and_go_are_no_difference(executors: int) -> None:
    spec = {
        "driver": {"cores": 1},
        "executor": {"cores": 1, "instances": 2},
        "dynamicAllocation": {"enabled": True, "minExecutors": 1, "maxExecutors": 4},
    }
    spark = workload(
        "sparkoperator.k8s.io/v1beta2", "SparkApplication", spec, {"applicationState": {"state": "RUNNING"}}
    )
    roles = ["driver", *["executor"] * executors]
    pods = [pod(number, container("spark"), labels={"spark-role": role}) for number, role in enumerate(roles)]

    assert DIFFERS not in [each.verdict for each in judged(Question.COUNTS, evidence(spark, *pods))]


def test_pods_that_have_succeeded_are_not_missed() -> None:
    template = {"spec": {"containers": [container()]}}
    job = workload("batch/v1", "Job", {"parallelism": 3, "completions": 5, "template": template}, {"active": 1})
    pods = [*(pod(number, status={"phase": "Succeeded"}) for number in range(4)), pod(9)]

    assert verdicts(Question.COUNTS, evidence(job, *pods)) == [(UNJUDGED, "some of its pods have ended")]


_TWO = """\
    childComponents:
    - {name: bar, ownerRef: shop, specDefinition: {podTemplateSpecPath: .spec.bar}}
    - {name: till, ownerRef: shop, specDefinition: {podTemplateSpecPath: .spec.till}}
"""


def test_pods_of_components_without_selectors_are_told_apart_by_templates() -> None:
    karta = Karta.load(re.sub(r"      specDefinition:\n.*\n", "", DEFINITION) + _TWO)
    shop = workload("example.io/v1", "Shop", {}, {"phase": "Deployed"})

    def found(bar: Thing, till: Thing, *pods: Thing) -> list[tuple[str, str]]:
        shop["spec"] = {"bar": {"spec": {"containers": [bar]}}, "till": {"spec": {"containers": [till]}}}
        return [(each.reason, each.detail) for each in judged(Question.COUNTS, evidence(shop, *pods), karta)]

    bar, till = container("bar"), container("till")
    assert found(bar, till, pod(1, bar), pod(2, till)) == [("", "")]
    assert found(bar, till, pod(1, bar), pod(2, bar))[0][1] == "bar: 1 answered, 2 pods"
    # Pods of equal templates are counted together.
    assert found(bar, bar, pod(1, bar), pod(2, bar)) == [("", "")]
    assert found(bar, bar, pod(1, bar))[0][1] == "bar and till: 2 answered, 1 pod"
    assert found(bar, till, pod(1, bar), pod(2, till), pod(3, container("other")))[0][1] == "1 pod, such as pod-3"


def test_workload_verifies_its_pods() -> None:
    obj = deployment()
    found = Workload(Karta.for_object(obj), obj).verify([pod(1), pod(2), pod(3)], now=NOW)

    assert (found[0].question, found[0].verdict) == (Question.COUNTS, DIFFERS)


@pytest.mark.parametrize(
    ("replicas", "verdict", "field"),
    [
        pytest.param('"many"', DIFFERS, "rootComponent.scaleDefinition.replicasPath", id="a-count-of-the-wrong-type"),
        pytest.param(".spec.replicas", OK, "", id="a-count"),
    ],
)
def test_expression_without_answer_is_named(replicas: str, verdict: Verdict, field: str) -> None:
    karta = Karta.load(DEFINITION.replace(".spec.replicas", f"'{replicas}'"))
    template = {"spec": {"containers": [container()]}}
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": template}, {"phase": "Deployed"})

    (found,) = judged(Question.COUNTS, evidence(shop, pod(1)), karta)
    assert (found.verdict, found.field.removeprefix("spec.structureDefinition.")) == (verdict, field)


@pytest.mark.parametrize("mistake", [".[0].template | . + {spec: {containers: []}}", "{spec: {containers: []}}"])
def test_template_of_a_section_that_the_object_lacks_is_named(mistake: str) -> None:
    # The training operator makes pods of the roles that are there.
    spec = {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": _TEMPLATE}}}
    job = workload("kubeflow.org/v1", "TFJob", spec, {"conditions": [{"type": "Running", "status": "True"}]})
    manifest = copy.deepcopy(Karta.for_object(job).definition.manifest)
    chief = manifest["spec"]["structureDefinition"]["childComponents"][0]["specDefinition"]
    chief["podTemplateSpecPath"] = f"[] | {mistake}"
    own = pod(1, labels={"training.kubeflow.org/replica-type": "worker"})

    found = [
        each for each in judged(Question.COUNTS, evidence(job, own), Karta.load(manifest)) if each.verdict is DIFFERS
    ]
    assert {each.field for each in found} == {
        "spec.structureDefinition.childComponents[0].specDefinition.podTemplateSpecPath"
    }
