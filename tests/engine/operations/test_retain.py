"""Retain takes over what belongs to the member, and nothing else."""

import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.retain import retain_steps
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.rows import rows

SUSPEND = {
    "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
    "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
}
ROOT = component("train", ".spec.template", ".spec.replicas // 1") | {"suspendDefinition": SUSPEND}
_CHECKS = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture)
RETAINING = {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}}


def obj(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", **(metadata or {})},
        "spec": {"template": template(), **spec},
    }


def retain(definition: Definition, desired: dict[str, Any], observed: dict[str, Any]) -> Any:
    retained = ask(definition, Call(Operation.RETAIN, desired, observed=observed))["retained"]
    again = ask(definition, Call(Operation.RETAIN, retained, observed=observed))["retained"]
    assert again == retained, "retaining is idempotent"
    return retained


_AUTO = "if .spec.auto then null else .spec.%s end"


def test_replicas_follow_the_template_by_default(define: Define) -> None:
    desired = obj(replicas=2)
    assert retain(define(root=ROOT), desired, obj(replicas=5)) is desired


def test_label_leaves_replicas_to_member(define: Define) -> None:
    retained = retain(define(root=ROOT), obj(RETAINING, replicas=2), obj(replicas=5))
    assert retained["spec"]["replicas"] == 5


def test_label_keeps_template_if_member_has_no_value(define: Define) -> None:
    assert retain(define(root=ROOT), obj(RETAINING, replicas=2), obj())["spec"]["replicas"] == 2


def test_more_values_of_member_than_a_bound_are_an_error(define: Define) -> None:
    definition = define(root=ROOT, retain="- .spec.ports[].node\n")
    ports = [{"name": str(number)} for number in range(10_000)]
    observed = obj(ports=[{**port, "node": 7} for port in ports])
    call = Call(Operation.RETAIN, obj(ports=ports), observed=observed)
    assert interpret(definition, call)["retained"]["spec"]["ports"][-1] == {"name": "9999", "node": 7}
    observed["spec"]["ports"].append({"name": "10000", "node": 7})
    with pytest.raises(InterpretationError, match="more than 10000"):
        interpret(definition, call)


def test_unset_replicas_and_suspend_keep_the_members_values(define: Define) -> None:
    retained = retain(define(root=ROOT), obj(), obj(replicas=5, suspend=True))
    assert retained["spec"]["replicas"] == 5
    assert retained["spec"]["suspend"] is True


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(obj(replicas=2), id="the whole autoscaler"),
        pytest.param(obj(replicas=2, hpa={}), id="the bound alone, which could never be lifted otherwise"),
    ],
)
def test_dropped_bound_does_not_come_back(define: Define, template: dict[str, Any]) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas", max=".spec.hpa.maxReplicas"))
    assert retain(definition, template, obj(replicas=2, hpa={"maxReplicas": 9})) == template


def test_dropped_autoscaler_does_not_come_back(define: Define) -> None:
    definition = define(root=component("serve", ".spec.template", min=".spec.hpa.min", max=".spec.hpa.max"))
    observed = obj(hpa={"min": 2, "max": 9})
    assert retain(definition, obj(), observed) == obj()
    assert retain(definition, obj(hpa={}), observed) == obj(hpa={"min": 2}), "it is there, and leaves the count unset"


@pytest.mark.parametrize(
    ("scale", "desired", "observed"),
    [
        pytest.param({"replicas": _AUTO % "replicas"}, {}, {"auto": True}, id="replicas of the member"),
        pytest.param({"min": _AUTO % "min"}, {"auto": True}, {"min": 2}, id="minimum of the template"),
        pytest.param({"min": _AUTO % "min"}, {}, {"auto": True, "min": 2}, id="minimum of the member"),
    ],
)
def test_count_without_a_place_is_not_kept(
    define: Define, scale: dict[str, str], desired: dict[str, Any], observed: dict[str, Any]
) -> None:
    definition = define(root=component("train", ".spec.template", **scale))
    for metadata in ({}, RETAINING):
        template = obj(metadata, **desired)
        assert retain(definition, template, obj(**observed)) == template


