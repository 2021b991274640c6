"""Warnings about pods that a definition does not find, and where nothing is wrong, none."""

from typing import Any

import pytest

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import Known, resolved
from karta_interpreter.definitions.sources import find_in_catalogue
from karta_interpreter.engine.explain import warnings_about
from karta_interpreter.engine.operations import Operation
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

HOT = {"name": "hot", "replicas": 2, "template": pods()}


@rows(
    ("group", "obj", "notes"),
    [
        pytest.param({}, train(HOT), [], id="all is there"),
        pytest.param({}, train({"name": "hot", "template": pods()}), [], id="an optional count has its default"),
        pytest.param({}, train(HOT, {"name": "off", "replicas": 0}), [], id="a group of none needs no template"),
        pytest.param({}, train({"name": "off", "replicas": 0}),
            ["no component has pods in this object (group: spec.groups[0].template)"],
            id="an object whose only group has none"),
        pytest.param(
            {},
            train(HOT, {"name": "ml", "replicas": 2}),
            [
                (
                    "ml: count 2, but no pods at spec.groups[1].template; "
                    "if the operator makes them, the definition needs podTemplateSpecPath: … // {spec: {}}"
                )
            ],
            id="a count and no template",
        ),
        pytest.param({"specDefinition": {"podTemplateSpecPath": ".spec.groups[].templte"}},
            train({"name": "hot", "template": pods()}), ["group: no pods at spec.groups[0].templte"],
            id="a template that no instance has"),
        pytest.param({"instanceIdPath": ".spec.groups | keys[]"}, {**train(), "spec": {"groups": {"hot": HOT}}}, [],
            id="an object with ids as its keys"),
        pytest.param({}, train(), ["no component has pods in this object (group: spec.groups)"],
            id="an object without any pods"),
        pytest.param(
            {},
            train({"name": "hot", "template": {"containers": [{"name": "main"}]}}),
            [
                (
                    "spec.groups[0].template.containers: there is no such field (Kubernetes 1.34): "
                    "there are: metadata, spec"
                ),
                "group: spec.groups[0].template has no spec, so it is not a pod template; there are containers",
                "group: no pods at spec.groups[0].template",
            ],
            id="a pod spec in the place of a template",
        ),
        pytest.param(
            {},
            train({"name": "hot", "template": {"spec": {"image": "main"}}}),
            [
                (
                    "spec.groups[0].template.spec.image: there is no such field (Kubernetes 1.34): "
                    "there are: activeDeadlineSeconds, affinity, automountServiceAccountToken, containers and 37 more"
                ),
                "group: spec.groups[0].template has no containers; there are image",
            ],
            id="a template whose spec is none of a pod",
        ),
        pytest.param({"scaleDefinition": {"replicasPath": ".spec.groups[].number"}},
            train({"name": "hot", "template": pods()}), ["group: no count at spec.groups[0].number, which means 1"],
            id="a count without a default that is nowhere"),
        pytest.param({"scaleDefinition": {"replicasPath": ".spec.groups[].number"}},
            train({"name": "hot", "template": pods()}, {"name": "cold", "number": 2, "template": pods()}), [],
            id="a count that one of the instances has"),
    ],
)  # fmt: skip
def test_warnings_about_pods(define: Define, group: dict[str, Any], obj: dict[str, Any], notes: list[str]) -> None:
    found = warnings_about(define(**group), obj)

    assert [fact.note for fact in found] == notes
    places = [(fact.field, fact.expression) for fact in found if not fact.rule.startswith("field-")]
    assert all(field and expression for field, expression in places)
    assert all(fact.severity is Severity.WARNING for fact in found)


@rows(
    ("gvk", "spec", "note"),
    [
        pytest.param(
            GVK("ray.io", "v1", "RayCluster"),
            {"workerGroupSpecs": [{"groupName": "a", "replicas": 2, "template": pods()}]},
            "head: no pods at spec.headGroupSpec.template; spec.headGroupSpec is required (KubeRay 1.7)",
            id="the workers alone would be counted without a word",
        ),
        pytest.param(
            GVK("ray.io", "v1", "RayCluster"), {"headGroupSpec": {"template": pods()}}, "", id="no worker is fine"
        ),
    ],
)
def test_required_field_without_which_there_are_no_pods_is_named(gvk: GVK, spec: dict[str, Any], note: str) -> None:
    entry = find_in_catalogue(gvk)
    assert entry
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "a"}, "spec": spec}
    notes = [fact.note for fact in warnings_about(entry.definition, obj) if fact.rule == "pods-not-found"]
    assert notes == ([note] if note else [])


