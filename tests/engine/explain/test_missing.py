"""Warnings: paths that match nothing; and where nothing is wrong, none."""

from functools import partial
from typing import Any

import pytest

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import GVK, edit, values
from karta_interpreter.definitions.karta import Known, resolved
from karta_interpreter.definitions.sources import find_in_catalogue
from karta_interpreter.engine.explain import explain, warnings_about
from karta_interpreter.engine.operations import Call, Operation
from tests.engine.explain.conftest import Define, pods, train
from tests.support.counting import calls
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
            train(HOT, {"name": "ml", "replicas": 2}),
            [
                (
                    "ml: count 2, but no pods at spec.groups[1].template; "
                    "if the operator makes them, write podTemplateSpecPath: … // {spec: {}}"
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


@rows(("least", "most", "count"), [(1, 5, 0), (5, 5, 0), (6, 5, 1), (6, None, 0)])
def test_warning_about_a_least_number_above_the_most(define: Define, least: int, most: int, count: int) -> None:
    paths = {"minReplicasPath": ".spec.groups[] | .min", "maxReplicasPath": ".spec.groups[] | .max"}
    facts = warnings_about(define(scaleDefinition=paths), train(HOT | {"min": least, "max": most}))
    assert [fact.rule for fact in facts] == ["least-above-most"] * count
    assert all("of pods, 6, is greater than the most, 5" in fact.note for fact in facts)


@rows(
    ("group", "notes"),
    [
        pytest.param({"replicas": 3}, [], id="within its limits"),
        pytest.param(
            {"replicas": 9},
            ["group: 9 at spec.groups[0].replicas, at least 1, at most 5, so its count is 5"],
            id="above its limit",
        ),
        pytest.param(
            {"replicas": -2},
            ["group: -2 at spec.groups[0].replicas, at least 1, at most 5, so its count is 1"],
            id="below 0",
        ),
        pytest.param({"replicas": 0}, [], id="scaled to 0"),
        pytest.param({"replicas": 3, "roleReplicas": 0}, [], id="a role that is scaled to 0"),
        pytest.param(
            {"replicas": 3, "hosts": 0}, ["group: spec.groups[0].hosts is 0, so its count is 0"], id="times 0"
        ),
        pytest.param(
            {"replicas": 3, "least": 4},
            ["hot: the least number of pods, 4, is greater than its count, 3"],
            id="below the least number",
        ),
        pytest.param(
            {"replicas": 3, "slots": "two"},
            ['group: no count can be read, but spec.groups[0].slots is "two": write a number from 1'],
            id="a text that is no number",
        ),
    ],
)
def test_warnings_about_counts_that_are_not_those_of_the_object(
    define: Define, group: dict[str, Any], notes: list[str]
) -> None:
    count = "([[.replicas, 1] | max, 5] | min) * (.hosts // 1) * (.roleReplicas // 1) * (.slots // 1 | tonumber)"
    paths = {"replicasPath": f".spec.groups[] | {count}", "minReplicasPath": ".spec.groups[] | .least"}

    found = warnings_about(define(scaleDefinition=paths), train(HOT | group))

    assert [fact.note for fact in found] == notes


def test_annotation_of_a_karta_has_no_effect_on_a_workload(define: Define) -> None:
    names = {"karta-interpreter.io/elastic": "group", "karta-interpreter.io/pods-to-delete": "[]", "a.io/b": ""}
    (warning,) = warnings_about(define(), edit.set_value(train(HOT), ("metadata", "annotations"), names))
    assert warning.note.startswith("karta-interpreter.io/elastic belongs in metadata.annotations of the Karta")


@pytest.mark.parametrize(("hosts", "count"), [(4, 1), (1, 0)])
def test_number_beside_a_template_that_no_count_reads_may_be_a_factor(define: Define, hosts: int, count: int) -> None:
    notes = [warning.note for warning in warnings_about(define(), train(HOT | {"hosts": hosts}))]
    message = "group: nothing reads spec.groups[0].hosts, which is 4: if each replica has so many pods, multiply"
    assert [note.startswith(message) for note in notes] == [True] * count


@rows(
    ("text", "metadata", "hint"),
    [
        pytest.param(
            '.spec.groups[] | .template.metadata.annotations["example.io/size"] // "4" | tonumber',
            {"annotations": {"example.io/size": "3"}},
            'metadata.annotations["example.io/size"]',
            id="an annotation of the object in place of its pods",
        ),
        pytest.param(
            '.spec.groups[] | .replicas // (.labels["a.slots"] // 4)',
            {},
            'spec.groups[0].labels["A.slots"]',
            id="a key of a map in other letters, behind another default",
        ),
    ],
)
def test_warning_about_a_count_that_a_default_hides(
    define: Define, text: str, metadata: dict[str, Any], hint: str
) -> None:
    obj = train({"name": "hot", "template": pods(), "labels": {"A.slots": 2}}) | {"metadata": {"name": "a", **metadata}}

    found = [fact.note for fact in warnings_about(define(scaleDefinition={"replicasPath": text}), obj)]

    assert [note.rpartition("; the object has ")[2] for note in found] == [f"{hint}: a typo?"] * bool(hint)


def test_memory_in_thousandths_of_a_byte_has_another_unit(define: Define) -> None:
    obj = train({"name": "hot", "template": pods(resources={"limits": {"memory": "512m"}})})

    (warning,) = warnings_about(define(), obj)

    assert warning.note == "group: memory is 512 thousandths of a byte, which is too little: is 512Mi meant?"


def test_warning_about_memory_with_thousandths_of_a_byte(define: Define) -> None:
    obj = train(HOT | {"template": pods(resources={"requests": {"memory": "2147483648512m"}})})

    (warning,) = warnings_about(define(), obj)

    assert warning.note == "group: memory is 2147483648512m, with thousandths of a byte (m): is Mi meant?"


def test_memory_of_a_number_gets_its_unit_in_the_definition(define: Define) -> None:
    text = '.spec.groups[] | {containers: [{name: "a", resources: {requests: {memory: .memoryGb}}}]}'
    definition = define(specDefinition={"podSpecPath": text})

    (warning,) = warnings_about(definition, train({"name": "hot", "memoryGb": 32}))

    assert warning.note == (
        "group: memory is 32 bytes, from .spec.groups[].memoryGb: "
        'write memory: "\\(.spec.groups[].memoryGb)Gi" in the definition'
    )


@rows("count", [(5, True), (1, False)])
def test_count_beside_pods_without_scale_definition(define: Define, count: tuple[int, bool]) -> None:
    obj = train({"name": "hot", "replicas": count[0], "template": pods()})

    found = [fact.note for fact in warnings_about(define(scaleDefinition=None), obj)]

    assert any("write scaleDefinition: {replicasPath: .spec.groups[].replicas}" in note for note in found) is count[1]


@rows(
    ("status", "notes"),
    [
        pytest.param({"phase": "ready"}, [], id="a phase that is mapped"),
        pytest.param({}, [], id="no status yet"),
        pytest.param(
            {"phase": "Ready"},
            ['phase "Ready" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase in other letters",
        ),
        pytest.param(
            {"phase": "Hibernating"},
            ['phase "Hibernating" from .status.phase fits no mapping; there are ready, Stalled'],
            id="a phase of another release",
        ),
        pytest.param(
            {"phase": "Hibernating", "conditions": [{"type": "Ready", "status": "True"}]},
            [],
            id="a phase that nothing depends on, as a condition matches",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "state": "True"}, {"type": "Stalled"}]},
            ["no condition has status"],
            id="conditions whose status is another field",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "status": True}, {"type": "Old", "status": "False"}]},
            [
                (
                    "status.conditions[0].status: must be a string, not a boolean (as the definition reads it): "
                    "write it in quotes"
                )
            ],
            id="a condition whose status is no text",
        ),
        pytest.param(
            {"phase": "ready", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Stalled"}]},
            [],
            id="one condition without a status",
        ),
        pytest.param(
            {"conditions": [{"type": "Readyy", "status": "True"}]},
            ["condition Ready is not there; did you mean Readyy?"],
            id="a condition that is spelled in another way",
        ),
        pytest.param(
            {"phas": "ready"},
            ["nothing at status.phase; the object has status.phas: a typo?"],
            id="a phase in another field",
        ),
    ],
)
def test_warnings_about_the_status(define: Define, status: dict[str, Any], notes: list[str]) -> None:
    assert [fact.note for fact in warnings_about(define(), train(HOT, **status))] == notes


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
        pytest.param({"tool": "x"}, [], id="a part that matters nothing"),
    ],
)
def test_warnings_about_requests_that_cannot_be_known(define: Define, more: dict[str, Any], notes: list[str]) -> None:
    unread = (
        "- {unknown: '.spec.groups[].patch', reason: a patch is text}\n- {omit: '.spec.groups[].tool', reason: a tool}"
    )
    facts = warnings_about(define(annotations={"unread": unread}), train({**HOT, **more}))
    assert [fact.note for fact in facts] == notes
    assert {fact.rule for fact in facts} <= {"requests-unknown"}