def test_minimum_is_kept_if_only_the_template_counts_by_bounds(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", _AUTO % "replicas", min=".spec.min"))
    assert retain(definition, obj(auto=True), obj(replicas=5, min=2))["spec"] == {**obj(auto=True)["spec"], "min": 2}


def test_label_leaves_both_bounds_to_member(define: Define) -> None:
    definition = define(root=component("serve", ".spec.template", min=".spec.min", max=".spec.max"))
    desired, observed = obj(RETAINING, min=1, max=3), obj(min=2, max=9)
    assert retain(definition, desired, observed)["spec"] == observed["spec"]


def test_minimum_is_kept_if_there_are_only_bounds(define: Define) -> None:
    definition = define(root=component("serve", ".spec.template", min=".spec.min", max=".spec.max"))
    retained = retain(definition, obj(), obj(min=2, max=9))
    assert retained["spec"] == {"template": retained["spec"]["template"], "min": 2}


@pytest.mark.parametrize(
    ("count", "member", "kept", "reads"),
    [
        pytest.param(".replicas", {"replicas": 3}, {"replicas": 3}, 2, id="once for each object"),
        pytest.param(".replicas // .size // 1", {"size": 3}, {"size": 3}, 3, id="once more, as the field is another"),
        pytest.param(
            "if .auto then .size else .replicas end // 1", {"auto": True, "size": 3}, {}, 3, id="not in the template"
        ),
    ],
)
def test_counts_of_many_instances_are_read_a_few_times(
    define: Define,
    monkeypatch: pytest.MonkeyPatch,
    count: str,
    member: dict[str, Any],
    kept: dict[str, Any],
    reads: int,
) -> None:
    groups = component("group", ".spec.groups[].template", f".spec.groups[] | {count}")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}
    found: list[Any] = []

    def read(*asked: Any) -> Any:
        found.append(asked)
        return scale_locations(*asked)

    monkeypatch.setattr(sys.modules[retain_steps.__module__], "scale_locations", read)
    named = [{"name": f"g{number}", "template": template()} for number in range(30)]
    observed = obj(groups=[{**group, **member} for group in named])
    call = Call(Operation.RETAIN, obj(groups=named), observed=observed)
    assert interpret(define(groups), call)["retained"] == obj(groups=[{**group, **kept} for group in named])
    assert len(found) == reads, "and not again for each group"


def test_false_in_template_is_not_unset(define: Define) -> None:
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


def test_listed_place_that_member_lacks_stays(define: Define) -> None:
    definition = define(root=ROOT, retain="- .spec.selector\n")
    desired = obj(replicas=1, selector={"a": "b"})
    assert retain(definition, desired, obj(replicas=1)) is desired


@rows(
    ("theirs", "ours", "kept"),
    [
        pytest.param({}, {"paused": True}, {"paused": False}, id="a switch that is off is not a field"),
        pytest.param({"paused": True}, {"paused": False}, {"paused": True}, id="one that is on is"),
        pytest.param({}, {}, {}, id="a template that says nothing means the same"),
        pytest.param({}, {"paused": False}, {"paused": False}, id="and so does one that says it"),
    ],
)
def test_absent_value_of_member_is_default_of_rule(
    define: Define, theirs: dict[str, Any], ours: dict[str, Any], kept: dict[str, Any]
) -> None:
    definition = define(root=ROOT, retain=".spec.paused // false")
    assert retain(definition, obj(**ours), obj(**theirs)) == obj(**kept)


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


@rows(
    "observed",
    [
        pytest.param([("a", "a2", "a1"), ("b", "b1")], id="in the order of the template"),
        pytest.param([("b", "b1"), ("a", "a1", "a2")], id="with the lists that they are in"),
        pytest.param([("new", "c1"), ("b", "b1"), ("a", "a2", "a1")], id="behind a list that the template lacks"),
    ],
)
def test_instances_may_be_in_lists_of_lists(define: Define, observed: list[tuple[str, ...]]) -> None:
    sets = component("set", ".spec.pools[].sets[].template", ".spec.pools[].sets[].replicas")
    sets |= {"instanceIdPath": ".spec.pools[].sets[].id"}
    sets["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.set"}
    definition = define(sets, retain=".spec.pools[].sets[].seed")

    def pools(*listed: tuple[str, ...], **more: str) -> dict[str, Any]:
        return obj(pools=[{"name": pool, "sets": [_set(pool, each, more) for each in ids]} for pool, *ids in listed])

    def _set(pool: str, name: str, more: dict[str, str]) -> dict[str, Any]:
        seeded = {field: f"{value} {pool} {name}" for field, value in more.items()}
        return {"id": name, "replicas": 1, "template": template(), **seeded}

    retained = retain(definition, pools(("a", "a1", "a2"), ("b", "b1")), pools(*observed, seed="of"))
    seeds = [each["seed"] for pool in retained["spec"]["pools"] for each in pool["sets"]]
    assert seeds == ["of a a1", "of a a2", "of b b1"]


