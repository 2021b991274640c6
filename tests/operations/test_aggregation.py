"""AggregateStatus: one status out of many."""

from typing import Any

import pytest

from interpreter.errors import InterpretationError
from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation, StatusItem, interpret
from tests.operations.conftest import Define, component

ROOT = component("train", ".spec.template", ".spec.replicas // 1")
MAPPINGS = {
    "running": [{"byConditions": [{"type": "Ready", "status": "True"}]}],
    "completed": [{"byConditions": [{"type": "Complete", "status": "True"}]}],
    "failed": [{"byConditions": [{"type": "Failed", "status": "True"}]}],
    "initializing": [{"byPhase": "Pending"}, {"byConditions": [{"type": "Progressing", "status": "True"}]}],
}
SUSPENSION = {
    "suspendActions": [{"path": ".spec.a", "value": "true"}, {"path": ".spec.b", "value": "true"}],
    "resumeActions": [{"path": ".spec.a", "value": "false"}, {"path": ".spec.b", "value": "false"}],
}


@pytest.fixture
def train(define: Define) -> Definition:
    return define(root=ROOT, mappings=MAPPINGS)


def template(status: dict[str, Any] | None = None, generation: int = 1) -> dict[str, Any]:
    metadata = {"name": "t", "generation": generation}
    obj = {"apiVersion": "example.io/v1", "kind": "Train", "metadata": metadata, "spec": {}}
    return obj if status is None else {**obj, "status": status}


def aggregate(definition: Definition, obj: dict[str, Any], *statuses: Any) -> dict[str, Any]:
    """Aggregate statuses of clusters a, b, c, ..."""
    items = tuple(StatusItem(chr(ord("a") + index), status) for index, status in enumerate(statuses))
    aggregated: dict[str, Any] = interpret(definition, Call(Operation.AGGREGATE_STATUS, obj, items=items))[
        "aggregatedStatus"
    ]
    backwards = interpret(definition, Call(Operation.AGGREGATE_STATUS, obj, items=items[::-1]))["aggregatedStatus"]
    assert backwards == aggregated, "the order in which clusters report does not matter"
    assert {**aggregated, "status": 0} == {**obj, "status": 0}, "only the status changes"
    return aggregated


def at(hour: str | None) -> dict[str, Any]:
    return {"startTime": f"2026-01-01T{hour}:00Z"} if hour else {}


def condition(type_: str, status: str, **more: str) -> dict[str, str]:
    return {"type": type_, "status": status, **more}


@pytest.mark.parametrize(
    "statuses",
    [
        pytest.param((), id="no cluster"),
        pytest.param((None, {}), id="clusters that have not reported"),
    ],
)
def test_without_reports_nothing_changes(train: Definition, statuses: tuple[Any, ...]) -> None:
    obj = template({"phase": "Pending"})
    assert aggregate(train, obj, *statuses) is obj


def test_a_lone_report_is_taken_as_it_is(train: Definition) -> None:
    status = {"phase": "Active", "active": 2, "conditions": [condition("Ready", "True", message="m")]}
    assert aggregate(train, template(), status)["status"] == status


def test_a_report_of_which_nothing_is_left_changes_nothing(define: Define) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=".status.phase: omit")
    for obj in (template(), template() | {"status": None}, template({})):
        assert aggregate(definition, obj, {"phase": "Pending"}) is obj


def test_many_conditions_are_merged_in_time(train: Definition) -> None:
    many = [{"conditions": [condition(f"Type{index}", "True") for index in range(1000)]} for _ in range(10)]
    assert len(aggregate(train, template(), *many)["status"]["conditions"]) == 1000


def test_large_lists_are_merged_in_time(train: Definition) -> None:
    """With every element compared to every other one this would take minutes."""
    nodes = [{"nodes": [{"id": f"{cluster}-{index}"} for index in range(1000)]} for cluster in range(26)]
    assert len(aggregate(train, template(), *nodes)["status"]["nodes"]) == 26_000


def test_the_status_of_a_member_belongs_to_the_generation_of_its_own_object(define: Define) -> None:
    current = {"expression": ".status.observedGeneration == .metadata.generation", "expectedResult": "true"}
    definition = define(root=ROOT, mappings={"running": [{"byExpression": current}]})
    behind, current_one = (
        {"phase": phase, "observedGeneration": observed, "generation": 2, "resourceTemplateGeneration": 7}
        for phase, observed in (("Behind", 1), ("Current", 2))
    )
    merged = aggregate(definition, template(generation=7), current_one, behind)
    assert merged["status"]["phase"] == "Behind", "the other one runs: of its own generations 2 is the present one"


