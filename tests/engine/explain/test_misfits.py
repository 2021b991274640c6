"""Warnings about parts of an object that the schema of its kind, or that of pods, does not allow or requires."""

import json
import re
from typing import Any

import pytest

from karta_interpreter.base.findings import Severity
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.explain import explain, warnings_about
from karta_interpreter.engine.explain.misfits import misfit_warnings
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

_POD = {"containers": [{"name": "main", "image": "main:1"}]}


def _manifest(api_version: str, kind: str, **spec: object) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


@rows(
    ("manifest", "notes"),
    [
        pytest.param(
            _manifest(
                "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2, leaderWorkerTemplate={"replicas": 4}
            ),
            [("spec.leaderWorkerTemplate.replicas: there is no such field (LeaderWorkerSet 0.9): did you mean size?")],
            id="another name of a count",
        ),
        pytest.param(
            _manifest("batch.volcano.sh/v1alpha1", "Job", tasks={"ps": {"replicas": 1}, "worker": {"replicas": 2}}),
            [
                "spec.tasks: must be a list, not an object (Volcano 1.15): write `- name: ps` in place of `ps:`",
            ],
            id="a map in place of a list",
        ),
        pytest.param(
            _manifest("batch/v1", "Job", parallelism="None", completions="${N}", backoffLimit="two"),
            [
                (
                    "spec.parallelism: must be a number, not a string (Kubernetes 1.34): "
                    "write null, or leave the field out"
                ),
                (
                    "spec.completions: must be a number, not a string (Kubernetes 1.34): "
                    "give what it stands for, as `envsubst` does"
                ),
                'spec.backoffLimit: must be a number, not a string (Kubernetes 1.34): "two" is none',
            ],
            id="texts that are no numbers",
        ),
        pytest.param(
            _manifest("batch/v1", "Job", paralelism=2, suspend="true", template={"containers": []}, completions="3"),
            [
                "spec.paralelism: there is no such field (Kubernetes 1.34): did you mean parallelism?",
                "spec.suspend: must be a boolean, not a string (Kubernetes 1.34): write true or false, without quotes",
                (
                    "spec.template.containers: there is no such field (Kubernetes 1.34): "
                    "is it spec.template.spec.containers?"
                ),
                "spec.completions: must be a number, not a string (Kubernetes 1.34): write it without quotes",
            ],
            id="several faults of one object",
        ),
        pytest.param(
            _manifest("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", startupPolicy="leaderReady", replicas=None),
            ["spec.startupPolicy: cannot be leaderReady (LeaderWorkerSet 0.9): did you mean LeaderReady?"],
            id="a text that no schema lists, and null, which is as good as absent",
        ),
        pytest.param(
            _manifest(
                "kubeflow.org/v1",
                "PyTorchJob",
                pytorchReplicaSpecs={"Worker": {"template": {"metadata": {"creationTimestamp": None}, "spec": _POD}}},
            ),
            [],
            id="what Go programs write into every template",
        ),
        pytest.param(
            _manifest("serving.kserve.io/v1alpha1", "LLMInferenceService", template={"spec": _POD}),
            ["spec.template.spec: there is no such field (KServe 0.20): write its fields in its place"],
            id="one level too much",
        ),
        pytest.param(
            _manifest("apps.kruise.io/v1alpha1", "CloneSet", template={"spec": {"containers": [{"imagge": "a"}]}}),
            ["spec.template.spec.containers[0].imagge: there is no such field (Kubernetes 1.34): did you mean image?"],
            id="pods where the schema of the kind is open",
        ),
        pytest.param(
            _manifest("ray.io/v1", "RayCluster", workerGroupSpecs=[{"resources": {"requests": {"cpu": 4}}}]),
            [
                (
                    "spec.workerGroupSpecs[0].resources.requests: must be a string, not an object (KubeRay 1.7): "
                    "is it spec.workerGroupSpecs[0].template.spec.resources?"
                )
            ],
            id="an object among texts, of a field that its pods have",
        ),
        pytest.param(
            _manifest("batch/v1", "Job", template={"spec": _POD, "metadata": {"labels": {"size": 4}, "lables": {}}}),
            [
                (
                    "spec.template.metadata.labels.size: must be a string, not a number (Kubernetes 1.34): "
                    "write it in quotes"
                ),
                "spec.template.metadata.lables: there is no such field (Kubernetes 1.34): did you mean labels?",
            ],
            id="metadata of pods",
        ),
        pytest.param(
            {**_manifest("v1", "Pod", **_POD), "status": {"phas": 1, "newer": 2, "podIPs": "1.1.1.1"}, "data": {}},
            [
                "data: there is no such field (Kubernetes 1.35): there are: apiVersion, kind, metadata, spec, status",
                "status.phas: there is no such field (Kubernetes 1.35): did you mean phase?",
                "status.podIPs: must be a list, not a string (Kubernetes 1.35): write [ ] around it",
            ],
            id="a field beside the spec, and a status with a typo and a field of a newer release",
        ),
        pytest.param(
            _manifest("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", roles=[{"name": "a", "template": {}}]),
            [
                (
                    "spec.roles[0].template: there is no such field (RBG 0.7): is it "
                    "spec.roles[0].leaderWorkerPattern.template or spec.roles[0].standalonePattern.template?"
                )
            ],
            id="one of two places",
        ),
        pytest.param(
            _manifest("apps.kruise.io/v1alpha1", "AdvancedCronJob", jobTemplate={}, timeZone=["Asia/Tokyo"]),
            [
                "spec.jobTemplate: there is no such field (OpenKruise 1.8): is it spec.template.jobTemplate?",
                (
                    "spec.timeZone: must be a string, not a list (OpenKruise 1.8): "
                    "write one text, in quotes if it begins with [ or {"
                ),
            ],
            id="a level too high, beside a field of almost the name",
        ),
        pytest.param(
            _manifest(
                "machinelearning.seldon.io/v1", "SeldonDeployment", predictors={"componentSpecs": [], "graph": "a"}
            ),
            [
                (
                    "spec.predictors: must be a list, not an object (Seldon Core 1.18): "
                    "write the entry after a dash, as the only one of a list"
                )
            ],
            id="the only entry of a list",
        ),
        pytest.param(
            _manifest("apps.kruise.io/v1alpha1", "CloneSet", strategy={}, updateStrategy="Recreate"),
            [
                "spec.strategy: there is no such field (OpenKruise 1.9): did you mean scaleStrategy?",
                (
                    "spec.updateStrategy: must be an object, not a string (OpenKruise 1.9): "
                    "its fields are inPlaceUpdateStrategy, maxSurge, maxUnavailable, partition and 4 more"
                ),
            ],
            id="a part of a name, and a text in the place of an object",
        ),
        pytest.param(
            _manifest(
                "workload.codeflare.dev/v1beta2",
                "AppWrapper",
                components=[{"template": _manifest("batch/v1", "Job", paralelism=2, template={"spec": _POD})}],
            ),
            [
                (
                    "spec.components[0].template.spec.paralelism: there is no such field (Kubernetes 1.34): "
                    "did you mean parallelism?"
                )
            ],
            id="an object of another kind",
        ),
        pytest.param(
            _manifest(
                "tekton.dev/v1",
                "PipelineRun",
                pipelineSpec={
                    "tasks": [{"taskSpec": {"steps": [{"computeResources": {"limits": {}, "request": {"cpu": 1}}}]}}]
                },
            ),
            [
                (
                    "spec.pipelineSpec.tasks[0].taskSpec.steps[0].computeResources.request: there is no such field "
                    "(Kubernetes 1.34): did you mean requests?"
                )
            ],
            id="resources in an open part",
        ),
        pytest.param(
            _manifest("kyverno.io/v1", "ClusterPolicy", rules=[{"validate": {"pattern": {"spec": _POD | {"(x)": 1}}}}]),
            [],
            id="a pattern of pods in a kind without pods",
        ),
        pytest.param(
            _manifest("batch/v1", "Job", template={"spec": {"nodeSelector": {"any.name": "x"}, **_POD}}),
            [],
            id="labels",
        ),
        pytest.param(
            _manifest(
                "sparkoperator.k8s.io/v1alpha1",
                "SparkConnect",
                sparkConf={"spark.executor.memry": "4g", "spark.executor.cores": "2", "spark.executor.core": "2"},
            ),
            [
                (
                    'spec.sparkConf["spark.executor.memry"]: there is no such field (Spark Operator 2.5): '
                    "did you mean spark.executor.memory?"
                )
            ],
            id="a misspelt key of a map, beside one of almost the name that is there",
        ),
        pytest.param(
            _manifest(
                "tekton.dev/v1",
                "TaskRun",
                taskSpec={
                    "steps": [
                        {"name": "a", "computeResource": {"requests": {"cpu": "1"}}},
                        {"name": "b", "requests": {"cpu": "1"}},
                        {"name": "c", "computeResources": {"computeResources": {"requests": {"cpu": "1"}}}},
                        {"name": "d", "computeResources": {"cpu": "1"}},
                        {"name": "e", "computeResources": {"reqeusts": {"cpu": "1"}}, "script": "x"},
                        {"name": "f", "image": "x", "resources": {"requests": {"cpu": "1"}}},
                    ]
                },
            ),
            [
                (
                    "spec.taskSpec.steps[2].computeResources.computeResources: there is no such field "
                    "(Kubernetes 1.34): write its fields in its place"
                ),
                (
                    "spec.taskSpec.steps[3].computeResources.cpu: there is no such field (Kubernetes 1.34): "
                    "there are: claims, limits, requests"
                ),
                (
                    "spec.taskSpec.steps[4].computeResources.reqeusts: there is no such field (Kubernetes 1.34): "
                    "did you mean requests?"
                ),
                (
                    "spec.taskSpec.steps[0].computeResource: there is no such field (Tekton Pipelines 1.15): "
                    "did you mean computeResources?"
                ),
                (
                    "spec.taskSpec.steps[1].requests: there is no such field (Tekton Pipelines 1.15): "
                    "is it spec.taskSpec.steps[1].computeResources.requests?"
                ),
                (
                    "spec.taskSpec.steps[5].resources: there is no such field (Tekton Pipelines 1.15): "
                    "did you mean computeResources?"
                ),
            ],
            id="an open part with fields that the definition reads",
        ),
        pytest.param(
            _manifest(
                "argoproj.io/v1alpha1",
                "Workflow",
                templates=[{"name": "main", "container": {"image": "a"}, "resources": {"requests": {"cpu": "1"}}}],
            ),
            [
                (
                    "spec.templates[0].resources: there is no such field (Argo Workflows 4.1): "
                    "is it spec.templates[0].container.resources?"
                )
            ],
            id="a level too high, beside a field of almost the same name",
        ),
        pytest.param(
            _manifest("flux-framework.org/v1alpha2", "MiniCluster", containers={"image": "x", "command": "run"}),
            [
                (
                    "spec.containers: must be a list, not an object (Flux Operator 0.2+0d75cef): "
                    "write the entry after a dash, as the only one of a list"
                )
            ],
            id="a container in the place of a list",
        ),
        pytest.param(
            _manifest(
                "kubevirt.io/v1", "VirtualMachine", template={"spec": {"domain": {"requests": {"memory": "8Gi"}}}}
            ),
            [
                (
                    "spec.template.spec.domain.requests: there is no such field (KubeVirt 1.9): "
                    "is it spec.template.spec.domain.resources.requests?"
                )
            ],
            id="a level too high, with a field that is here as well",
        ),
        pytest.param(
            _manifest("slinky.slurm.net/v1beta1", "NodeSet", slurmd={"image": "x", "resource": {"limits": {"cpu": 4}}}),
            ["spec.slurmd.resource: there is no such field (Kubernetes 1.34): did you mean resources?"],
            id="a container in an open part",
        ),
        pytest.param(
            _manifest(
                "elasticsearch.k8s.elastic.co/v1",
                "Elasticsearch",
                nodeSets=[{"name": "a", "count": 1, "podTemplate": {"nodeSelector": {"disk": "ssd"}, "spec": _POD}}],
            ),
            [
                (
                    "spec.nodeSets[0].podTemplate.nodeSelector: there is no such field (Kubernetes 1.34): "
                    "is it spec.nodeSets[0].podTemplate.spec.nodeSelector?"
                )
            ],
            id="a field of an open pod template, a level too high",
        ),
    ],
)
def test_objects_of_the_catalogue(manifest: dict[str, Any], notes: list[str]) -> None:
    definition = _definition(manifest)

    found = [fact for fact in warnings_about(definition, manifest) if fact.rule.startswith("field-")]

    assert [fact.note for fact in found] == notes
    assert all(fact.severity is Severity.WARNING for fact in found)