SERVICES = component("service", ".spec.services[].template", ".spec.services[].replicas") | {
    "instanceIdPath": ".spec.services // {} | keys[]",
    "suspendDefinition": {
        "suspendActions": [{"path": ".spec.services[].paused", "value": "true"}],
        "resumeActions": [{"path": ".spec.services[].paused", "value": "false"}],
    },
}
SERVICES["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.service"}


def service(**more: Any) -> dict[str, Any]:
    return {"template": template(), **more}


def test_entry_dropped_from_map_does_not_come_back(define: Define) -> None:
    definition = define(SERVICES, retain=".spec.services[].uid")
    member = service(replicas=7, paused=True, uid="1")
    desired = obj(RETAINING, services={"new": service(), "old": service(replicas=1)})
    retained = retain(definition, desired, obj(services={"gone": member, "old": member}))
    assert retained["spec"]["services"] == {"new": service(), "old": member}, "not even a part of what is gone"
    assert retain(definition, obj(), obj(services={"gone": member})) == obj()


def test_instances_of_a_map_keep_what_they_leave_unset(define: Define) -> None:
    member = {"a": service(replicas=3), "b": service(replicas=4)}
    retained = retain(define(SERVICES), obj(services={"b": service(replicas=None)}), obj(services=member))
    assert retained["spec"]["services"] == {"b": service(replicas=4)}


_counts = st.integers(0, 3) | st.none()
_services = st.dictionaries(
    st.sampled_from("abc"),
    st.builds(service, replicas=_counts, paused=st.booleans() | st.none(), uid=_counts) | st.just(service()),
)


@settings(suppress_health_check=_CHECKS)
@given(_services, _services, st.booleans())
def test_services_of_template_keep_values_of_member(
    define: Define, ours: dict[str, Any], theirs: dict[str, Any], left: bool
) -> None:
    def kept(name: str, field: str, *, always: bool) -> Any:
        mine, other = ours[name].get(field), theirs.get(name, {}).get(field)
        return other if other is not None and (always or mine is None) else mine

    desired = obj(RETAINING if left else None, services=ours)
    retained = retain(define(SERVICES, retain=".spec.services[].uid"), desired, obj(services=theirs))
    assert retained["spec"]["services"].keys() == ours.keys()
    for name, found in retained["spec"]["services"].items():
        assert found.get("replicas") == kept(name, "replicas", always=left)
        assert found.get("paused") == kept(name, "paused", always=False)
        assert found.get("uid") == kept(name, "uid", always=True)


def test_instance_with_another_key_is_matched(define: Define) -> None:
    worker = '.spec.roles // {} | to_entries[] | select(.key | ascii_downcase == "worker") | .value'
    definition = define(root=component("train", f"{worker} | .template", f"{worker} | .replicas // 1"))
    observed = obj(roles={"Worker": service(replicas=5)})
    retained = retain(definition, obj(RETAINING, roles={"worker": service(replicas=2)}), observed)
    assert retained["spec"]["roles"] == {"worker": service(replicas=5)}


def test_condition_holds_for_template_too(define: Define) -> None:
    switch = {"path": ".spec.job | select(. != null) | .paused"}
    suspension = {"suspendActions": [switch | {"value": "true"}], "resumeActions": [switch | {"value": "false"}]}
    adapted = ".spec.pools[] | select(.adapter != null) | .size"
    definition = define(root=ROOT | {"suspendDefinition": suspension}, retain=adapted)
    observed = obj(replicas=1, job={"paused": True}, pools=[{"size": 7, "adapter": {}}])
    without = obj(replicas=1, pools=[{"size": 2}])
    assert retain(definition, without, observed) == without, "neither the job nor the adapter is wanted any more"
    within = obj(replicas=1, job={}, pools=[{"size": 2, "adapter": {}}])
    assert retain(definition, within, observed) == observed


