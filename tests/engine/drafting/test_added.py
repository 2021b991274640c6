"""Containers that an operator adds to all pods, or to the pods of objects with a certain field."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting.drafting import draft_from
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


def test_container_of_all_pods_is_added() -> None:
    text, requests = _drafted(
        _shown("a", {"replicas": 2}, _container("it's", "100m")),
        _shown("b", {"replicas": 3}, _container("it's", "100m")),
    )

    assert "it''s" in text
    assert requests == [1100, 1100]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        pytest.param([], "a webhook of the member may add it to some pods", id="pods of one object alone have it"),
        pytest.param([_container("scaler", "2")], "its requests are not those of the others", id="with other requests"),
    ],
)
def test_container_that_is_not_the_same_everywhere_is_left_to_a_check(others: list[Thing], reason: str) -> None:
    shown = [_shown("a", {"replicas": 2}, _container("scaler", "1")), _shown("b", {"replicas": 3}, *others)]

    text, _ = _drafted(*shown)
    notes = [note for _, note in draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).notes]

    assert not text, reason
    assert any(note.startswith("CHECK: requirements:") for note in notes)


def test_container_of_injector_is_left_out() -> None:
    shown = [_shown(name, {"replicas": 2}, _container("istio-proxy", "100m")) for name in ("a", "b")]
    for pod in (pod for each in shown for pod in each.pods):
        pod["metadata"]["annotations"] = {"sidecar.istio.io/status": "{}"}

    assert _drafted(*shown) == ("", [1000, 1000])
