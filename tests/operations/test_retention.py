"""Retain takes over what belongs to the member, and nothing else."""

from typing import Any

from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation, interpret
from tests.operations.conftest import Define, component, template

SUSPEND = {
    "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
    "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
}
ROOT = component("train", ".spec.template", ".spec.replicas // 1") | {"suspendDefinition": SUSPEND}
RETAINING = {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}}


def obj(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", **(metadata or {})},
        "spec": {"template": template(), **spec},
    }


def retain(definition: Definition, desired: dict[str, Any], observed: dict[str, Any]) -> dict[str, Any]:
    retained: dict[str, Any] = interpret(definition, Call(Operation.RETAIN, desired, observed=observed))["retained"]
    again = interpret(definition, Call(Operation.RETAIN, retained, observed=observed))["retained"]
    assert again == retained, "retaining is idempotent"
    return retained


def test_replicas_follow_the_template_by_default(define: Define) -> None:
    desired = obj(replicas=2)
    assert retain(define(root=ROOT), desired, obj(replicas=5)) is desired


def test_the_label_leaves_replicas_to_the_member(define: Define) -> None:
    retained = retain(define(root=ROOT), obj(RETAINING, replicas=2), obj(replicas=5))
    assert retained["spec"]["replicas"] == 5


def test_the_label_keeps_the_template_where_the_member_says_nothing(define: Define) -> None:
    assert retain(define(root=ROOT), obj(RETAINING, replicas=2), obj())["spec"]["replicas"] == 2


def test_unset_replicas_and_suspend_keep_the_members_values(define: Define) -> None:
    retained = retain(define(root=ROOT), obj(), obj(replicas=5, suspend=True))
    assert retained["spec"]["replicas"] == 5
    assert retained["spec"]["suspend"] is True


def test_an_autoscaler_that_the_template_has_no_more_does_not_come_back(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas", max=".spec.hpa.maxReplicas"))
    member = obj(replicas=2, hpa={"maxReplicas": 9})
    assert "hpa" not in retain(definition, obj(replicas=2), member)["spec"]
    assert retain(definition, obj(replicas=2, hpa={}), member)["spec"]["hpa"] == {"maxReplicas": 9}


def test_a_false_in_the_template_is_not_unset(define: Define) -> None:
    assert retain(define(root=ROOT), obj(suspend=False), obj(suspend=True))["spec"]["suspend"] is False


def test_instances_are_matched_by_name_not_by_place(define: Define) -> None:
    groups = component("group", ".spec.groups[].template", ".spec.groups[].replicas")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}

    def pool(name: str, replicas: int) -> dict[str, Any]:
        return {"name": name, "replicas": replicas, "template": template()}

    desired = obj(RETAINING, groups=[pool("new", 1), pool("old", 1)])
    retained = retain(define(groups), desired, obj(groups=[pool("old", 7)]))
    assert [one["replicas"] for one in retained["spec"]["groups"]] == [1, 7]


def test_listed_places_are_taken_whole(define: Define) -> None:
    definition = define(root=ROOT, retain="- .spec.selector.matchLabels\n- .spec.ports[].node\n")
    desired = obj(replicas=1, selector={"matchLabels": {"app": "t"}}, ports=[{"port": 80}])
    observed = obj(replicas=1, selector={"matchLabels": {"uid": "1"}}, ports=[{"node": 31000}, {"node": 31001}])
    retained = retain(definition, desired, observed)
    assert retained["spec"]["selector"] == {"matchLabels": {"uid": "1"}}
    assert retained["spec"]["ports"] == [{"port": 80, "node": 31000}], "the template decides how many ports there are"


def test_a_listed_place_that_the_member_lacks_stays(define: Define) -> None:
    definition = define(root=ROOT, retain="- .spec.selector\n")
    desired = obj(replicas=1, selector={"a": "b"})
    assert retain(definition, desired, obj(replicas=1)) is desired


def test_listed_places_of_instances_are_matched_by_name(define: Define) -> None:
    groups = component("group", ".spec.groups[].template", ".spec.groups[].replicas")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}
    definition = define(groups, retain=".spec.groups[].doomed")

    def pool(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "replicas": 1, "template": template(), **more}

    observed = obj(groups=[pool("old", doomed=["old-1"]), pool("gone", doomed=["gone-1"])])
    retained = retain(definition, obj(groups=[pool("new"), pool("old")]), observed)
    assert [one.get("doomed") for one in retained["spec"]["groups"]] == [None, ["old-1"]]