def test_the_same_status_again_changes_nothing(train: Definition) -> None:
    obj = template({"active": 3})
    assert aggregate(train, obj, {"active": 1}, {"active": 2}) is obj


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        pytest.param([{"active": 2}, {"active": 3, "failed": 1}], {"active": 5, "failed": 1}, id="counters add up"),
        pytest.param(
            [{"most": 2147483647}, {"most": 5}],
            {"most": 2147483647},
            id="unlimited stays what an int32 field can hold",
        ),
        pytest.param([{"ready": True}, {"ready": True}], {"ready": True}, id="true when all say so"),
        pytest.param([{"ready": True}, {"ready": False}], {"ready": False}, id="one false is enough"),
        pytest.param([{"ready": True}, {"active": 1}], {"ready": False, "active": 1}, id="silence is not true"),
        pytest.param(
            [{"roles": {"w": {"active": 1}}}, {"roles": {"w": {"active": 2}, "m": {"active": 1}}}],
            {"roles": {"w": {"active": 3}, "m": {"active": 1}}},
            id="maps merge by key",
        ),
        pytest.param(
            [{"jobs": [{"name": "x", "ready": 1}]}, {"jobs": [{"name": "y", "ready": 1}, {"name": "x", "ready": 2}]}],
            {"jobs": [{"name": "x", "ready": 3}, {"name": "y", "ready": 1}]},
            id="named objects merge by name",
        ),
        pytest.param([{"ips": ["1", "2"]}, {"ips": ["2", "3"]}], {"ips": ["1", "2", "3"]}, id="lists without repeats"),
        pytest.param(
            [{"found": [{"a": 1, "b": 2}, True]}, {"found": [1, {"b": 2, "a": 1}, [1]]}],
            {"found": [{"a": 1, "b": 2}, True, 1, [1]]},
            id="objects with the same fields are repeats, true and 1 are none",
        ),
        pytest.param([{"note": "x"}, {"note": "x"}], {"note": "x"}, id="agreed text"),
        pytest.param(
            [{"phase": "Active", "conditions": [condition("Ready", "True")]}, {"phase": "Pending"}],
            {"phase": "Pending", "conditions": []},
            id="the worst cluster's phase; Ready is not true everywhere, and no cluster says it is false",
        ),
        pytest.param(
            [{"startTime": "2026-01-02T00:00:00Z"}, {"startTime": "2026-01-01T00:00:00Z"}],
            {"startTime": "2026-01-01T00:00:00Z"},
            id="started with the first",
        ),
        pytest.param(
            [{"completionTime": "2026-01-02T00:00:00Z"}, {"completionTime": "2026-01-03T00:00:00Z"}],
            {"completionTime": "2026-01-03T00:00:00Z"},
            id="completed with the last",
        ),
        pytest.param(
            [{"completionTime": "2026-01-02T00:00:00Z", "active": 0}, {"active": 1}],
            {"active": 1},
            id="not completed while one goes on",
        ),
        pytest.param([{"a": 1}, {"a": "x"}], {"a": 1}, id="unlike values: the worst, here the first, cluster's"),
        pytest.param([{"a": None}, {"a": 1}], {"a": 1}, id="null says nothing"),
    ],
)
def test_fields_are_merged_by_what_they_are(
    train: Definition, statuses: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert aggregate(train, template(), *statuses)["status"] == expected


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        pytest.param(
            [[condition("Failed", "True", reason="OOM", message="killed")], [condition("Failed", "False")]],
            [condition("Failed", "True", reason="OOM", message="a: killed")],
            id="one failure fails the whole, and its cluster is named",
        ),
        pytest.param(
            [[condition("Complete", "True", message="done")], [condition("Complete", "True", message="too")]],
            [condition("Complete", "True", message="a: done; b: too")],
            id="complete when all are",
        ),
        pytest.param(
            [[condition("Complete", "True")], [condition("Ready", "True")]],
            [condition("Ready", "True", message="b")],
            id="complete in one cluster, and unknown in another: the whole is not; but it runs",
        ),
        pytest.param(
            [[condition("Ready", "True")], [condition("Ready", "False", reason="Pulling", message="image")]],
            [condition("Ready", "False", reason="Pulling", message="b: image")],
            id="not ready while one is not",
        ),
        pytest.param(
            [[condition("Ready", "True")], [condition("Ready", "False"), condition("Complete", "True")]],
            [condition("Ready", "True", message="a")],
            id="a cluster that has completed does not keep the whole from running",
        ),
        pytest.param(
            [[condition("Ready", "True")], [condition("Ready", "Unknown")]],
            [condition("Ready", "Unknown", message="b")],
            id="unknown while one is",
        ),
        pytest.param(
            [[condition("Progressing", "False")], [condition("Progressing", "True")]],
            [condition("Progressing", "True", message="b")],
            id="what goes on in one cluster goes on",
        ),
        pytest.param(
            [[condition("ReplicaFailure", "True")], []],
            [condition("ReplicaFailure", "True", message="a")],
            id="a type that sounds like a failure and is not mapped: one is enough",
        ),
        pytest.param(
            [
                [condition("Ready", "True", lastTransitionTime="2026-01-01T00:00:00Z", observedGeneration="1")],
                [condition("Ready", "True", lastTransitionTime="2026-01-02T00:00:00Z", observedGeneration="7")],
            ],
            [condition("Ready", "True", message="a; b", lastTransitionTime="2026-01-02T00:00:00Z")],
            id="the latest transition; members' generations are dropped",
        ),
    ],
)
def test_conditions(train: Definition, clusters: list[list[dict[str, str]]], expected: list[dict[str, str]]) -> None:
    merged = aggregate(train, template(), *({"conditions": conditions} for conditions in clusters))
    assert merged["status"]["conditions"] == expected