@rows(
    ("manifest", "note"),
    [
        pytest.param(
            _manifest(
                "argoproj.io/v1alpha1", "Workflow", entrypoint="main", templates=[{"name": "mian", "container": {}}]
            ),
            'spec.entrypoint is "main": no template has this name: pods may request something else than the answer',
            id="an entrypoint without a template",
        ),
        pytest.param(
            _manifest(
                "argoproj.io/v1alpha1",
                "Workflow",
                entrypoint="main",
                templates=[{"name": "main", "steps": [[{"template": "trian"}, {"template": "{{item}}"}]]}],
            ),
            (
                'spec.templates[0].steps[0][0].template is "trian": no template has this name: '
                "pods may request something else than the answer"
            ),
            id="a step without a template",
        ),
        pytest.param(
            _manifest(
                "kubeflow.org/v1",
                "TFJob",
                tfReplicaSpecs={"worker": {"template": {"spec": _POD}}, "Parameter": {"template": {"spec": _POD}}},
            ),
            (
                "tfReplicaSpecs has another part than Chief, Evaluator, Master, PS and Worker: "
                "pods may request something else than the answer"
            ),
            id="a part that the operator does not know",
        ),
        pytest.param(
            _manifest("v1", "Pod", containers=_POD["containers"], overhead={"memroy": "1Gi"}),
            "pod: memroy is no resource: write cpu, memory, ephemeral-storage, or a name with its domain",
            id="overhead",
        ),
    ],
)
def test_parts_that_only_the_definition_knows(manifest: dict[str, Any], note: str) -> None:
    templates = "workflowTemplates", "clusterWorkflowTemplates", "libraries", "clusterLibraries"
    definition = _definition(manifest).bound({name: [] for name in templates})

    assert [fact.note for fact in warnings_about(definition, manifest)] == [note]


