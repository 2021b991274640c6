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
        pytest.param(
            {},
            train({"name": "off", "replicas": 0}),
            ["no component has pods in this object (group: spec.groups[0].template)"],
            id="an object whose only group has none",
        ),
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
        pytest.param(
            {"specDefinition": {"podTemplateSpecPath": ".spec.groups[].templte"}},
            train({"name": "hot", "template": pods()}),
            ["group: no pods at spec.groups[0].templte; the object has spec.groups[0].template: a typo?"],
            id="a typo in the last step of a template",
        ),
        pytest.param(
            {
                "instanceIdPath": ".spec.group[].name",
                "specDefinition": {"podTemplateSpecPath": ".spec.group[].template"},
            },
            train(HOT),
            ["group: no pods at spec.group; the object has spec.groups: a typo?"],
            id="a typo in the list, of which no element is found",
        ),
        pytest.param(
            {},
            {**train(), "spec": {"groups": {"hot": HOT}}},
            ["spec.groups: must be a list, not an object (as the definition reads it): write `- ` in place of `hot:`"],
            id="an object in place of a list",
        ),
        pytest.param(
            {"instanceIdPath": ".spec.groups | keys[]"},
            {**train(), "spec": {"groups": {"hot": HOT}}},
            [],
            id="an object with ids as its keys",
        ),
        pytest.param(
            {},
            {**{key: value for key, value in train().items() if key != "spec"}, "groups": [HOT]},
            ["group: no pods at spec.groups; the object has groups: a typo?"],
            id="a list beside the spec instead of in it",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[] | (.replicas // 1) * (.each.size // 1)"}},
            train({**HOT, "each": {}, "size": 4}),
            [
                (
                    "group: no count at spec.groups[0].each.size, so a default makes it 2; "
                    "the object has spec.groups[0].size: a typo?"
                )
            ],
            id="a factor of the count one level too high",
        ),
        pytest.param(
            {"specDefinition": {"podTemplateSpecPath": ".spec.groups[].pods"}},
            train({"name": "hot", "template": pods()}),
            ["group: no pods at spec.groups[0].pods; nothing reads the containers at spec.groups[0].template.spec"],
            id="an instance that has no field like it",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[] | .workers.replicas // 1"}},
            train({"name": "hot", "template": pods(), "pool": {"replicas": 3}}),
            [
                (
                    "group: no count at spec.groups[0].workers.replicas, so a default makes it 1; "
                    "is it spec.groups[0].pool.replicas, which is 3?"
                )
            ],
            id="a count of the same name elsewhere",
        ),
        pytest.param(
            {},
            train(),
            ["no component has pods in this object (group: spec.groups)"],
            id="an object without any pods",
        ),
        pytest.param(
            {},
            train({"name": "hot", "template": {"containers": [{"name": "main"}]}}),
            [
                (
                    "spec.groups[0].template.containers: there is no such field (Kubernetes 1.34): "
                    "is it spec.groups[0].template.spec.containers?"
                ),
                "group: spec.groups[0].template has no spec, so it is not a pod template; there are containers",
                "group: no pods at spec.groups[0].template; nothing reads the containers at spec.groups[0].template",
            ],
            id="a pod spec in the place of a template",
        ),
        pytest.param(
            {},
            train({"name": "hot", "template": {"spec": {"image": "main"}}}),
            [
                (
                    "spec.groups[0].template.spec.image: there is no such field (Kubernetes 1.34): "
                    "is it spec.groups[0].template.spec.containers[].image or "
                    "spec.groups[0].template.spec.initContainers[].image?"
                ),
                "group: spec.groups[0].template has no containers; there are image",
            ],
            id="a template whose spec is none of a pod",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[] | .replcias // 1"}},
            train(HOT),
            [
                (
                    "group: no count at spec.groups[0].replcias, so a default makes it 1; "
                    "the object has spec.groups[0].replicas: a typo?"
                )
            ],
            id="a typo in a count, hidden by its default",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[] | .replicas // 1"}},
            train({"name": "hot", "count": 3, "template": pods()}),
            [
                (
                    "group: no count at spec.groups[0].replicas, so a default makes it 1; "
                    "is it spec.groups[0].count, which is 3?"
                )
            ],
            id="a count by another name",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[] | (.replicas // 1) * (.size // 1)"}},
            train({**HOT, "workers": 3}),
            [
                (
                    "group: no count at spec.groups[0].size, so a default makes it 2; "
                    "is it spec.groups[0].workers, which is 3?"
                )
            ],
            id="a factor of the count by another name",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[].number"}},
            train({"name": "hot", "template": pods()}),
            ["group: no count at spec.groups[0].number, which means 1"],
            id="a count without a default that is nowhere",
        ),
        pytest.param(
            {"scaleDefinition": {"replicasPath": ".spec.groups[].number"}},
            train({"name": "hot", "template": pods()}, {"name": "cold", "number": 2, "template": pods()}),
            [],
            id="a count that one of the instances has",
        ),
    ],
)
def test_warnings_about_pods(define: Define, group: dict[str, Any], obj: dict[str, Any], notes: list[str]) -> None:
    found = warnings_about(define(**group), obj)

    assert [fact.note for fact in found] == notes
    places = [(fact.field, fact.expression) for fact in found if not fact.rule.startswith("field-")]
    assert all(field and expression for field, expression in places)
    assert all(fact.severity is Severity.WARNING for fact in found)


