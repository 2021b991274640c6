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
