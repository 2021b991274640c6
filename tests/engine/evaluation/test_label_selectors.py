"""The LabelSelector of a component chooses the pods that its podSelector chooses, where labels can say it."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition, PodTemplate
from karta_interpreter.definitions.karta.model import PodSelector
from karta_interpreter.engine.evaluation import Selection, label_selector
from karta_interpreter.languages.jq import Query
from tests.support.rows import rows

PODS = PodTemplate(Query.compile(".spec.template"))
GVK_OF_FLEET = GVK("toys.example.com", "v1", "Fleet")


def selection(selector: dict[str, Any], instance: str = "", before: dict[str, Any] | None = None) -> Selection:
    """The selector of a component, behind another one."""
    selectors = {"boat": before, "ship": selector} if before is not None else {"ship": selector}
    components = [
        ComponentRules("fleet", name, owner="fleet", pods=PODS, selector=PodSelector.model_validate(each))
        for name, each in selectors.items()
    ]
    root = ComponentRules("fleet", "fleet", GVK_OF_FLEET)
    return label_selector(Definition("fleet", GVK_OF_FLEET, (root, *components)), components[-1], instance)


@rows(
    ("selector", "instance", "expected"),
    [
        pytest.param({"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": "ship"}}, "",
            {"matchLabels": {"role": "ship"}}, id="a label with a value"),
        pytest.param({"componentTypeSelector": {"keyPath": '.metadata.labels["a.b/role"]'}}, "",
            {"matchExpressions": [{"key": "a.b/role", "operator": "Exists"}]}, id="a label that exists"),
        pytest.param({"componentTypeSelector": {"matchLabels": {"app": "f", "part": "s"}}}, "",
            {"matchLabels": {"app": "f", "part": "s"}}, id="labels"),
        pytest.param({"componentTypeSelector": {"matchLabels": {"app": "f"}, "keyPath": ".metadata.labels.role"},
            "componentInstanceSelector": {"idPath": ".metadata.labels.name"}}, "lee",
            {"matchLabels": {"app": "f", "name": "lee"}, "matchExpressions": [{"key": "role", "operator": "Exists"}]},
            id="both, and the label of an instance"),
    ],
)  # fmt: skip
def test_selector_has_the_labels_of_the_pod_selector(
    selector: dict[str, Any], instance: str, expected: dict[str, Any]
) -> None:
    assert selection(selector, instance) == (expected, "")


@rows(
    ("selector", "instance", "reason"),
    [
        pytest.param({}, "", "ship has no componentTypeSelector", id="nothing"),
        pytest.param({"componentTypeSelector": {"keyPath": ".spec.containers[0].name", "value": "epp"}}, "",
            "keyPath .spec.containers[0].name of ship is not the path of a label", id="the name of a container"),
        pytest.param({"componentTypeSelector": {"keyPath": '.metadata.labels.app | select(. != "x")'}}, "",
            "is not the path of a label", id="a condition about a label"),
        pytest.param(
            {"componentTypeSelector": {"matchLabels": {"role": "a"}, "keyPath": ".metadata.labels.role", "value": "b"}},
            "",
            "asks for two values of the label role",
            id="no pod has both",
        ),
        pytest.param({"componentTypeSelector": {"matchLabels": {"role": "a"}}}, "lee", "idPath of ship is missing",
            id="no id"),
        pytest.param({"componentTypeSelector": {"matchLabels": {"role": "a"}},
            "componentInstanceSelector": {"idPath": ".metadata.name"}}, "lee",
            "idPath of ship .metadata.name is not the path of a label", id="an id in the name"),
    ],
)  # fmt: skip
def test_selector_is_absent_with_the_reason(selector: dict[str, Any], instance: str, reason: str) -> None:
    found = selection(selector, instance)
    assert found.selector is None
    assert reason in found.reason


def test_pods_of_a_component_before_are_excluded() -> None:
    ship: dict[str, Any] = {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": "ship"}}
    boat = {"componentTypeSelector": {"matchLabels": {"role": "boat"}}}
    harbor = {"componentTypeSelector": {"matchLabels": {"harbor": "a"}}}

    assert selection(ship, before=boat).selector == {"matchLabels": {"role": "ship"}}
    assert selection(ship, before=harbor) == (None, "pods of ship may be those of boat by their labels")
