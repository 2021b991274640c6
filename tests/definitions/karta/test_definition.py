from typing import Any

import pytest

from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK, JSON
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.languages.jq import Query, queries_in
from karta_interpreter.languages.jq.bounded import evaluation
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows

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


@rows(
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


def test_bounded_expressions_are_those_of_their_definition(brew: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(program: str, value: str, seconds: float, owner: str, *, most: int, **_: object) -> list[JSON]:
        assert (program, value, seconds, most) > ("", "", 0, 0)
        owners.append(owner)
        return []

    bounded = ". as $x | $x"
    raw = edit.set_value(brew, (*ROOT, "scaleDefinition", "replicasPath"), bounded)
    raw = edit.set_value(raw, ("metadata", "annotations"), {"karta-interpreter.io/health": bounded})
    kettle = {"group": "toys.example.com", "version": "v1", "kind": "Kettle"}
    lookup = {"name": "kettle", "gvk": kettle, "namespaceExpression": bounded, "lookup": {"nameExpression": bounded}}
    labels = {"matchLabels": {"brew": {"expression": bounded}}}
    listed = {"name": "kettles", "gvk": kettle, "list": labels}
    definition = load_definition(edit.set_value(raw, (*STRUCTURE, "references"), [lookup, listed]))
    owners: list[str] = []
    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    one, many = definition.references
    queries = [definition.root.replicas, definition.annotations.health, one.namespace, one.lookup]
    for query in (*queries, *many.labels[0].values):
        assert isinstance(query, Query)
        query.evaluate({})
    assert owners == ["brew"] * 5


def test_names_of_condition_fields_are_compiled(brew: Raw) -> None:
    names = {"typeFieldName": "what", "statusFieldName": "is", "messageFieldName": "text", "reasonFieldName": "why"}
    at = (*ROOT, "statusDefinition", "conditionsDefinition")
    status = load_definition(edit.set_value(brew, at, {"path": ".status.facts", **names})).status
    assert status is not None
    rule = status.conditions
    assert rule is not None
    assert (rule.type_field, rule.status_field) == ("what", "is")
    assert (rule.message_field, rule.reason_field) == ("text", "why")


@pytest.mark.parametrize("limit", ["_MOST_QUERIES", "_MOST_CHARACTERS"])
def test_many_expressions_are_more_than_the_limit(brew: Raw, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = load_definition(brew)
    queries = [*queries_in((definition.components, definition.status, definition.annotations))]
    number = len(queries) if limit == "_MOST_QUERIES" else sum(len(query.text) for query in queries)
    monkeypatch.setattr(f"karta_interpreter.definitions.karta.compile.{limit}", number)
    assert not load_definition(brew).has_many_expressions
    monkeypatch.setattr(f"karta_interpreter.definitions.karta.compile.{limit}", number - 1)
    assert load_definition(brew).has_many_expressions


def test_definitions_cannot_be_changed(compiled: dict[str, Definition]) -> None:
    with pytest.raises(AttributeError):
        compiled["brew"].name = "other"  # type: ignore[misc]  # that is the point


BREW = GVK("toys.example.com", "v1", "Brew")


def scripts(name: str, *operations: str) -> Scripts:
    return Scripts(Script(operation, "", name, f"{name}.yaml") for operation in operations)


def test_definition_of_scripts_needs_no_karta() -> None:
    definition = Definition.of_scripts(BREW, scripts("mine", "InterpretHealth", "Retain"))
    assert (definition.name, definition.gvk, definition.source) == ("mine", BREW, "mine.yaml")
    assert (definition.has_karta, definition.root.gvk) == (False, BREW)
    assert [operation for operation in Operation if definition.answers(operation)] == ["Retain", "InterpretHealth"]


@rows(
    ("allowed", "scripted", "answered"),
    [
        pytest.param("", (), set(Operation), id="a Karta answers everything"),
        pytest.param("Retain", (), {"Retain"}, id="but for what its annotation leaves out"),
        pytest.param("Retain", ("InterpretHealth",), {"Retain", "InterpretHealth"}, id="and scripts answer beside it"),
    ],
)
def test_operations_that_a_definition_answers(
    brew: Raw, allowed: str, scripted: tuple[str, ...], answered: set[str]
) -> None:
    at = ("metadata", "annotations")
    raw = edit.set_value(brew, at, {"karta-interpreter.io/operations": allowed}) if allowed else brew
    definition = load_definition(raw).overridden(scripts("mine", *scripted))
    assert {operation for operation in Operation if definition.answers(operation)} == answered


def test_stronger_scripts_win_for_their_operations(compiled: dict[str, Definition]) -> None:
    weaker = compiled["brew"].overridden(scripts("weak", "Retain", "InterpretHealth"))
    both = weaker.overridden(scripts("strong", "InterpretHealth", "InterpretStatus"))
    assert {script.operation: script.name for script in both.scripts} == {
        "Retain": "weak",
        "InterpretHealth": "strong",
        "InterpretStatus": "strong",
    }
    assert both.has_karta
    assert both.components == compiled["brew"].components


@rows(
    ("count", "expected"),
    [
        pytest.param(".spec.replicas // 1", True, id="a count with a default"),
        pytest.param("(.spec.replicas // 1) * 2", True, id="as the first factor"),
        pytest.param(".spec.replicas", False, id="a count without one"),
        pytest.param(".spec.parallelism // 1", False, id="a field that means something else where it is unset"),
        pytest.param(".spec.replicas // (.spec.tasks / 4)", False, id="a quotient, which loses what was divided"),
        pytest.param(None, False, id="no count"),
    ],
)
def test_count_has_default_that_can_be_written(count: str | None, expected: bool) -> None:
    component = ComponentRules("mill", "stone", replicas=None if count is None else Query.compile(count))
    assert component.has_default_count is expected


@rows(
    ("owners", "expected"),
    [
        pytest.param(("orchestra", "conductor"), ("orchestra", "conductor"), id="as written"),
        pytest.param((None, "conductor"), ("orchestra", "conductor"), id="none"),
        pytest.param(("", "conductor"), ("orchestra", "conductor"), id="an empty one"),
        pytest.param(("nobody", "conductor"), ("orchestra", "conductor"), id="one that does not exist"),
        pytest.param(("section", "conductor"), ("orchestra", "conductor"), id="a cycle, of which one is left"),
        pytest.param(("conductor", "conductor"), ("orchestra", "conductor"), id="itself"),
    ],
)
def test_owners_of_every_component_lead_to_the_root(
    orchestra: Raw, owners: tuple[str | None, str], expected: tuple[str, str]
) -> None:
    for index, owner in enumerate(owners):
        orchestra = edit.set_value(orchestra, (*STRUCTURE, "childComponents", index, "ownerRef"), owner)
    definition = load_definition(edit.set_value(orchestra, (*ROOT, "ownerRef"), "section"))

    assert tuple(component.owner for component in definition.components) == (None, *expected)
    assert definition.lineage("section")[-1] is definition.root


def test_root_without_status_definition_has_no_status_rules(orchestra: Raw) -> None:
    assert load_definition(edit.remove(orchestra, (*ROOT, "statusDefinition"))).status is None