@rows(
    ("path", "count"),
    [
        pytest.param(".spec.groups[].template", 0, id="templates"),
        pytest.param(".spec.groups[].template | {metadata: {}}", 0, id="a part without a pod"),
        pytest.param(".spec.groups[].template.spec", 1, id="specs of pods: one warning for all"),
    ],
)
def test_warnings_about_pods_of_dependencies_name_bare_specs(define: Define, path: str, count: int) -> None:
    facts = warnings_about(define(annotations={"dependencies": f"- pods: '{path}'"}), train(HOT, HOT))
    assert [fact.rule for fact in facts] == ["dependency-not-found"] * count
    assert all("write {spec: …} around the spec of a pod" in fact.note for fact in facts)


@rows(
    ("owner", "notes"),
    [
        pytest.param("ann-key", [], id="a name"),
        pytest.param(
            "{{user}}-key", ["Secret {{user}}-key is left out: no object can have this name"], id="a parameter"
        ),
        pytest.param("{{step.a.claim}}", [], id="what the member knows"),
    ],
)
def test_warnings_about_names_that_no_object_can_have(define: Define, owner: str, notes: list[str]) -> None:
    dependencies = """[{apiVersion: v1, kind: Secret, name: .spec.owner}, {parameters: '{step: ""}'}]"""

    facts = warnings_about(define(annotations={"dependencies": dependencies}), {"spec": {"owner": owner}})

    assert [fact.note for fact in facts if fact.rule == "dependency-left-out"] == notes