def test_the_reason_is_that_of_the_cluster_that_is_worst_off(define: Define) -> None:
    starting = {"byConditions": [{"type": "Ready", "status": "False", "reason": "Pulling"}]}
    broken = {"byConditions": [{"type": "Ready", "status": "False", "reason": "NoEndpoint"}]}
    service = define(root=ROOT, mappings={"initializing": [starting], "degraded": [broken]})
    statuses = [{"conditions": [condition("Ready", "False", reason=reason)]} for reason in ("Pulling", "NoEndpoint")]
    merged = aggregate(service, template(), *statuses)["status"]["conditions"]
    assert merged == [condition("Ready", "False", reason="NoEndpoint", message="a; b")]


def test_a_silent_cluster_keeps_the_whole_from_being_complete(train: Definition) -> None:
    done = {"completionTime": "2026-01-01T00:00:00Z", "conditions": [condition("Complete", "True")], "succeeded": 2}
    assert aggregate(train, template(), done, None)["status"] == {"conditions": [], "succeeded": 2}


@pytest.mark.parametrize(
    ("generation", "members", "expected"),
    [
        pytest.param(3, [(5, 5, 3), (9, 9, 3)], 3, id="every member has caught up"),
        pytest.param(3, [(5, 5, 3), (9, 8, 3)], 2, id="a controller has not seen its object's last change"),
        pytest.param(3, [(5, 5, 3), (9, 9, 2)], 2, id="a member's object is made from an older template"),
        pytest.param(3, [(5, 5, 3), None], 2, id="a member has not reported"),
        pytest.param(3, [(5, "5", 3), (9, "9", 3)], "3", id="members write text, and so does their template"),
        pytest.param(3, [(5, "5", 3), (9, "8", 3)], 2, id="text is compared as a number"),
        pytest.param(3, [(5, "5d6f8", 3)], 2, id="a hash tells no generation"),
        pytest.param(3, [(1, True, 3)], 2, id="neither does a truth value"),
    ],
)
def test_observed_generation_is_the_templates(
    train: Definition, generation: int, members: list[Any], expected: int | str
) -> None:
    statuses = [
        member and {"generation": member[0], "observedGeneration": member[1], "resourceTemplateGeneration": member[2]}
        for member in members
    ]
    merged = aggregate(train, template({"observedGeneration": 2}, generation), *statuses)
    assert merged["status"] == {"observedGeneration": expected}


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        pytest.param(["08:00", "07:00"], "08:00", id="a cluster that started earlier reports later: it stays"),
        pytest.param(["09:00"], "08:00", id="the cluster that it was taken from is gone: it stays"),
        pytest.param([None], "08:00", id="all that had started is gone: it stays"),
    ],
)
def test_a_start_that_the_template_has_does_not_move(
    train: Definition, starts: list[str | None], expected: str
) -> None:
    merged = aggregate(train, template(at("08:00")), *({"active": 1, **at(hour)} for hour in starts))
    assert merged["status"] == {"active": len(starts), **at(expected)}


@pytest.mark.parametrize(
    ("spec", "start", "expected"),
    [
        pytest.param({"a": True, "b": True}, None, None, id="nothing is to run: it goes"),
        pytest.param({"a": True, "b": True}, "09:00", "09:00", id="what is left has started later"),
        pytest.param({"a": True, "b": False}, None, "08:00", id="only a part is suspended: it stays"),
        pytest.param({"a": True}, None, "08:00", id="a part does not say: it stays"),
        pytest.param({}, None, "08:00", id="nothing is suspended: it stays"),
    ],
)
def test_a_start_may_go_when_the_template_is_suspended(
    define: Define, spec: dict[str, bool], start: str | None, expected: str | None
) -> None:
    definition = define(root={**ROOT, "suspendDefinition": SUSPENSION}, mappings=MAPPINGS)
    merged = aggregate(definition, {**template(at("08:00")), "spec": spec}, {"active": 1, **at(start)})
    assert merged["status"] == {"active": 1, **at(expected)}


