"""Counts of drafts: numbers and products of counts, and the doubts about them."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence
from tests.support.rows import rows

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


@rows(
    "crews",
    [
        pytest.param([({"replicas": 3}, 3), ({}, 0), ({"replicas": 4}, 4)], id="nothing without a number"),
        pytest.param([({"size": 3, "hosts": 2}, 6), ({"size": 5, "hosts": 7}, 35)], id="counts of one part multiplied"),
        pytest.param(
            [({"replicas": 2, "group": {"size": 3}}, 2), ({"replicas": 3, "group": {"size": 1}}, 3)],
            id="no count of another part",
        ),
    ],
)
def test_count_is_of_numbers_that_equal_the_pods_of_every_object(crews: list[tuple[Thing, int]]) -> None:
    assert _counts(_crews(*crews)) == [{"main": pods} for _, pods in crews]


def _notes_of_counts(*crews: tuple[Thing, int]) -> str:
    shown = _crews(*crews)
    notes = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).notes
    return " ".join(note for path, note in notes if path[-1] == "scaleDefinition")


_SURE = [({"replicas": number}, number) for number in (1, 2, 3, 5)]


@rows(
    ("crews", "note"),
    [
        pytest.param(_SURE, "4 of 4 objects agree: the number of pods.", id="right for each object without it"),
        pytest.param(_SURE[1:], "CHECK: 3 of 3 objects agree: the number of pods. Fewer than 4", id="three objects"),
        pytest.param(
            [({"replicas": 7, "size": 1}, 1), *(({"replicas": each, "size": each}, each) for each in (2, 3, 5))],
            "Chosen without an object, the count is right for 3 of them.",
            id="the object that decides between two numbers is not one that confirms it",
        ),
        pytest.param(
            [({**spec, "shards": pods}, pods) for spec, pods in _SURE],
            "Or which number is it? As many: .spec.shards.",
            id="two numbers explain the pods",
        ),
        pytest.param(
            [({"ovens": 2, "shifts": 3}, 6), ({"ovens": 1, "shifts": 2}, 2), ({"ovens": 1, "shifts": 5}, 5)],
            "CHECK: 2 of 3 objects agree: the number of pods. What is the count of the others?",
            id="numbers that are not called counts are not multiplied",
        ),
        pytest.param(
            [({**spec, "enabled": True}, pods) for spec, pods in _SURE],
            "Is there none with .spec.enabled: false?",
            id="a switch beside a count",
        ),
        pytest.param([({"replicas": 3}, 3)] * 4, "All have 3, which other numbers may be", id="always the same number"),
    ],
)
def test_doubt_about_count_is_named(crews: list[tuple[Thing, int]], note: str) -> None:
    assert note in _notes_of_counts(*crews)


def test_pods_of_no_template_have_a_check_if_another_object_makes_them() -> None:
    shown = _crews(({"replicas": 2}, 2), ({"replicas": 3}, 3))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "other", "uid": "other"}}
    reference = [{"uid": "other", "controller": True, "kind": "ReplicaSet", "apiVersion": "apps/v1"}]
    other = {**_template("elsewhere"), "kind": "Pod", "metadata": {"name": "other-1", "ownerReferences": reference}}
    lacking = _shown(4, {"workloadRef": {"name": "other"}})
    shown.append(Evidence(lacking.object, (other,), (owner,), now=2e9))

    notes = [note for _, note in draft_from(CustomKind("crd", GVK.of(lacking.object), {}), shown).notes]

    assert any(note.startswith("CHECK: InterpretReplica: 2 of 3 objects agree. pods belong to no") for note in notes)


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