@rows(
    ("path", "hints"),
    [
        pytest.param(".spec.groups[].tempalte", [], id="a field that another expression reads"),
        pytest.param(".spec.owenr", ["the object has spec.owner: a typo?"], id="a field that none reads"),
        pytest.param(".spec | .owenr, .owner", [], id="an alternative"),
    ],
)
def test_warnings_about_names_leave_out_alternatives_of_the_definition(
    define: Define, path: str, hints: list[str]
) -> None:
    dependencies = f"- {{apiVersion: v1, kind: Secret, name: '{path}'}}"
    obj = {"spec": {"groups": [HOT], "owner": "a"}}

    facts = warnings_about(define(annotations={"dependencies": dependencies}), obj)

    assert [fact.note.partition("; ")[2] for fact in facts if fact.rule == "dependency-not-found"] == hints


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


def test_operation_has_its_own_warnings(define: Define) -> None:
    obj = train({"name": "ml", "replicas": 2}, HOT, phase="Ready")

    rules = {
        operation: [fact.rule for fact in explain(define(), Call(operation, obj, obj, 4, (), ())).warnings]
        for operation in Operation
    }

    assert {operation: found for operation, found in rules.items() if found} == {
        Operation.INTERPRET_REPLICA: ["count-without-pods"],
        Operation.INTERPRET_COMPONENT: ["count-without-pods"],
        Operation.REVISE_REPLICA: ["count-without-pods"],
        Operation.REVISE_COMPONENTS: ["count-without-pods"],
        Operation.INTERPRET_DEPENDENCY: ["count-without-pods"],
        Operation.INTERPRET_HEALTH: ["phase-unmapped"],
    }


def test_unreadable_count_ends_its_warnings(define: Define) -> None:
    obj = train({"name": "", "template": pods()}, HOT, phase="Ready")
    broken = define(scaleDefinition={"replicasPath": '.spec.groups[] | error("no")'})

    assert [fact.rule for fact in warnings_about(broken, obj)] == ["phase-unmapped"]


@pytest.mark.parametrize(
    ("group", "element"),
    [
        pytest.param({}, {"count": 3, "template": pods()}, id="a count by another name"),
        pytest.param({}, {"pool": {"size": 3}, "template": pods()}, id="a count elsewhere"),
        pytest.param({"scaleDefinition": None}, {"size": 3, "template": pods()}, id="a count that nothing reads"),
        pytest.param({}, {"replicas": 1, "pod": pods()}, id="containers that nothing reads"),
        pytest.param({}, HOT | {"template": pods(resources={"requests": {"memory": 64}})}, id="memory without a unit"),
    ],
)
def test_work_grows_linearly_with_the_elements(
    define: Define, group: dict[str, Any], element: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the parts times another would be a product: an object may have thousands of each."""
    monkeypatch.setattr(values, "_LONGEST", 0)  # what is remembered of one size would be no work for another one
    definition = define(**group)
    _, some, more, most = (  # the first one compiles expressions
        calls(partial(warnings_about, definition, train(*(element | {"name": f"{index}"} for index in range(size)))))
        for size in (8, 8, 16, 48)
    )
    assert most - more <= 4.4 * (more - some)  # 4 if it is linear, 10 if it is quadratic
