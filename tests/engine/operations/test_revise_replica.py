"""ReviseReplica writes the number it was asked for, or says why it cannot."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.rows import rows

MASTER = component("master", ".spec.master.template", ".spec.master.replicas // 1")
WORKER = component("worker", ".spec.worker.template", ".spec.worker.replicas // 1")


def revise(definition: Definition, obj: dict[str, Any], replicas: int) -> Any:
    revised = ask(definition, Call(Operation.REVISE_REPLICA, obj, replicas=replicas))["revised"]
    total = ask(definition, Call(Operation.INTERPRET_REPLICA, revised))["replica"]
    assert total == replicas, "what is revised is read back"
    return revised


def obj(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t"}, "spec": spec}


def job(master: dict[str, Any], worker: dict[str, Any]) -> dict[str, Any]:
    return obj(master={"template": template(), **master}, worker={"template": template(), **worker})


def test_lone_pod_set_is_written_at_its_count(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas // 1"))
    before = obj(template=template())
    after = revise(definition, before, 4)
    assert after["spec"]["replicas"] == 4
    assert "replicas" not in before["spec"], "the object that was asked about is left alone"


def test_todays_number_changes_nothing(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", "1"))
    before = obj(template=template())
    assert revise(definition, before, 1) is before


@rows(
    ("count", "spec", "expected"),
    [
        pytest.param(".spec.replicas // 1", {}, {"replicas": 1}, id="the default, which Retain would not take else"),
        pytest.param(".spec.replicas // 1", {"replicas": None}, {"replicas": 1}, id="null is unset"),
        pytest.param(".spec.replicas // 0", {}, {"replicas": 0}, id="whatever the default is"),
        pytest.param(".spec | .replicas // 1", {}, {"replicas": 1}, id="behind a pipe"),
        pytest.param(".spec.pods.replicas // 1", {}, {}, id="a section that is not there is left alone"),
        pytest.param(".spec.parallelism // 1", {}, {}, id="without a limit, which a number would set"),
        pytest.param(".spec.replicas // .spec.hosts", {"hosts": 1}, {"hosts": 1}, id="no default, another field"),
        pytest.param(".spec.replicas // (.spec.slots / 2)", {"slots": 2}, {"slots": 2}, id="follows another field"),
    ],
)
def test_default_is_written(define: Define, count: str, spec: dict[str, Any], expected: dict[str, Any]) -> None:
    definition = define(root=component("train", ".spec.template", count))
    before = obj(template=template(), **spec)
    today = ask(definition, Call(Operation.INTERPRET_REPLICA, before))["replica"]
    after = revise(definition, before, today)
    assert after["spec"] == {"template": template()} | expected
    assert (after is before) == (after == before)


def test_written_default_prevails_over_count_of_member(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas // 1"))
    desired = revise(definition, obj(template=template()), 1)
    retained = ask(definition, Call(Operation.RETAIN, desired, observed=obj(template=template(), replicas=7)))
    assert retained["retained"]["spec"]["replicas"] == 1


def test_share_equal_to_default_is_written(define: Define) -> None:
    both = define(MASTER, WORKER, elastic="master,worker")
    after = revise(both, job({}, {"replicas": 3}), 2)
    assert [after["spec"][name]["replicas"] for name in ("master", "worker")] == [1, 1]


def test_without_annotation_the_pod_sets_of_several_pods_are_elastic(define: Define) -> None:
    after = revise(define(MASTER, WORKER), job({}, {"replicas": 3}), 6)
    assert after["spec"]["worker"]["replicas"] == 5, "the master stays alone: 6 - 1"
    assert "replicas" not in after["spec"]["master"]


def test_elastic_annotation_names_elastic_components(define: Define) -> None:
    after = revise(define(MASTER, WORKER, elastic="worker"), job({"replicas": 3}, {"replicas": 1}), 5)
    assert after["spec"]["worker"]["replicas"] == 2, "3 masters stay, although they are several"


def test_indivisible_workload_keeps_its_number(define: Define) -> None:
    alone = define(root=component("train", ".spec.template", ".spec.replicas // 1"), elastic="none")
    several = define(MASTER, WORKER, elastic="none")
    for definition, before, today in (
        (alone, obj(template=template(), replicas=3), 3),
        (alone, obj(template=template()), 1),
        (several, job({"replicas": 2}, {"replicas": 3}), 5),
    ):
        assert revise(definition, before, today) is before
        for other in (0, today - 1, today + 1, 12):
            reason = rf"cannot set {other} replicas: it has {today}, and its definition .*elastic: none\); Karmada can"
            with pytest.raises(InterpretationError, match=reason):
                revise(definition, before, other)


@rows(
    ("count", "bounds", "replicas", "total", "expected"),
    [
        pytest.param("[{}, 4] | min", {}, (2, 2), 10, (6, 4), id="a cap in the expression: 5 each otherwise"),
        pytest.param("[{}, 2] | max", {}, (8, 2), 5, (3, 2), id="a floor in the expression: 4 and 1 otherwise"),
        pytest.param("[{} * 2, 5] | min", {}, (2, 1), 12, (8, 2), id="two steps of 2 are below a cap of 5"),
        pytest.param("[{} * 2, 3] | max", {}, (8, 4), 6, (2, 2), id="two steps of 2 are above a floor of 3"),
        pytest.param("{}", {"max": "3"}, (2, 2), 10, (7, 3), id="a maximum of the pod set"),
        pytest.param("{}", {"min": "3"}, (8, 4), 6, (3, 3), id="a minimum of the pod set: 4 and 2 otherwise"),
        pytest.param("[{}, 4] | min", {"max": "3"}, (2, 2), 10, (7, 3), id="the smaller one of cap and maximum"),
        pytest.param("[{}, 2] | max", {"min": "3"}, (8, 4), 6, (3, 3), id="the larger one of floor and minimum"),
    ],
)
def test_share_that_bound_does_not_take_goes_to_other_component(
    define: Define, count: str, bounds: dict[str, str], replicas: tuple[int, int], total: int, expected: tuple[int, int]
) -> None:
    worker = component("worker", ".spec.worker.template", count.format(".spec.worker.replicas"), **bounds)
    before = job({"replicas": replicas[0]}, {"replicas": replicas[1]})
    after = revise(define(MASTER, worker, elastic="master,worker"), before, total)
    assert (after["spec"]["master"]["replicas"], after["spec"]["worker"]["replicas"]) == expected


def test_components_with_bounds_come_before_those_with_many_pods(define: Define) -> None:
    bounded = component("worker", ".spec.worker.template", ".spec.worker.replicas", min=".spec.min", max=".spec.max")
    before = job({"replicas": 3}, {"replicas": 1})
    before["spec"] |= {"min": 1, "max": 4}
    assert revise(define(MASTER, bounded), before, 7)["spec"]["worker"]["replicas"] == 4


def test_pod_sets_that_share_a_place_move_together(define: Define) -> None:
    leader = component("leader", ".spec.template", ".spec.replicas // 1")
    worker = component("worker", ".spec.template", "(.spec.replicas // 1) * ((.spec.size // 1) - 1)")
    definition = define(leader, worker, elastic="leader,worker")
    before = obj(template=template(), replicas=2, size=4)
    assert revise(definition, before, 12)["spec"]["replicas"] == 3, "12 pods are 3 groups of 4"
    with pytest.raises(InterpretationError, match=r"cannot set 6 replicas: leader and worker can change in steps of 4"):
        revise(definition, before, 6)


def test_only_the_named_instances_of_a_component_are_elastic(define: Define) -> None:
    groups = component("group", ".spec.groups[].template", ".spec.groups[].replicas")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"] = {"componentInstanceSelector": {"idPath": ".metadata.labels.group"}}
    before = obj(groups=[{"name": name, "replicas": 2, "template": template()} for name in ("hot", "cold", "hotter")])
    for elastic, expected in (
        ("group/hot", [5, 2, 2]),
        ("group/hot, group/hotter", [4, 2, 3]),
        ("group, group/hot", [3, 3, 3]),
    ):
        after = revise(define(groups, elastic=elastic), before, 9)
        assert [each["replicas"] for each in after["spec"]["groups"]] == expected, elastic
    with pytest.raises(
        InterpretationError,
        match=r"cold can change; hot stays at 2 \(spec\.groups\[0\]\.replicas\); hotter stays at 2 \(",
    ):
        revise(define(groups, elastic="group/cold"), before, 3)


def test_count_with_hosts_moves_in_steps(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", "(.spec.replicas // 1) * (.spec.hosts // 1)"))
    assert revise(definition, obj(template=template(), replicas=1, hosts=2), 6)["spec"]["replicas"] == 3
    with pytest.raises(InterpretationError, match="in steps of 2"):
        revise(definition, obj(template=template(), replicas=1, hosts=2), 3)


def test_instances_share_in_proportion(define: Define) -> None:
    groups = component("group", ".spec.groups[].template", ".spec.groups[].replicas")
    groups |= {"instanceIdPath": ".spec.groups[].name"}
    groups["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.group"}
    pools = [{"name": name, "replicas": count, "template": template()} for name, count in (("a", 4), ("b", 2))]
    after = revise(define(groups), obj(groups=pools), 9)
    assert [pool["replicas"] for pool in after["spec"]["groups"]] == [6, 3]


def test_only_bounds_set_the_minimum_and_raise_a_lower_maximum(define: Define) -> None:
    service = component("train", ".spec.template", min=".spec.min", max=".spec.max")
    before = obj(template=template(), min=1, max=3)
    assert revise(define(root=service), before, 2)["spec"] | {"template": 0} == {"template": 0, "min": 2, "max": 3}
    assert revise(define(root=service), before, 5)["spec"] | {"template": 0} == {"template": 0, "min": 5, "max": 5}


def test_count_in_annotation_is_text(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", '.metadata.annotations.n // "1" | tonumber'))
    before = obj(template=template())
    assert revise(definition, before, 3)["metadata"]["annotations"] == {"n": "3"}
    again = before | {"metadata": {"annotations": {"n": "5"}}}
    assert revise(definition, again, 0)["metadata"]["annotations"] == {"n": "0"}


def test_bounds_in_annotations_are_text(define: Define) -> None:
    bounds = {"min": ".metadata.annotations.min", "max": ".metadata.annotations.max"}
    definition = define(root=component("train", ".spec.template", **bounds))
    before = obj(template=template()) | {"metadata": {"annotations": {"min": "1", "max": "3"}}}
    assert revise(definition, before, 5)["metadata"]["annotations"] == {"min": "5", "max": "5"}
    assert revise(definition, before, 2)["metadata"]["annotations"] == {"min": "2", "max": "3"}


def test_first_of_alternative_fields_is_written(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas // .spec.size // 1"))
    assert revise(definition, obj(template=template()), 3)["spec"]["replicas"] == 3
    assert revise(definition, obj(template=template(), size=2), 3)["spec"]["size"] == 3, "the one that is there"


def test_unwritable_maximum_is_a_bound(define: Define) -> None:
    service = component("train", ".spec.template", min=".spec.min", max="(.spec.max // 4) - 1")
    before = obj(template=template(), min=1)
    assert revise(define(root=service), before, 3)["spec"]["min"] == 3
    with pytest.raises(InterpretationError, match="train can change up to 3"):
        revise(define(root=service), before, 4)


def test_minimums_are_shared_within_what_their_expressions_allow(define: Define) -> None:
    """In proportion 2 pods would be 2 and 0, but there is at least one of each."""
    predictor, transformer = (
        component(name, f".spec.{name}.template", min=f"[(.spec.{name}.minReplicas // 1), 1] | max")
        for name in ("predictor", "transformer")
    )
    before = obj(
        predictor={"template": template(), "minReplicas": 3}, transformer={"template": template(), "minReplicas": 1}
    )
    after = revise(define(predictor, transformer), before, 2)
    assert [after["spec"][name]["minReplicas"] for name in ("predictor", "transformer")] == [1, 1]
    with pytest.raises(InterpretationError, match="predictor can change from 1; transformer can change from 1"):
        revise(define(predictor, transformer), before, 1)


def test_minimum_equal_to_default_is_written(define: Define) -> None:
    """Else a member keeps the larger share that it had."""
    main, prefill = (
        component(name, f".spec.{name}.template", min=f"[(.spec.{name}.minReplicas // 1), 1] | max")
        for name in ("main", "prefill")
    )
    before = obj(main={"template": template(), "minReplicas": 3}, prefill={"template": template()})
    after = revise(define(main, prefill), before, 2)
    assert [after["spec"][name].get("minReplicas") for name in ("main", "prefill")] == [1, 1]


def test_zero_is_a_number(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", ".spec.replicas // 1"))
    assert revise(definition, obj(template=template(), replicas=3), 0)["spec"]["replicas"] == 0


@rows(
    ("spec", "replicas", "words"),
    [
        pytest.param({"replicas": 3}, 0, "master stays at 1", id="below what is fixed"),
        pytest.param({"replicas": 1}, 5, "karta-interpreter.io/elastic", id="two pod sets of one: none is elastic"),
        pytest.param({"replicas": 3}, 0, "maxGroups 1 .* in one cluster, .* Duplicated .* every", id="the ways out"),
    ],
)
def test_impossible_numbers_are_explained(define: Define, spec: dict[str, Any], replicas: int, words: str) -> None:
    with pytest.raises(InterpretationError, match=words):
        revise(define(MASTER, WORKER), job({}, spec), replicas)


@rows(
    ("count", "spec", "reason"),
    [
        pytest.param("1", {}, "no field sets its count", id="a literal"),
        pytest.param(".spec.groups | map(.size * .hosts) | add", {"groups": [{"size": 2, "hosts": 2}]},
            "its count follows from spec.groups[].size, spec.groups[].hosts", id="a sum"),
        pytest.param(".spec.replicas * .spec.hosts", {"replicas": 2, "hosts": 0},
            "its count follows from spec.replicas, spec.hosts", id="a product with 0"),
        pytest.param(".spec | .a.b + .a.c + .a.d + .e + (.f.g // 0)", {"a": {"b": 1, "c": 1, "d": 1}, "e": 1},
            "its count follows from spec.a, spec.e, spec.f", id="more fields than a message names"),
        pytest.param(".status.pods // 0", {}, "its count follows from status.pods", id="a report of the members"),
    ],
)  # fmt: skip
def test_computed_count_is_refused_with_its_fields(
    define: Define, count: str, spec: dict[str, Any], reason: str
) -> None:
    definition = define(root=component("train", ".spec.template", count))
    with pytest.raises(InterpretationError) as raised:
        revise(definition, obj(template=template(), **spec), 9)
    assert f" ({reason}); Karmada can place" in str(raised.value), "elastic: naming it there would not help"


def test_constant_above_minimum_is_named(define: Define) -> None:
    definition = define(root=component("train", ".spec.template", "4", min=".spec.min"))
    reason = r"train stays at 4 \(no field sets its count\); Karmada can place"
    with pytest.raises(InterpretationError, match=reason):
        revise(definition, obj(template=template(), min=2), 6)


def test_lone_master_does_not_change_if_workers_are_elastic(define: Define) -> None:
    with pytest.raises(InterpretationError, match="master stays at 1"):
        revise(define(MASTER, WORKER, elastic="worker"), obj(master={"template": template()}), 2)


def test_object_without_pods_is_not_scalable(define: Define) -> None:
    with pytest.raises(
        InterpretationError, match=r"no pod template at spec\.master\.template, spec\.worker\.template; "
    ):
        revise(define(MASTER, WORKER), obj(), 2)


@rows("replicas", [None, -1, 2**31])
def test_number_that_no_workload_can_have_is_bad_request(define: Define, replicas: int | None) -> None:
    with pytest.raises(InterpretationError, match="from 0 up") as caught:
        ask(define(MASTER), Call(Operation.REVISE_REPLICA, obj(), replicas=replicas))
    assert caught.value.code == 400


def test_revision_does_not_ask_for_containers_that_operator_adds(define: Define) -> None:
    added = {"added-containers": "worker: '{containers: [.spec.proxy.name]}'"}
    definition = define(WORKER, **added)
    call = Call(Operation.REVISE_REPLICA, obj(proxy="no object", worker={"template": template()}), replicas=4)
    assert ask(definition, call)["revised"]["spec"]["worker"]["replicas"] == 4
