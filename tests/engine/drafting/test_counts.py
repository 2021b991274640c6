"""Counts of drafts: numbers, products, bounds next to a number, and one less beside another template."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence

Thing = dict[str, Any]


def _template(name: str) -> Thing:
    return {"spec": {"containers": [{"name": name, "image": name}]}}


def _shown(number: int, spec: Thing, **pods: int) -> Evidence:
    obj = {"apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": f"crew-{number}"}, "spec": spec}
    listed = [
        {"kind": "Pod", "metadata": {"name": f"crew-{number}-{name}-{index}"}, **_template(name)}
        for name, total in pods.items()
        for index in range(total)
    ]
    return Evidence(obj, tuple(listed), now=2e9)


def _crews(*crews: tuple[Thing, int]) -> list[Evidence]:
    return [
        _shown(number, {**spec, "template": _template("main")}, main=pods) for number, (spec, pods) in enumerate(crews)
    ]


def _counts(shown: list[Evidence]) -> list[dict[str, int]]:
    definition = load_definition(draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).karta)
    return [
        {
            each.template["spec"]["containers"][0]["name"]: each.replicas
            for each in pod_sets(definition, evidence.object)
        }
        for evidence in shown
    ]


@pytest.mark.parametrize(
    "crews",
    [
        pytest.param(
            [({"parallelism": 3}, 3), ({"parallelism": 5, "completions": 2}, 2), ({"parallelism": 4}, 4)],
            id="the smaller one of two numbers",
        ),
        pytest.param(
            [({"replicas": 3}, 3), ({"replicas": 1, "minReplicas": 2}, 2), ({"replicas": 4}, 4)],
            id="the larger one of two numbers",
        ),
        pytest.param([({"replicas": 3}, 3), ({}, 0), ({"replicas": 4}, 4)], id="nothing without a number"),
        pytest.param(
            [({"replicas": 3}, 3), ({"replicas": 2, "stopped": True}, 0), ({"replicas": 4, "stopped": False}, 4)],
            id="nothing after a switch",
        ),
        pytest.param([({"ovens": 3, "shifts": 2}, 6), ({"ovens": 5, "shifts": 7}, 35)], id="unlikely names multiplied"),
    ],
)
def test_count_is_of_numbers_that_equal_the_pods_of_every_object(crews: list[tuple[Thing, int]]) -> None:
    assert _counts(_crews(*crews)) == [{"main": pods} for _, pods in crews]


def test_count_that_another_template_lessens_by_one_is_less() -> None:
    leader, worker = {"leader": _template("leader")}, {"worker": _template("worker")}
    shown = [
        _shown(1, {"replicas": 2, "size": 3, **worker}, worker=6),
        _shown(2, {"replicas": 3, "size": 2, **worker, **leader}, leader=3, worker=3),
        _shown(3, {"replicas": 1, "size": 4, **worker}, worker=4),
    ]

    assert _counts(shown) == [{"worker": 6}, {"leader": 3, "worker": 3}, {"worker": 4}]


def test_bound_that_counts_has_a_check() -> None:
    shown = _crews(({"parallelism": 3}, 3), ({"parallelism": 5, "completions": 2}, 2))

    notes = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).notes

    assert any(path[-1] == "scaleDefinition" and "Do all of its fields count?" in note for path, note in notes)


def test_pods_of_no_template_have_a_check_if_another_object_makes_them() -> None:
    shown = _crews(({"replicas": 2}, 2), ({"replicas": 3}, 3))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "other", "uid": "other"}}
    reference = [{"uid": "other", "controller": True, "kind": "ReplicaSet", "apiVersion": "apps/v1"}]
    other = {**_template("elsewhere"), "kind": "Pod", "metadata": {"name": "other-1", "ownerReferences": reference}}
    lacking = _shown(4, {"workloadRef": {"name": "other"}})
    shown.append(Evidence(lacking.object, (other,), (owner,), now=2e9))

    notes = [note for _, note in draft_from(CustomKind("crd", GVK.of(lacking.object), {}), shown).notes]

    assert any(note.startswith("CHECK: InterpretReplica: 2 of 3 objects agree. pods of a ReplicaSet") for note in notes)


def test_label_with_id_of_instance_in_lower_case_selects() -> None:
    shown = []
    for number, roles in enumerate(({"Worker": 3, "Master": 1}, {"Worker": 2})):
        spec = {"roles": [{"name": role, "replicas": pods, "pod": _template("main")} for role, pods in roles.items()]}
        evidence = _shown(number, spec)
        pods = tuple(
            {
                "kind": "Pod",
                "metadata": {"name": f"{role}-{index}", "labels": {"role": role.lower()}},
                **_template("main"),
            }
            for role, total in roles.items()
            for index in range(total)
        )
        shown.append(Evidence(evidence.object, pods, now=2e9))

    (child,) = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).karta["spec"]["structureDefinition"][
        "childComponents"
    ]

    assert child["instanceIdPath"] == ".spec.roles[].name | ascii_downcase"
    assert child["podSelector"] == {"componentInstanceSelector": {"idPath": '.metadata.labels["role"]'}}
    assert child["scaleDefinition"] == {"replicasPath": ".spec.roles[] | .replicas // 1"}