@pytest.mark.parametrize(("key", "count"), [("spark.executor.instances", 0), ("spark.executor.instnces", 1)])
def test_typo_of_another_definition_of_the_kind_is_none_of_the_object(key: str, count: int) -> None:
    manifest = _manifest("sparkoperator.k8s.io/v1alpha1", "SparkConnect", sparkConf={key: "3"})
    text = json.dumps(_definition(manifest).manifest).replace("spark.executor.instances", "spark.executor.instnces")
    definition = load_object(json.loads(text), "own").usable()

    notes = [fact.note for fact in misfit_warnings(definition, manifest)]

    assert ["did you mean spark.executor.instances?" in note for note in notes] == [True] * count


def _definition(manifest: dict[str, Any]) -> Definition:
    kinds = ((entry.definition, entry.definition.gvk) for entry in load_catalogue().entries)
    version = (manifest["apiVersion"], manifest["kind"])
    return next(definition for definition, gvk in kinds if (gvk.api_version, gvk.kind) == version)


@rows(
    ("manifest", "notes"),
    [
        pytest.param(
            _manifest("ray.io/v1", "RayCluster", workerGroupSpecs=[{"groupName": "a", "template": {"spec": _POD}}]),
            ["head: no pods at spec.headGroupSpec.template; spec.headGroupSpec is required (KubeRay 1.7)"],
            id="a part",
        ),
        pytest.param(
            _manifest(
                "ray.io/v1",
                "RayCluster",
                headGroupSpec={"template": {"spec": _POD}},
                workerGroupSpecs=[{"groupName": "a", "template": None}],
            ),
            [
                (
                    "worker: no pods at spec.workerGroupSpecs[0].template; "
                    "spec.workerGroupSpecs[0].template is required (KubeRay 1.7)"
                )
            ],
            id="a part of a list, which is null",
        ),
        pytest.param(
            _manifest("ray.io/v1", "RayCluster", headGroupSpec={"template": {"spec": _POD}}), [], id="an optional part"
        ),
        pytest.param(
            _manifest("kubevirt.io/v1", "VirtualMachineInstance", domain={"memory": {"guest": "1Gi"}}),
            [],
            id="a part that the webhook writes, without which there are pods",
        ),
    ],
)
def test_required_fields_without_which_there_are_no_pods(manifest: dict[str, Any], notes: list[str]) -> None:
    found = warnings_about(_definition(manifest), manifest)

    assert [fact.note for fact in found if fact.rule == "pods-not-found"] == notes