def test_an_end_is_not_before_the_start_that_stays(train: Definition) -> None:
    ended = at("07:00") | {"completionTime": "2026-01-01T07:30:00Z"}
    assert aggregate(train, template(at("08:00")), ended)["status"] == at("08:00") | {
        "completionTime": "2026-01-01T08:00:00Z"
    }


def test_a_members_generation_never_gets_into_a_template_without_one(train: Definition) -> None:
    assert aggregate(train, template(), {"observedGeneration": 7, "active": 1})["status"] == {"active": 1}


def test_the_annotation_decides_where_it_names_a_field(define: Define) -> None:
    rules = "{.status.cpu: sum, '.status.pools[].peak': max, .status.ready: any}"
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=rules)
    statuses = [
        {"cpu": "500m", "ready": False, "pools": [{"name": "p", "peak": 4}]},
        {"cpu": "1", "ready": True, "pools": [{"name": "p", "peak": 9}]},
    ]
    merged = aggregate(definition, template(), *statuses)["status"]
    assert merged == {"cpu": "1500m", "ready": True, "pools": [{"name": "p", "peak": 9}]}


def test_the_worst_cluster_speaks_where_the_annotation_says_so(define: Define) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate="{.status.container: worst, .status.pods: union}")
    running = {"container": {"running": {}}, "pods": {"t-0": "Running", "t-1": "Running"}}
    broken = {"container": {"waiting": {}}, "pods": {"t-0": "Pending", "t-2": "Pending"}}
    statuses = [
        {"conditions": [condition("Ready", "True")], **running},
        {"conditions": [condition("Failed", "True")], **broken},
        {"conditions": [condition("Failed", "True")]},
    ]
    merged = aggregate(definition, template(), *statuses)["status"]
    assert merged["container"] == {"waiting": {}}, "the worst of those that have one"
    assert merged["pods"] == {"t-0": "Pending", "t-1": "Running", "t-2": "Pending"}


@pytest.mark.parametrize(
    ("known", "reported", "expected"),
    [
        pytest.param({"n": {"failed": 5}}, [{"n": {"failed": 1}}, {}], {"n": {"failed": 5}}, id="it does not fall"),
        pytest.param(
            {"n": {"failed": 5}}, [{"n": {"failed": 4}}, {"n": {"failed": 4}}], {"n": {"failed": 8}}, id="a sum"
        ),
        pytest.param({"n": {"failed": 5}}, [{"active": 1}], {"n": {"failed": 5}, "active": 1}, id="absent is nothing"),
        pytest.param({"n": {"failed": 0}}, [{"active": 1}], {"n": {"failed": 0}, "active": 1}, id="a 0 does not go"),
        pytest.param({"n": {}}, [{"n": {"failed": 1}}], {"n": {"failed": 1}}, id="none was counted yet"),
        pytest.param(
            {"n": 7}, [{"n": {"failed": 1}}], {"n": {"failed": 1}}, id="the template has something else there"
        ),
        pytest.param({"n": {"failed": "5"}}, [{"n": {"failed": 1}}], {"n": {"failed": 1}}, id="it was no number"),
    ],
)
def test_a_counter(
    define: Define, known: dict[str, Any], reported: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=".status.n.failed: counter")
    assert aggregate(definition, template(known), *reported)["status"] == expected


def test_what_is_omitted_counts_for_the_cluster_and_not_for_the_template(define: Define) -> None:
    rules = "{.status.phase: omit, '.status.pools[].uid': omit, .status.none.such: omit}"
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=rules)
    pending = {"phase": "Pending", "word": "waits", "pools": [{"name": "p", "uid": "1"}]}
    ready = {"word": "works", "pools": [{"name": "p", "uid": "2"}], "conditions": [condition("Ready", "True")]}
    merged = aggregate(definition, template(), ready, pending)["status"]
    assert merged == {"word": "waits", "pools": [{"name": "p"}], "conditions": []}
    assert aggregate(definition, template(), pending)["status"] == {"word": "waits", "pools": [{"name": "p"}]}


def test_a_rule_that_does_not_fit_is_explained(define: Define) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate="{.status.cpu: sum}")
    with pytest.raises(InterpretationError, match=r"annotation aggregate, \.status\.cpu: a string is"):
        aggregate(definition, template(), {"cpu": "lots"}, {"cpu": "1"})


def test_a_status_that_is_no_object_is_the_callers_mistake(train: Definition) -> None:
    with pytest.raises(InterpretationError, match="cluster a must be an object") as caught:
        aggregate(train, template(), "fine")
    assert caught.value.code == 400
