from typing import Any

import pytest

from interpreter.k8s import edit
from interpreter.k8s.gvk import GVK
from interpreter.karta.definition import Definition, Fragments, PodSpec, PodTemplate
from interpreter.karta.loading import load_definition
from interpreter.karta.status_rules import Status

Raw = dict[str, Any]

STRUCTURE = ("spec", "structureDefinition")
ROOT = (*STRUCTURE, "rootComponent")


def test_components_the_root_first(compiled: dict[str, Definition]) -> None:
    definition = compiled["orchestra"]
    root, conductor, section = definition.components
    assert definition.gvk == root.gvk == GVK("toys.example.com", "v1", "Orchestra")
    assert definition.root is root
    assert (root.owner, conductor.owner) == (None, "orchestra")
    assert (root.pods, root.instance_ids, root.replicas) == (None, None, None)
    assert isinstance(conductor.pods, PodSpec)
    assert conductor.pods.metadata is not None
    assert isinstance(section.pods, PodTemplate)
    assert definition.component("section") is section
    assert definition.component("brass") is None


def test_pieces_are_named_as_in_the_schema(compiled: dict[str, Definition]) -> None:
    pods = compiled["harbor"].components[1].pods
    assert isinstance(pods, Fragments)
    assert dict(pods.queries)["imagePath"].text == ".spec.docks[].image"
    assert len(pods.queries) == 11


def test_status_rules_are_in_matching_order(compiled: dict[str, Definition]) -> None:
    rules = compiled["brew"].status
    assert rules is not None
    assert [status for status, _ in rules.mappings] == [Status.RUNNING, Status.FAILED, Status.DEGRADED]


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("0", 0), ('"Suspended"', "Suspended"), ("null", None), (True, True), (None, None), (2, 2)],
)
def test_suspend_values(brew: Raw, written: Any, value: Any) -> None:
    at = (*ROOT, "suspendDefinition", "suspendActions", 0, "value")
    (action,) = load_definition(edit.set_value(brew, at, written)).suspend
    assert action.value == value
    assert type(action.value) is type(value)
    assert action.path.text == ".spec.pause"


def test_children_suspend_before_the_root(orchestra: Raw) -> None:
    def actions(path: str) -> Raw:
        action = {"path": path, "value": "true"}
        return {"suspendActions": [action], "resumeActions": [action]}

    raw = edit.set_value(orchestra, (*ROOT, "suspendDefinition"), actions(".spec.a"))
    for index, path in enumerate((".spec.b", ".spec.c")):
        raw = edit.set_value(raw, (*STRUCTURE, "childComponents", index, "suspendDefinition"), actions(path))
    assert [action.path.text for action in load_definition(raw).suspend] == [".spec.b", ".spec.c", ".spec.a"]


@pytest.mark.parametrize(
    ("path", "bounded"), [(".spec.kettles // 1", False), ("reduce .spec.k[] as $k (0; . + $k)", True)]
)
def test_whether_something_runs_elsewhere(brew: Raw, path: str, *, bounded: bool) -> None:
    raw = edit.set_value(brew, (*ROOT, "scaleDefinition", "replicasPath"), path)
    assert load_definition(raw).uses_bounded is bounded


def test_definitions_cannot_be_changed(compiled: dict[str, Definition]) -> None:
    with pytest.raises(AttributeError):
        compiled["brew"].name = "other"  # type: ignore[misc]  # that is the point