@rows(
    ("container", "notes"),
    [
        pytest.param({"resources": {"requests": {"cpu": 0.5}, "limits": None, "claims": []}}, [], id="all fields"),
        pytest.param(
            {"resources": {"request": {"cpu": 1}}}, ["resources.request: did you mean requests?"], id="a typo"
        ),
        pytest.param({"requests": {"cpu": 1}}, ["requests: is it {}.resources.requests?"], id="a level too high"),
        pytest.param({"env": {"A": "b"}}, ["env: write `- {{name: A, value: …}}` in place of `A:`"], id="a map"),
    ],
)
def test_pods_of_other_kinds(define: Define, container: dict[str, Any], notes: list[str]) -> None:
    found = misfit_warnings(define(), train({"name": "hot", "own": 1, "template": pods(**container) | {"own": 1}}))

    place = "spec.groups[0].template.spec.containers[0]"
    messages = [(fact.note.partition(":")[0], fact.note.rpartition("): ")[2]) for fact in found]
    expected = [tuple(note.split(": ", 1)) for note in notes]
    assert messages == [(f"{place}.{path}", hint.format(place)) for path, hint in expected]


@rows(
    ("more", "notes"),
    [
        pytest.param({"replicas": "3"}, ["spec.groups[0].replicas: must be a number, not a string"], id="a count"),
        pytest.param({"template": "x"}, ["spec.groups[0].template: must be an object, not a string"], id="a template"),
        pytest.param({"replicas": None, "own": "3"}, [], id="a field that the definition does not read"),
    ],
)
def test_types_that_a_definition_reads(define: Define, more: dict[str, Any], notes: list[str]) -> None:
    obj = train({"name": "hot", "template": pods(), **more}) | {"data": 1}

    found = [fact.note.partition(" (as the definition reads it)")[0] for fact in misfit_warnings(define(), obj)]

    assert found == notes