def test_object_that_names_none_of_the_objects_that_its_pods_come_from_is_told_so() -> None:
    entry = find_in_catalogue(GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"))
    assert entry
    obj = {**entry.definition.gvk.type_meta, "metadata": {"name": "bert"}, "spec": {"trainer": {"numNodes": 4}}}
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
    ("spec", "notes"),
    [
        pytest.param({}, [], id="all names differ"),
        pytest.param(
            {"containers": [{"name": "main"}, {"name": "side"}, {"name": "main"}]},
            ["containers[2]: a second container named main"],
            id="two containers",
        ),
        pytest.param(
            {"initContainers": [{"name": "main"}]},
            ["containers[0]: a second container named main"],
            id="an init container and a container",
        ),
        pytest.param({"containers": [{"image": "a"}, {"image": "b"}]}, [], id="no names at all"),
    ],
)
def test_containers_of_one_name_are_found(define: Define, spec: dict[str, Any], notes: list[str]) -> None:
    obj = train({"name": "hot", "template": {"spec": {**pods()["spec"], **spec}}})
    added = define(annotations={"added-containers": "group: '{containers: [{name: \"main\"}]}'"})

    for definition in (define(), added):
        found = [fact.note for fact in warnings_about(definition, obj) if fact.rule == "name-repeated"]
        assert found == [f"group: spec.groups[0].template.spec.{note}, which API servers reject" for note in notes]


def test_containers_that_a_definition_puts_together_may_have_one_name(define: Define) -> None:
    merged = ".spec.groups[] | {spec: {containers: (.template.spec.containers + .more)}}"
    obj = train({**HOT, "more": [{"name": "main"}]})

    found = warnings_about(define(specDefinition={"podTemplateSpecPath": merged}), obj)
    assert "name-repeated" not in [fact.rule for fact in found]


def test_memory_in_mebibytes_has_no_unit(define: Define) -> None:
    obj = train({"name": "hot", "template": pods(resources={"requests": {"memory": "8192"}})})

    (warning,) = warnings_about(define(), obj)

    assert warning.note == "group: memory is 8192 bytes, which is too little: is 8192Mi meant?"


@rows(
    ("name", "meant"),
    [
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvida.com/gpu", "nvidia.com/gpu"),
        ("google.com/tup", "google.com/tpu"),
        ("nvidia.com/gpu", ""),
        ("nvidia.com/gpu.shared", ""),
        ("nvidia.com/mig-1g.5gb", ""),
        ("example.com/gpu", ""),
        ("nvidia.com/gpumem", ""),
    ],
)
def test_warning_about_a_misspelt_device(define: Define, name: str, meant: str) -> None:
    group = HOT | {"template": pods(resources={"limits": {name: 1}})}

    notes = [fact.note for fact in warnings_about(define(), train(group))]

    expected = f"group: {name} is a resource of no known device plugin: is {meant} meant?"
    assert notes == ([expected] if meant else [])


@rows(
    ("resources", "found"),
    [
        pytest.param({"limits": {"nvidia.com/gpu": "1"}}, ["nvidia.com/gpu is in resources.limits"], id="a device"),
        pytest.param(
            {"requests": {"cpu": "2", "ephemeral-storage": "1Gi"}},
            ["ephemeral-storage is in resources.requests"],
            id="storage",
        ),
        pytest.param({"limits": {"cpu": "2", "memory": "4Gi", "hugepages-2Mi": "4Mi"}}, [], id="what a pod may have"),
    ],
)
def test_resource_of_containers_alone_is_none_of_a_whole_pod(
    define: Define, resources: dict[str, Any], found: list[str]
) -> None:
    template = pods()
    template["spec"]["resources"] = resources

    notes = [fact.note for fact in warnings_about(define(), train(HOT | {"template": template}))]

    may = "of the whole pod, which may have cpu, memory and hugepages only: write it in a container"
    assert notes == [f"group: {note} {may}" for note in found]


def test_memory_in_thousandths_of_a_byte_has_another_unit(define: Define) -> None:
    obj = train({"name": "hot", "template": pods(resources={"limits": {"memory": "512m"}})})

    (warning,) = warnings_about(define(), obj)

    assert warning.note == "group: memory is 512 thousandths of a byte, which is too little: is 512Mi meant?"


def test_warning_about_memory_with_thousandths_of_a_byte(define: Define) -> None:
    obj = train(HOT | {"template": pods(resources={"requests": {"memory": "2147483648512m"}})})

    (warning,) = warnings_about(define(), obj)

    assert warning.note == "group: memory is 2147483648512m, with thousandths of a byte (m): is Mi meant?"


@rows(
    ("more", "notes"),
    [
        pytest.param({}, [], id="nothing of it"),
        pytest.param({"patch": ""}, [], id="an empty text"),
        pytest.param({"patch": None}, [], id="null"),
        pytest.param(
            {"patch": "4Gi"},
            ['spec.groups[0].patch is "4Gi": a patch is text: pods may request something else than the answer'],
            id="an unknown part",
        ),
        pytest.param(
            {"patch": {"spec": {}}},
            ["spec.groups[0].patch: a patch is text: pods may request something else than the answer"],
            id="an unknown part with parts of its own",
        ),
    ],
)
def test_warnings_about_requests_that_cannot_be_known(define: Define, more: dict[str, Any], notes: list[str]) -> None:
    unread = "- {unknown: '.spec.groups[].patch', reason: a patch is text}"
    facts = warnings_about(define(annotations={"unread": unread}), train({**HOT, **more}))
    assert [fact.note for fact in facts] == notes
    assert {fact.rule for fact in facts} <= {"requests-unknown"}
