"""Warnings about parts of an object that the schema of its kind, or that of pods, does not allow."""

from typing import Any

import pytest

from karta_interpreter.base.findings import Severity
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.explain import warnings_about
from karta_interpreter.engine.explain.misfits import misfit_warnings
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

_POD = {"containers": [{"name": "main", "image": "main:1"}]}


def _manifest(api_version: str, kind: str, **spec: object) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def _misfits(definition: Definition, obj: dict[str, Any]) -> list[str]:
    """Return the warnings without the releases and the hints."""
    facts = [fact for fact in warnings_about(definition, obj) if fact.rule.startswith("field-")]
    assert all(fact.severity is Severity.WARNING for fact in facts)
    return [fact.note.partition(" (")[0] for fact in facts]


@rows(
    ("manifest", "notes"),
    [
        pytest.param(_manifest("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2,
            leaderWorkerTemplate={"replicas": 4}), ["spec.leaderWorkerTemplate.replicas: there is no such field"],
            id="another name of a count"),
        pytest.param(_manifest("batch.volcano.sh/v1alpha1", "Job",
            tasks={"ps": {"replicas": 1}, "worker": {"replicas": 2}}), ["spec.tasks: must be a list, not an object"],
            id="a map in place of a list"),
        pytest.param(_manifest("batch/v1", "Job", parallelism="None", completions=2.5, paralelism=2, suspend="true"),
            ["spec.parallelism: must be a number, not a string", "spec.completions: must be a whole number, not 2.5",
            "spec.paralelism: there is no such field", "spec.suspend: must be a boolean, not a string"],
            id="several faults of one object"),
        pytest.param(_manifest("batch/v1", "Job", template={"containers": []}),
            ["spec.template.containers: there is no such field"], id="a pod spec in the place of a template"),
        pytest.param(_manifest("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", startupPolicy="leaderReady",
            replicas=None), ["spec.startupPolicy: cannot be leaderReady"],
            id="a text that no schema lists, and null, which is as good as absent"),
        pytest.param(_manifest("kubeflow.org/v1", "PyTorchJob",
            pytorchReplicaSpecs={"Worker": {"template": {"metadata": {"creationTimestamp": None}, "spec": _POD}}}), [],
            id="what Go programs write into every template"),
        pytest.param(_manifest("apps.kruise.io/v1alpha1", "CloneSet",
            template={"spec": {"containers": [{"imagge": "a"}]}}),
            ["spec.template.spec.containers[0].imagge: there is no such field"],
            id="pods where the schema of the kind is open"),
        pytest.param(_manifest("batch/v1", "Job",
            template={"spec": _POD, "metadata": {"labels": {"size": 4}, "lables": {}}}),
            ["spec.template.metadata.labels.size: must be a string, not a number",
            "spec.template.metadata.lables: there is no such field"], id="metadata of pods"),
        pytest.param({**_manifest("v1", "Pod", **_POD), "status": {"phas": 1, "newer": 2, "podIPs": "1.1.1.1"},
            "data": {}}, ["data: there is no such field", "status.podIPs: must be a list, not a string"],
            id="a field beside the spec, and a status of a newer release"),
        pytest.param(_manifest("workload.codeflare.dev/v1beta2", "AppWrapper",
            components=[{"template": _manifest("batch/v1", "Job", paralelism=2, template={"spec": _POD})}]),
            ["spec.components[0].template.spec.paralelism: there is no such field"], id="an object of another kind"),
        pytest.param(_manifest("kyverno.io/v1", "ClusterPolicy",
            rules=[{"validate": {"pattern": {"spec": _POD | {"(x)": 1}}}}]), [],
            id="a pattern of pods in a kind without pods"),
        pytest.param(_manifest("batch/v1", "Job", template={"spec": {"nodeSelector": {"any.name": "x"}, **_POD}}), [],
            id="labels"),
        pytest.param(_manifest("tekton.dev/v1", "TaskRun", taskSpec={"steps": [{"image": "x", "env": [], "own": 1}]}),
            [], id="an open part with the look of a container"),
    ],
)  # fmt: skip
def test_objects_of_the_catalogue(manifest: dict[str, Any], notes: list[str]) -> None:
    assert _misfits(_definition(manifest), manifest) == notes


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
    ],
)
def test_parts_that_only_the_definition_knows(manifest: dict[str, Any], note: str) -> None:
    templates = "workflowTemplates", "clusterWorkflowTemplates", "libraries", "clusterLibraries"
    definition = _definition(manifest).bound({name: [] for name in templates})

    assert [fact.note for fact in warnings_about(definition, manifest)] == [note]


def _definition(manifest: dict[str, Any]) -> Definition:
    kinds = ((entry.definition, entry.definition.gvk) for entry in load_catalogue().entries)
    version = (manifest["apiVersion"], manifest["kind"])
    return next(definition for definition, gvk in kinds if (gvk.api_version, gvk.kind) == version)


@rows(
    ("container", "notes"),
    [
        pytest.param({"resources": {"requests": {"cpu": 0.5}, "limits": None, "claims": []}}, [], id="all fields"),
        pytest.param(
            {"resources": {"request": {"cpu": 1}}}, ["resources.request: there is no such field"], id="a typo"
        ),
        pytest.param({"env": {"A": "b"}}, ["env: must be a list, not an object"], id="a map"),
    ],
)
def test_template_that_an_expression_reads_is_one_of_pods(
    define: Define, container: dict[str, Any], notes: list[str]
) -> None:
    obj = train({"name": "hot", "own": 1, "template": pods(**container)})

    place = "spec.groups[0].template.spec.containers[0]"
    assert _misfits(define(), obj) == [f"{place}.{note}" for note in notes]


def test_template_that_no_expression_reads_is_none_of_pods(define: Define) -> None:
    image = {"image": "main:1", "env": {"A": "b"}}
    built = ".spec.groups[] | {spec: {containers: [.template.spec.main]}}"
    obj = train({"name": "hot", "template": {"spec": {"main": image, "containers": "two"}}})

    assert _misfits(define(specDefinition={"podTemplateSpecPath": built}), obj) == []


def test_pod_spec_may_have_fields_of_its_kind(define: Define) -> None:
    obj = train({"name": "hot", "pod": {**_POD, "own": 1, "nodeSelector": "x"}})

    found = _misfits(define(specDefinition={"podSpecPath": ".spec.groups[].pod"}), obj)
    assert found == ["spec.groups[0].pod.nodeSelector: must be an object, not a string"]


def test_kind_without_a_schema_may_have_any_field(define: Define) -> None:
    obj = train({"name": "hot", "replicas": "3", "template": pods()}) | {"data": 1, "labels": {}}
    assert _misfits(define(), obj) == []


def test_metadata_of_any_kind_is_compared(define: Define) -> None:
    obj = train() | {"metadata": {"name": "a", "lables": {}, "managedFields": [{"fieldsV1": {"f:spec": {}}}]}}
    assert _misfits(define(), obj) == ["metadata.lables: there is no such field"]


def test_few_of_many_are_shown(define: Define) -> None:
    obj = train({"name": "hot", "template": pods(**{f"field{index}": 1 for index in range(100)})})

    assert len([*misfit_warnings(define(), obj)]) == 20