def test_status_as_bytes_of_go_is_named() -> None:
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "status": {"raw": "e30="}}
    (fact,) = warnings_about(_definition(obj), obj, Operation.INTERPRET_STATUS)
    assert fact.note.startswith("status.raw: there is no such field")


@rows(
    ("changes", "notes"),
    [
        pytest.param({"annotations": {}}, ["annotations: is it metadata.annotations?"], id="annotations"),
        pytest.param(
            {"status": {"status": {"phase": "On"}}}, ["status.status: write its fields in its place"], id="status"
        ),
        pytest.param(
            {"metadata": {"name": "a", "lables": {}}},
            ["metadata.lables: did you mean labels?"],
            id="a typo in the metadata",
        ),
        pytest.param({"status": {"status": "On"}}, [], id="a text called status"),
        pytest.param({"labels": {}, "data": {"data": {}}}, ["labels: is it metadata.labels?"], id="labels"),
    ],
)
def test_fields_of_any_kind_in_another_place(define: Define, changes: dict[str, Any], notes: list[str]) -> None:
    found = [fact.note for fact in warnings_about(define(), train() | changes, Operation.INTERPRET_STATUS)]

    found_notes = [
        re.sub(r"there is no such field \((as the definition reads it|Kubernetes .*?)\): ", "", note) for note in found
    ]
    assert found_notes == notes


def test_fields_of_any_kind_are_not_sought_in_the_writers_of_fields(define: Define) -> None:
    obj = train({"name": "hot", "template": pods()})
    obj["metadata"]["managedFields"] = [{"fieldsV1": {"f:resources": {"f:requests": {"f:cpu": {}}}}}]

    assert not warnings_about(define(), obj)


def test_status_of_a_cluster_below_another_status(define: Define) -> None:
    items = StatusItem("north", {"phase": "On"}), StatusItem("south", {"status": {"phase": "On"}})
    explanation = explain(define(), Call(Operation.AGGREGATE_STATUS, train(), items=items))

    assert [fact.note for fact in explanation.warnings] == [
        "south: status.status: there is no such field (as the definition reads it): write its fields in its place"
    ]


def test_few_of_many_are_shown(define: Define) -> None:
    obj = train({"name": "hot", "template": pods(**{f"field{index}": 1 for index in range(100)})})

    assert len([*misfit_warnings(define(), obj)]) == 20