def test_condition_about_status_reads_member(define: Define) -> None:
    definition = define(root=ROOT, retain='select(.status.phase == "Running") | .spec.node')
    running = obj(replicas=1, node="n1") | {"status": {"phase": "Running"}}
    assert retain(definition, obj(replicas=1), running)["spec"]["node"] == "n1", "a template has no status"
    assert retain(definition, obj(replicas=1), obj(replicas=1, node="n1")) == obj(replicas=1)


def test_element_with_id_does_not_match_element_without(define: Define) -> None:
    groups = component("group", ".spec.groups[] | select(.name).template", ".spec.groups[] | select(.name).replicas")
    groups |= {"instanceIdPath": ".spec.groups[] | select(.name).name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}
    definition = define(groups, retain=".spec.groups[].uid")
    named = {"name": "a", "replicas": 1, "template": template()}
    for ours, theirs, kept in (
        ([{}, named], [{"uid": "1"}, named | {"uid": "2"}], ["1", "2"]),
        ([named, {}], [{"uid": "1"}, named | {"uid": "2"}], ["2", None]),
        ([named], [{"uid": "1"}], [None]),
        ([{}], [named | {"uid": "2"}], [None]),
    ):
        retained = retain(definition, obj(groups=ours), obj(groups=theirs))
        assert [group.get("uid") for group in retained["spec"]["groups"]] == kept


def test_missing_index_of_template_is_not_a_place(define: Define) -> None:
    definition = define(root=ROOT, retain=".spec.ports[1].node")
    observed = obj(replicas=1, ports=[{}, {"node": 31000}])
    assert retain(definition, obj(replicas=1, ports=[{}]), observed) == obj(replicas=1, ports=[{}])
    assert retain(definition, obj(replicas=1), observed) == obj(replicas=1)


def test_instances_are_those_of_their_component(define: Define) -> None:
    """Names of pod sets depend on what else is in the object: "a" alone is "one-a" beside another "a"."""

    def pools(name: str) -> dict[str, Any]:
        found = component(name, f".spec.{name}[].template", f".spec.{name}[].replicas")
        found["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.pool"}
        return found | {"instanceIdPath": f".spec.{name}[].name"}

    def pool(name: str, replicas: int) -> dict[str, Any]:
        return {"name": name, "replicas": replicas, "template": template()}

    desired = obj(RETAINING, one=[pool("a", 1)], two=[pool("b", 1)])
    observed = obj(one=[pool("a", 5)], two=[pool("a", 6), pool("b", 7)])
    retained = retain(define(pools("one"), pools("two")), desired, observed)
    assert retained["spec"] == obj(one=[pool("a", 5)], two=[pool("b", 7)])["spec"]


def test_count_under_another_name_stays_there(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas // .spec.size // 1"))
    assert retain(definition, obj(), obj(size=5)) == obj(size=5), "as the member has it"
    assert retain(definition, obj(replicas=2), obj(size=5)) == obj(replicas=2)
    renamed = obj(RETAINING, replicas=2)
    assert retain(definition, renamed, obj(size=5)) == renamed, "the template now says it elsewhere"
    deeper = define(root=component("train", ".spec.template", ".spec.replicas // .spec.pool.replicas // 1"))
    assert retain(deeper, obj(pool={}), obj(pool={"replicas": 5})) == obj(pool={"replicas": 5}), (
        "the same name elsewhere"
    )


@pytest.mark.parametrize(
    ("template", "member"),
    [
        pytest.param(obj(autoscaling={"on": False}), obj(autoscaling={"on": True, "initial": 5}),
            id="the field of the autoscaler, which the template has turned off"),
        pytest.param(obj(autoscaling={"on": True}), obj(autoscaling={"on": False}, replicas=5),
            id="the field beside the autoscaler, which the template has turned on"),
    ],
)  # fmt: skip
def test_count_is_not_written_to_uncounted_field(
    define: Define, template: dict[str, Any], member: dict[str, Any]
) -> None:
    count = ".spec | if .autoscaling.on then .autoscaling.initial else .replicas end"
    definition = define(root=component("train", ".spec.template", f"{count} // 1"))
    assert retain(definition, template, member) == template


@pytest.mark.parametrize("metadata", [pytest.param({}, id="its count"), pytest.param(RETAINING, id="with the label")])
def test_template_mends_object_that_cannot_be_read(define: Define, metadata: dict[str, Any]) -> None:
    template = obj(metadata, replicas=2)
    assert retain(define(root=ROOT), template, obj(replicas="many")) == template


def test_template_whose_count_cannot_be_read_keeps_none(define: Define) -> None:
    unreadable = obj(RETAINING, replicas="many")
    assert retain(define(root=ROOT), unreadable, obj(replicas=2)) == unreadable


def test_component_that_cannot_be_read_leaves_counts_of_others(define: Define) -> None:
    parts = [component(name, f".spec.{name}.template", f".spec.{name}.replicas") for name in ("head", "worker")]

    def team(head: Any, worker: int) -> dict[str, Any]:
        named = {"head": head, "worker": worker}
        return obj(RETAINING, **{name: {"replicas": count, "template": template()} for name, count in named.items()})

    assert retain(define(*parts), team(1, 2), team("many", 9)) == team(1, 9)


def test_kept_switch_that_breaks_template_leaves_its_counts(define: Define) -> None:
    count = '.spec | if .mode == "off" then 0 elif .mode == null then .replicas else error("no such mode") end'
    switch = {"path": ".spec.mode", "value": '"off"'}
    actions = {"suspendActions": [switch], "resumeActions": [{**switch, "value": "null"}]}
    definition = define(root=component("train", ".spec.template", count) | {"suspendDefinition": actions})
    call = Call(Operation.RETAIN, obj(RETAINING, replicas=2), observed=obj(replicas=5, mode="x"))
    assert ask(definition, call)["retained"] == obj(RETAINING, replicas=2, mode="x")


def test_count_is_kept_in_its_own_form(define: Define) -> None:
    path = '.metadata.annotations["example.com/n"] // "1" | tonumber'
    definition = define(root=component("train", ".spec.template", path))
    named = {"annotations": {"example.com/n": "2"}}
    observed = obj({"annotations": {"example.com/n": "5"}})
    assert retain(definition, obj(named | RETAINING), observed)["metadata"]["annotations"] == {"example.com/n": "5"}
    assert retain(definition, obj(named), observed)["metadata"]["annotations"] == {"example.com/n": "2"}


def test_switch_of_resume_actions_is_kept(define: Define) -> None:
    actions = {**SUSPEND, "resumeActions": [{"path": ".spec.awake", "value": "true"}]}
    definition = define(root={**ROOT, "suspendDefinition": actions})
    assert retain(definition, obj(replicas=1), obj(replicas=1, awake=True))["spec"]["awake"] is True


def test_elements_with_ids_are_matched_by_them_where_no_pods_are(define: Define) -> None:
    selector = {"componentInstanceSelector": {"idPath": ".metadata.labels.pool"}}
    pools = {"name": "pool", "instanceIdPath": ".spec.pools[].id", "podSelector": selector}
    definition = define(pools, root=ROOT, retain=".spec.pools[].uid")
    observed = obj(replicas=1, pools=[{"id": "a", "uid": 1}, {"id": "b", "uid": 2}])
    retained = retain(definition, obj(replicas=1, pools=[{"id": "b"}]), observed)
    assert retained["spec"]["pools"] == [{"id": "b", "uid": 2}]


_TEMPLATE = "resourcetemplate.karmada.io/uid"
_IMMUTABLE = "- immutable: .spec.parts\n- changeable: .spec.parts[].size\n"


def _of_template(uid: str) -> dict[str, Any]:
    return {"annotations": {_TEMPLATE: uid}}


@rows(
    ("ours", "theirs", "retained"),
    [
        pytest.param([{"name": "a", "x": 1}], [{"name": "a", "x": 2}], [{"name": "a", "x": 2}], id="another value"),
        pytest.param([{"name": "a", "x": 1}], [{"name": "a"}], [{"name": "a"}], id="a value that a webhook took away"),
        pytest.param([{"name": "a"}], [{"name": "b"}, {"name": "a"}], [{"name": "b"}, {"name": "a"}], id="an element"),
        pytest.param([{"name": "a"}], None, None, id="all of it, which a webhook took away"),
        pytest.param(None, [{"name": "a"}], [{"name": "a"}], id="all of it, which a webhook added"),
        pytest.param(
            [{"name": "a", "size": 2}],
            [{"name": "b", "size": 7}, {"name": "a", "size": 1}],
            [{"name": "b", "size": 7}, {"name": "a", "size": 2}],
            id="a value that may change, of the element with its name",
        ),
        pytest.param(
            [{"name": "a"}], [{"name": "a", "size": 1}], [{"name": "a"}], id="a changeable value that is gone"
        ),
    ],
)
def test_immutable_path_belongs_to_member_but_for_what_may_change(
    define: Define, ours: Any, theirs: Any, retained: Any
) -> None:
    definition = define(root=ROOT, retain=_IMMUTABLE)
    desired, observed = (obj(_of_template("1"), **({"parts": parts} if parts else {})) for parts in (ours, theirs))

    assert retain(definition, desired, observed)["spec"].get("parts") == retained


def test_immutable_path_of_another_template_is_refused_but_for_gaps(define: Define) -> None:
    definition = define(root=ROOT, retain="- immutable: .spec.parts\n- changeable: .spec.parts.size\n")
    desired = obj(_of_template("2"), parts={"x": 1, "size": 2})
    observed = obj(_of_template("1"), parts={"x": 5, "y": 6, "size": 1})

    assert retain(definition, desired, observed)["spec"]["parts"] == {"x": 1, "y": 6, "size": 2}


@rows(
    ("ours", "theirs", "uid", "fixed", "share"),
    [
        pytest.param({"x": 2}, {"x": 1}, "1", {"x": 1}, {"x": 1}, id="another value"),
        pytest.param({"x": 2}, {"x": 1}, "2", {"x": 2}, {"x": 1}, id="another value of another template"),
        pytest.param({"x": 2}, {}, "1", {"x": 2}, {}, id="no value in the member"),
        pytest.param({"x": 2}, None, "1", {"x": 2}, None, id="nothing around it in the member"),
        pytest.param({}, {"x": 1}, "1", {}, {"x": 1}, id="no value in the template"),
        pytest.param({"x": 2, "y": 2}, {"x": 1, "y": 1}, "1", {"x": 1, "y": 2}, {"x": 1, "y": 2}, id="only the path"),
    ],
)
def test_member_keeps_what_is_fixed_if_both_have_it_and_its_share_in_any_case(
    define: Define, ours: Any, theirs: Any, uid: str, fixed: Any, share: Any
) -> None:
    desired = obj(_of_template(uid), **({} if ours is None else {"parts": ours}))
    observed = obj(_of_template("1"), **({} if theirs is None else {"parts": theirs}))

    retained = [
        retain(define(root=ROOT, retain=f"- {word}: .spec.parts.x\n"), desired, observed)["spec"].get("parts")
        for word in ("fixed", "share")
    ]

    assert retained == [fixed, share]


def test_share_of_entry_is_kept_by_name_while_condition_holds(define: Define) -> None:
    rule = "- {share: '.spec.parts[].size', if: .template.spec.revision == .member.spec.revision}\n"
    definition = define(root=ROOT, retain=rule)
    observed = obj(revision="a", parts=[{"name": "x", "size": 1}, {"name": "y", "size": 1}])

    kept, sent = (
        retain(definition, obj(revision=revision, parts=[{"name": "y", "size": 5}]), observed)["spec"]["parts"]
        for revision in ("a", "b")
    )

    assert (kept, sent) == ([{"name": "y", "size": 1}], [{"name": "y", "size": 5}])


@rows(("suspend", "size"), [pytest.param(True, 2, id="held"), pytest.param(False, 1, id="at work")])
def test_changeable_path_has_template_value_while_condition_holds(define: Define, size: int, *, suspend: bool) -> None:
    rules = (
        "- immutable: .spec.parts\n- {changeable: .spec.parts.size, if: .member.status.held and .template.spec.grow}\n"
    )
    definition = define(root=ROOT, retain=rules)
    observed = {**obj(parts={"size": 1}), "status": {"held": suspend}}

    assert retain(definition, obj(grow=True, parts={"size": 2}), observed)["spec"]["parts"] == {"size": size}


@rows(
    ("changeable", "parts"),
    [
        pytest.param(".spec.parts[].size", [{"name": "a"}], id="in a list"),
        pytest.param(".spec.parts.size", {"size": 1}, id="at a fixed path"),
    ],
)
def test_changeable_path_of_broken_member_changes_nothing(define: Define, changeable: str, parts: Any) -> None:
    definition = define(root=ROOT, retain=f"- immutable: .spec.parts\n- changeable: {changeable}\n")

    assert retain(definition, obj(parts=parts), obj(parts="broken"))["spec"]["parts"] == "broken"
