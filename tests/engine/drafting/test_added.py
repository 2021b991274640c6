"""Containers that an operator adds: to all pods, and to those of objects that a field tells."""

from typing import Any

import pytest
import yaml

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence

Thing = dict[str, Any]


def _container(name: str, cpu: str) -> Thing:
    return {"name": name, "image": name, "resources": {"requests": {"cpu": cpu}}}


def _shown(name: str, spec: Thing, *added: Thing) -> Evidence:
    template = {"spec": {"containers": [_container("main", "1")]}}
    obj = {"apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": name}}
    pod = {"spec": {"containers": [*template["spec"]["containers"], *added]}}
    pods = tuple({"kind": "Pod", "metadata": {"name": f"{name}-{number}"}, **pod} for number in range(spec["replicas"]))
    return Evidence({**obj, "spec": {**spec, "template": template}}, pods, now=2e9)


def _drafted(*shown: Evidence) -> tuple[str, list[int]]:
    """Return the text of the annotation, and the CPU of a pod of each object by the draft."""
    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown)
    definition = load_definition(drafted.karta)
    pods = [pod_sets(definition, evidence.object)[0] for evidence in shown]
    requests = [pod_requirements(each.template, Counting.SCHEDULER).resource_request["cpu"] for each in pods]
    return drafted.karta["metadata"].get("annotations", {}).get("karta-interpreter.io/added-containers", ""), requests


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        pytest.param(({"scaling": True}, {"scaling": False}), ".spec.scaling", id="a switch"),
        pytest.param(({"proxy": {"port": 1}}, {}), ".spec.proxy", id="a section"),
        pytest.param(({"mode": "sidecar"}, {"mode": "none"}), '.spec.mode == "sidecar"', id="a text"),
    ],
)
def test_container_of_some_objects_has_the_field_that_tells_them(fields: tuple[Thing, Thing], condition: str) -> None:
    having, lacking = fields
    text, requests = _drafted(
        _shown("a", {"replicas": 2, **having}, _container("scaler", "500m")),
        _shown("b", {"replicas": 3, **lacking}),
        _shown("c", {"replicas": 4, **having}, _container("scaler", "500m")),
    )

    assert f"(if {condition} then " in yaml.safe_load(text)["crew"]
    assert requests == [1500, 1000, 1500]


def test_container_of_all_objects_has_no_condition() -> None:
    text, requests = _drafted(
        _shown("a", {"replicas": 2}, _container("it's", "100m")),
        _shown("b", {"replicas": 3}, _container("it's", "100m")),
    )

    assert "if " not in text
    assert requests == [1100, 1100]


def test_requests_of_container_come_from_the_field_that_has_them_and_else_are_the_usual_ones() -> None:
    options = {"scaler": {"resources": {"requests": {"cpu": "2"}}}}
    text, requests = _drafted(
        _shown("a", {"replicas": 2, "scaling": True}, _container("scaler", "500m")),
        _shown("b", {"replicas": 3, "scaling": True, **options}, _container("scaler", "2")),
        _shown("c", {"replicas": 4}),
    )

    assert '(.spec.scaler.resources // {requests: {"cpu": "500m"}})' in text
    assert requests == [1500, 3000, 1000]


def test_container_that_no_field_tells_is_left_to_a_check() -> None:
    shown = [
        _shown("a", {"replicas": 2}, _container("scaler", "500m")),
        _shown("b", {"replicas": 2}),
        _shown("c", {"replicas": 3}),
    ]

    assert _drafted(*shown) == ("", [1000, 1000, 1000])
    notes = [note for _, note in draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).notes]
    assert any(note.startswith("CHECK: requirements: 2 of 3 objects agree. container scaler") for note in notes)


def _roles(name: str, **roles: int) -> Evidence:
    """Return a crew whose operator adds a container to its workers if they have a boss."""
    template = {"spec": {"containers": [_container("main", "1")]}}
    spec = {"roles": {role: {"replicas": number, "template": template} for role, number in roles.items()}}
    obj = {"apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": name}, "spec": spec}
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"{name}-{role}-{index}", "labels": {"role": role}},
            "spec": {"containers": [_container("main", "1"), *([_container("wait", "50m")] if waits else [])]},
        }
        for role, number in roles.items()
        for waits in (role == "worker" and "boss" in roles,)
        for index in range(number)
    ]
    return Evidence(obj, tuple(pods), now=2e9)


def test_container_of_one_instance_has_its_id_and_the_field_that_tells_the_object() -> None:
    crd = {"additionalProperties": {"properties": {"replicas": {"type": "integer"}, "template": {"type": "object"}}}}
    schema = {"properties": {"spec": {"properties": {"roles": {"type": "object", **crd}}}}}
    shown = [_roles("a", worker=3, boss=1), _roles("b", worker=2), _roles("c", worker=4, boss=2)]

    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), schema), shown)

    text = drafted.karta["metadata"]["annotations"]["karta-interpreter.io/added-containers"]
    assert '(if $id == "worker" and .spec.roles.boss then ' in text
    definition = load_definition(drafted.karta)
    requests = [
        {
            each.instance: (each.replicas, pod_requirements(each.template, Counting.SCHEDULER).resource_request["cpu"])
            for each in pod_sets(definition, evidence.object)
        }
        for evidence in shown
    ]
    assert requests == [
        {"boss": (1, 1000), "worker": (3, 1050)},
        {"worker": (2, 1000)},
        {"boss": (2, 1000), "worker": (4, 1050)},
    ]
