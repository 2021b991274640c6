"""The member's values that the annotation ``retain`` keeps if the template has none."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, QueryStoppedError
from karta_interpreter.definitions.karta.annotations import AnnotationQuery
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.rows import rows

ROOT = component("train", ".spec.template", ".spec.replicas // 1")


def obj(**spec: Any) -> dict[str, Any]:
    spec = {"replicas": 1, "template": template(), **spec}
    return {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t"}, "spec": spec}


def retain(definition: Definition, ours: dict[str, Any], theirs: dict[str, Any]) -> Any:
    """Return what is kept of the spec beside its pods."""
    desired, observed = obj(**ours), obj(**theirs)
    retained = ask(definition, Call(Operation.RETAIN, desired, observed=observed))["retained"]
    again = ask(definition, Call(Operation.RETAIN, retained, observed=observed))["retained"]
    assert again == retained, "retaining is idempotent"
    return {field: value for field, value in retained["spec"].items() if field not in ("replicas", "template")}


@rows(
    ("rule", "ours", "theirs", "kept"),
    [
        pytest.param("unset: .spec.mode", {}, {"mode": "a"}, {"mode": "a"}, id="absent"),
        pytest.param("unset: .spec.mode", {"mode": None}, {"mode": "a"}, {"mode": "a"}, id="null"),
        pytest.param("unset: .spec.mode", {"mode": ""}, {"mode": "a"}, {"mode": "a"}, id="an empty text"),
        pytest.param("unset: .spec.on", {"on": False}, {"on": True}, {"on": False}, id="false is a value"),
        pytest.param("unset: .spec.n", {"n": 0}, {"n": 3}, {"n": 0}, id="and so is 0"),
        pytest.param("unset: .spec.mode", {"mode": "b"}, {}, {"mode": "b"}, id="the member has none"),
        pytest.param("unset: .spec.a", {"a": {"b": 1, "c": {"d": 2}}},
            {"a": {"b": 5, "c": {"d": 6, "e": [7]}, "f": 8}}, {"a": {"b": 1, "c": {"d": 2, "e": [7]}, "f": 8}},
            id="objects field by field, however deep"),
        pytest.param("unset: .spec.a", {"a": [1]}, {"a": [2]}, {"a": [1]}, id="a list is one value"),
        pytest.param("unset: .spec.tasks[].policy", {"tasks": [{"name": "b"}, {"name": "new"}]},
            {"tasks": [{"name": "gone", "policy": 1}, {"name": "b", "policy": 2}]},
            {"tasks": [{"name": "b", "policy": 2}, {"name": "new"}]}, id="elements are matched by name"),
        pytest.param("unset: .spec.tasks[] | .name, .policy", {"tasks": [{"cpu": 1}, {"name": "z"}]},
            {"tasks": [{"name": "x", "policy": 1}, {"name": "y", "policy": 2}]},
            {"tasks": [{"cpu": 1, "name": "x", "policy": 1}, {"name": "z"}]},
            id="or by place, where the member has named them"),
        pytest.param("unset: .spec.n\nif: . == 1", {}, {"n": 1}, {"n": 1}, id="a default"),
        pytest.param("unset: .spec.n\nif: . == 1", {}, {"n": 2}, {}, id="no default: the template said so once"),
        pytest.param("unset: .spec.n\nif: .", {}, {"n": 0}, {"n": 0}, id="0 is true in jq"),
        pytest.param("unset: .spec.least\nvalue: '[.tasks[].n] | add'", {"tasks": [{"n": 2}, {"n": 3}]}, {"least": 4},
            {"tasks": [{"n": 2}, {"n": 3}], "least": 5}, id="a value of the template's own"),
        pytest.param("unset: .spec.least\nvalue: .n", {"n": 2}, {"n": 2}, {"n": 2}, id="only where the member has one"),
        pytest.param("unset: .spec.least\nvalue: .n", {"n": 2, "least": 1}, {"least": 4}, {"n": 2, "least": 1},
            id="and the template none"),
    ],
)  # fmt: skip
def test_unset_rule_keeps_values_of_member(
    define: Define, rule: str, ours: dict[str, Any], theirs: dict[str, Any], kept: dict[str, Any]
) -> None:
    text = "- " + rule.replace("\n", "\n  ")
    assert retain(define(root=ROOT, retain=text), ours, theirs) == kept


@rows(
    ("ours", "theirs", "kept"),
    [
        pytest.param(None, [{"name": "a"}], [{"name": "a"}], id="no list"),
        pytest.param([{"name": "new"}, {"name": "a", "n": 1}], [{"name": "added"}, {"name": "a", "n": 2, "m": 3}],
            [{"name": "added"}, {"name": "new"}, {"name": "a", "n": 1, "m": 3}], id="in front of all"),
        pytest.param([{"name": "new"}, {"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "added"}, {"name": "b"}],
            [{"name": "new"}, {"name": "a"}, {"name": "added"}, {"name": "b"}], id="behind the one before it"),
        pytest.param([{"name": "b"}, {"name": "a"}], [{"name": "a"}, {"name": "b"}, {"name": "added"}],
            [{"name": "b"}, {"name": "added"}, {"name": "a"}], id="the template's order"),
        pytest.param([{"name": "b"}, {"name": "c"}], [{"name": "a"}, {"name": "added"}, {"name": "b"}],
            [{"name": "a"}, {"name": "added"}, {"name": "b"}, {"name": "c"}], id="what the template has dropped stays"),
        pytest.param([{"name": "a"}, {"name": "a"}], [{"name": "a"}], [{"name": "a"}, {"name": "a"}], id="twice"),
        pytest.param([{"name": "a", "n": 1}, {"name": "a", "n": 2}], [{"name": "a", "m": 3}],
            [{"name": "a", "n": 1, "m": 3}, {"name": "a", "n": 2}], id="of equal keys the first one is filled"),
        pytest.param([{"name": "a"}], None, [{"name": "a"}], id="nothing in the member"),
        pytest.param("text", [{"name": "a"}], "text", id="no list in the template"),
    ],
)  # fmt: skip
def test_lists_are_united_by_a_key(define: Define, ours: Any, theirs: Any, kept: Any) -> None:
    definition = define(root=ROOT, retain="- {unset: .spec.parts, by: .name}")
    assert retain(definition, {"parts": ours}, {"parts": theirs}) == {"parts": kept}


def test_only_some_elements_of_the_member_are_kept(define: Define) -> None:
    definition = define(root=ROOT, retain="- {unset: .spec.parts, by: .by, if: '.by == \"queue\"'}")
    theirs = [{"by": "gone"}, {"by": "us", "n": 1}, {"by": "queue", "n": 2}]
    assert retain(definition, {"parts": [{"by": "us"}]}, {"parts": theirs}) == {
        "parts": [{"by": "us"}, {"by": "queue", "n": 2}]
    }
    assert retain(definition, {}, {"parts": theirs[:2]}) == {}, "no list of nothing"


@rows(
    ("ours", "theirs", "kept"),
    [
        pytest.param({"cpu": 1}, {"cpu": "1"}, {"cpu": "1"}, id="a number as text"),
        pytest.param({"cpu": "0.5"}, {"cpu": "500m"}, {"cpu": "500m"}, id="another unit"),
        pytest.param({"cpu": 2}, {"cpu": "1"}, {"cpu": 2}, id="another amount is the template's"),
        pytest.param({"cpu": 1}, {"memory": "1Gi"}, {"cpu": 1}, id="nothing comes along"),
        pytest.param({"cpu": True}, {"cpu": "1"}, {"cpu": True}, id="a boolean is not an amount"),
        pytest.param({"cpu": "one"}, {"cpu": "1"}, {"cpu": "one"}, id="and a word is none"),
        pytest.param({"cpu": None}, {"cpu": "1"}, {"cpu": None}, id="nor is null"),
        pytest.param([{"cpu": 1}, 2, "a"], [{"cpu": "1"}, "2"], [{"cpu": "1"}, "2", "a"], id="inside of a list"),
        pytest.param([1], [1, 2], [1], id="no element comes along"),
        pytest.param({"0": 1}, ["1"], {"0": 1}, id="an object is not a list"),
    ],
)
def test_equal_quantities_are_spelled_as_the_member_does(
    define: Define, ours: dict[str, Any], theirs: dict[str, Any], kept: dict[str, Any]
) -> None:
    definition = define(root=ROOT, retain="- quantities: .spec.resources")
    wanted = {"resources": {"requests": kept}}
    assert retain(definition, {"resources": {"requests": ours}}, {"resources": {"requests": theirs}}) == wanted


def test_empty_rule_drops_value_that_member_lacks(define: Define) -> None:
    definition = define(root=ROOT, retain=".spec.gates // empty")
    assert retain(definition, {"gates": ["a"]}, {}) == {}
    assert retain(definition, {"gates": ["a", "b"]}, {"gates": ["b"]}) == {"gates": ["b"]}
    assert retain(definition, {}, {}) == {}


def test_rules_follow_one_another_and_counts_follow_them(define: Define) -> None:
    parts = component("part", '.spec | if .mode == "many" then .part.template else null end', ".spec.part.size")
    definition = define(parts, root={}, retain='- unset: .spec.mode\n- unset: .spec | select(.mode == "many") | .n')
    theirs = {"mode": "many", "n": 1, "part": {"size": 7, "template": template()}}
    assert retain(definition, {"part": {"template": template()}}, theirs) == theirs


@rows(
    ("rule", "theirs"),
    [
        pytest.param("{unset: .spec.mode, if: . + 1 == 2}", {"mode": "a"}, id="a condition that fails"),
        pytest.param("{unset: .spec.mode, value: .n + 1}", {"mode": "a", "n": "b"}, id="a value that fails"),
        pytest.param("{unset: '.spec.list[]', by: .name}", {"list": 3}, id="no list"),
        pytest.param("{unset: .spec.list, by: .name}", {"list": [3]}, id="an element without a key"),
        pytest.param(".spec.policy.mode // 1", {"policy": "none"}, id="no object on the way to a path"),
    ],
)
def test_rule_that_fails_over_member_keeps_nothing(define: Define, rule: str, theirs: dict[str, Any]) -> None:
    ours = {"n": "a"} if "n" in theirs else {"list": [{"name": "x"}]}
    assert retain(define(root=ROOT, retain=f"- {rule}"), ours, theirs) == ours


def test_condition_about_both_objects_holds_for_each_place(define: Define) -> None:
    condition = '.at == null or (.at == "spec.parts[1].disk" and .name == .template.spec.named)'
    definition = define(root=ROOT, retain=f"- owned: .spec.parts[].disk\n  if: {condition}")
    parts = [[{"name": name, "disk": disk} for name in ("a", "b", "c")] for disk in ("ours", "theirs")]

    kept = retain(definition, {"parts": parts[0], "named": "b"}, {"parts": parts[1]})

    assert [part["disk"] for part in kept["parts"]] == ["ours", "theirs", "ours"]


@rows(
    ("ours", "theirs", "kept"),
    [
        pytest.param({"disk": "new"}, {"disk": "old", "restored": "2"}, {"disk": "old"},
            id="while the condition holds"),
        pytest.param({"disk": "new"}, {"disk": "old"}, {"disk": "new"}, id="no longer"),
        pytest.param({"disk": "new", "restored": "2"}, {"disk": "old"}, {"disk": "new", "restored": "2"},
            id="not by the template"),
        pytest.param({"disk": "new"}, {"disk": "old", "restored": 2}, {"disk": "new"}, id="not where it fails"),
        pytest.param({}, {"disk": "old", "restored": "2"}, {"disk": "old"}, id="also where the template has none"),
        pytest.param({"disk": "new"}, {"restored": "2"}, {"disk": "new"}, id="what the member lacks is the template's"),
    ],
)  # fmt: skip
def test_owned_path_belongs_to_member_while_condition_holds(
    define: Define, ours: dict[str, Any], theirs: dict[str, Any], kept: dict[str, Any]
) -> None:
    rule = '{owned: .spec.disk, while: .spec.restored // empty | test("^2")}'
    assert retain(define(root=ROOT, retain=f"- {rule}"), ours, theirs) == kept


@rows(
    ("label", "ours", "kept"),
    [
        pytest.param("true", 2, 9, id="left by the label, which the member does not have yet"),
        pytest.param("false", 2, 2, id="set by the template"),
        pytest.param("false", None, 9, id="left unset"),
    ],
)
def test_replicas_of_rule_are_left_to_member(define: Define, label: str, ours: int | None, kept: int) -> None:
    definition = define(root=ROOT, retain="- replicas: .spec.roles[].replicas")
    template, member = obj(roles=[{"name": "a", "replicas": ours}]), obj(roles=[{"name": "a", "replicas": 9}])
    template["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": label}
    retained = ask(definition, Call(Operation.RETAIN, template, observed=member))["retained"]
    assert retained["spec"]["roles"] == [{"name": "a", "replicas": kept}]


def test_rule_that_fails_over_template_is_named(define: Define) -> None:
    definition = define(root=ROOT, retain="- .spec.policy.mode")
    with pytest.raises(InterpretationError, match=r"annotation retain `\.spec\.policy\.mode`: a string has no field"):
        retain(definition, {"policy": "none"}, {"policy": {"mode": "a"}})


def test_rule_that_gets_no_time_is_an_error(define: Define, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = define(root=ROOT, retain="- .spec.mode")

    def stopped(*_: Any) -> Any:
        raise QueryStoppedError("there is no time left")

    monkeypatch.setattr(AnnotationQuery, "evaluate", stopped)
    with pytest.raises(InterpretationError, match="no time left"):
        interpret(definition, Call(Operation.RETAIN, {"spec": {}}, observed={"spec": {"mode": "a"}}))