@rows(
    ("gvk", "spec"),
    [
        pytest.param(
            GVK("apps.nvidia.com", "v1alpha1", "NIMService"),
            {
                "image": {"repository": "registry.example/llm", "tag": "1"},
                "authSecret": "key",
                "expose": {"service": {"port": 8000}},
                "scale": {"enabled": True, "hpa": {"minReplicas": 1, "maxReplicas": 2, "metrics": []}},
            },
            id="an autoscaler counts (k8s-nim-operator, config/samples)",
        ),
        pytest.param(
            GVK("workload.codeflare.dev", "v1beta2", "AppWrapper"),
            {
                "components": [
                    {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, **pods()}},
                ]
            },
            id="a whole Pod is not a pod template (appwrapper, samples/wrapped-pod.yaml)",
        ),
    ],
)
def test_objects_that_are_right_have_no_warning(gvk: GVK, spec: dict[str, Any]) -> None:
    entry = find_in_catalogue(gvk)
    assert entry
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "a", "namespace": "b"}, "spec": spec}
    assert [fact.note for fact in warnings_about(entry.definition, obj)] == []


def test_object_that_names_none_of_the_objects_that_its_pods_come_from_is_told_so() -> None:
    entry = find_in_catalogue(GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"))
    assert entry
    obj = {**entry.definition.gvk.type_meta, "metadata": {"name": "bert"}, "spec": {}}
    (warning,) = warnings_about(resolved(entry.definition, obj, Known.of([])), obj, Operation.INTERPRET_REPLICA)
    assert "; it names no ClusterTrainingRuntime, TrainingRuntime at spec.runtimeRef.kind, spec." in warning.note


def test_object_whose_pods_come_from_no_other_object_is_not_told_so() -> None:
    entry = find_in_catalogue(GVK("postgresql.cnpg.io", "v1", "Cluster"))
    assert entry
    obj = {**entry.definition.gvk.type_meta, "metadata": {"name": "orders"}, "spec": {}}
    (warning,) = warnings_about(entry.definition, obj, Operation.INTERPRET_REPLICA)
    assert warning.note.endswith("(cluster: spec.instances, spec.storage)")


@pytest.mark.parametrize(
    ("script", "count"),
    [
        pytest.param(
            "replicaResource: {luaScript: 'function GetReplicas(o) return 2 end'}", 0, id="it counts the pods"
        ),
        pytest.param("retention: {luaScript: 'function Retain(d, o) return d end'}", 1, id="it counts nothing"),
    ],
)
def test_no_warning_about_pods_that_a_script_counts(define: Define, script: str, count: int) -> None:
    facts = warnings_about(define(annotations={"lua": script}), train(), Operation.INTERPRET_DEPENDENCY)
    assert [fact.rule for fact in facts] == ["pods-not-found"] * count


@rows(
    ("more", "notes"),
    [
        pytest.param({}, [], id="nothing of it"),
        pytest.param({"patch": ""}, [], id="an empty text"),
        pytest.param({"patch": None}, [], id="null"),
        pytest.param({"patch": "4Gi"},
            ['spec.groups[0].patch is "4Gi": a patch is text: pods may request something else than the answer'],
            id="an unknown part"),
        pytest.param({"patch": {"spec": {}}},
            ["spec.groups[0].patch: a patch is text: pods may request something else than the answer"],
            id="an unknown part with parts of its own"),
    ],
)  # fmt: skip
def test_warnings_about_requests_that_cannot_be_known(define: Define, more: dict[str, Any], notes: list[str]) -> None:
    unread = "- {unknown: '.spec.groups[].patch', reason: a patch is text}"
    facts = warnings_about(define(annotations={"unread": unread}), train({**HOT, **more}))
    assert [fact.note for fact in facts] == notes
    assert {fact.rule for fact in facts} <= {"requests-unknown"}


def test_unreadable_count_ends_its_warnings(define: Define) -> None:
    obj = train({"name": "", "template": pods()}, HOT, phase="Ready")
    broken = define(scaleDefinition={"replicasPath": '.spec.groups[] | error("no")'})

    assert [fact.rule for fact in warnings_about(broken, obj)] == ["phase-unmapped"]
