"""AggregateStatus: one status out of many."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.aggregate import merge
from karta_interpreter.engine.operations.aggregate.member_status import MemberPart
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.engine.operations.conftest import Define, component
from tests.proofs.conformance import ours
from tests.proofs.conformance.customizations import Pair, difference
from tests.support.both_ways import ask
from tests.support.counting import calls
from tests.support.rows import rows

ROOT = component("train", ".spec.template", ".spec.replicas // 1")
MAPPINGS = {
    "running": [{"byConditions": [{"type": name, "status": "True"}]} for name in ("Ready", "Running")],
    "completed": [{"byConditions": [{"type": "Complete", "status": "True"}]}],
    "failed": [{"byConditions": [{"type": "Failed", "status": "True"}]}],
    "initializing": [{"byPhase": "Pending"}, {"byConditions": [{"type": "Progressing", "status": "True"}]}],
}
ENDING = MAPPINGS | {
    "completed": [{"byConditions": [{"type": name, "status": "True"}]} for name in ("Complete", "Met")]
}
OUTCOMES = "Complete: Met"
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


def aggregate(definition: Definition, obj: dict[str, Any], *statuses: Any) -> Any:
    """Aggregate statuses of clusters a, b, c, ..."""
    items = tuple(StatusItem(chr(ord("a") + index), status) for index, status in enumerate(statuses))
    aggregated = ask(definition, Call(Operation.AGGREGATE_STATUS, obj, items=items))["aggregatedStatus"]
    backwards = ask(definition, Call(Operation.AGGREGATE_STATUS, obj, items=items[::-1]))["aggregatedStatus"]
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
        pytest.param((None,), id="silence is no evidence that the pods are gone"),
        pytest.param((None, {}), id="clusters that have not reported"),
    ],
)
def test_without_reports_nothing_changes(train: Definition, statuses: tuple[Any, ...]) -> None:
    obj = template({"phase": "Pending", "active": 2})
    assert aggregate(train, obj, *statuses) is obj


@rows(
    ("known", "expected"),
    [
        pytest.param({"available": 2, "tpl": {"n": 3}}, {"available": 0}, id="nothing adds up to 0, details go"),
        pytest.param({"conditions": [condition("Ready", "True")]}, {"conditions": []}, id="no condition holds"),
        pytest.param({"phase": "Active", "ready": True}, {"ready": False}, id="no phase is known, nothing is true"),
        pytest.param({"cpu": "4", "least": 3}, {"cpu": "0", "least": 0}, id="quantities and least ones are 0, too"),
        pytest.param(at("08:00") | {"active": 1}, at("08:00") | {"active": 0}, id="a time in the past stays true"),
        pytest.param({"hash": "x"}, {"hash": "x"}, id="so does other text, which CRDs may require"),
        pytest.param({"restarts": 7}, {"restarts": 7}, id="a counter does not fall"),
        pytest.param({"restarts": "7k"}, {"restarts": "7k"}, id="nor does one that is a quantity"),
        pytest.param({"uid": "x"}, {"uid": "x"}, id="what members do not decide stays"),
        pytest.param({"pods": {"a": {"n": 1}}, "best": 4}, {}, id="what one cluster decides is gone with it"),
        pytest.param({"observedGeneration": 3, "n": 1}, {"observedGeneration": 3, "n": 0}, id="no member has seen it"),
        pytest.param({"active": 0}, {"active": 0}, id="again"),
        pytest.param({}, {}, id="nothing is known"),
    ],
)
def test_without_clusters_the_counters_are_zero(
    define: Define, known: dict[str, Any], expected: dict[str, Any]
) -> None:
    rules = (
        "{.status.cpu: sum, .status.least: min, .status.restarts: counter, .status.uid: omit, .status.pods: union,"
        " .status.best: first}"
    )
    serving = {name: matchers for name, matchers in MAPPINGS.items() if name != "completed"}
    definition = define(root=ROOT, mappings=serving, aggregate=rules)
    obj = template(known, generation=4)
    assert aggregate(definition, obj)["status"] == expected
    assert (aggregate(definition, obj) is obj) == (known == expected)


@rows(
    ("type_", "expected"),
    [
        pytest.param("Complete", True, id="a completed job has done its work wherever it was"),
        pytest.param("Failed", True, id="so has one that failed"),
        pytest.param("Ready", False, id="one that was to run does not"),
    ],
)
def test_ended_job_stays_ended_without_clusters(train: Definition, type_: str, expected: bool) -> None:
    obj = template({"active": 1, "conditions": [condition(type_, "True")]})
    assert (aggregate(train, obj) is obj) is expected


def test_failed_service_starts_anew_without_clusters(define: Define) -> None:
    definition = define(root=ROOT, mappings={"failed": MAPPINGS["failed"], "running": MAPPINGS["running"]})
    obj = template({"active": 1, "conditions": [condition("Failed", "True")]})
    assert aggregate(definition, obj)["status"] == {"active": 0, "conditions": []}


def test_template_without_status_stays_without_clusters(train: Definition) -> None:
    for obj in (template(generation=2), template() | {"status": None}, template({})):
        assert aggregate(train, obj) is obj


@rows(
    ("before", "reported", "is_written"),
    [
        pytest.param(True, 1, True, id="true is no number, though Python's True equals 1"),
        pytest.param(2**53, 2**53 + 1, True, id="numbers of 64 bits, which are one number as doubles"),
        pytest.param(1, 1.0, False, id="one number, written in two ways"),
    ],
)
def test_report_is_written_if_it_is_another_value(
    train: Definition, before: Any, reported: Any, is_written: bool
) -> None:
    obj = template({"revision": before})
    assert (aggregate(train, obj, {"revision": reported}) is not obj) is is_written


def test_lone_report_is_taken_as_it_is(train: Definition) -> None:
    status = {"phase": "Active", "active": 2, "conditions": [condition("Ready", "True", message="m")]}
    assert aggregate(train, template(), status)["status"] == status


def test_lone_report_loses_generations_of_its_cluster(train: Definition) -> None:
    """With the lower generation of a condition, `kubectl wait` on the template would never return."""
    ready = condition("Ready", "True", message="m")
    pools = [{"name": "a", "status": {"conditions": [ready]}}]
    known = {"conditions": [ready], "pools": pools}
    seen = {**ready, "observedGeneration": 3}
    status = {"conditions": [seen], "pools": [{"name": "a", "observedGeneration": 3, "status": {"conditions": [seen]}}]}
    assert aggregate(train, template(generation=5), status)["status"] == known


@rows(
    ("unseen", "is_silent"),
    [
        pytest.param({"observedGeneration": -1}, True, id="the status by which a CRD defaults that of a new object"),
        pytest.param({"observedGeneration": 0, "generation": 2}, True, id="with what InterpretStatus adds"),
        pytest.param({"observedGeneration": "a1b2"}, True, id="a hash is of no generation"),
        pytest.param({"observedGeneration": 1}, False, id="the controller has seen it"),
        pytest.param({"observedGeneration": -1, "conditions": []}, False, id="the controller has written something"),
    ],
)
def test_unobserved_status_counts_as_none(train: Definition, unseen: dict[str, Any], *, is_silent: bool) -> None:
    ready = {"observedGeneration": 2, "phase": "Active", "conditions": [condition("Ready", "True")]}
    merged, silent = (aggregate(train, template(), ready, other)["status"] for other in (unseen, None))
    assert (merged == silent) is is_silent


def test_phase_and_reason_come_from_one_cluster(train: Definition) -> None:
    """Of two that are equally badly off it is the first by name."""
    reports = [{"phase": name, "conditions": [condition("Failed", "True", reason=name)]} for name in ("Zeta", "Alpha")]
    merged = aggregate(train, template(), *reports)["status"]
    assert (merged["phase"], merged["conditions"][0]["reason"]) == ("Zeta", "Zeta")


def test_report_with_nothing_left_changes_nothing(define: Define) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=".status.phase: omit")
    for obj in (template(), template() | {"status": None}, template({})):
        assert aggregate(definition, obj, {"phase": "Pending"}) is obj


@pytest.mark.slow
def test_many_conditions_are_merged_in_time(train: Definition) -> None:
    many = [{"conditions": [condition(f"Type{index}", "True") for index in range(1000)]} for _ in range(10)]
    assert len(aggregate(train, template(), *many)["status"]["conditions"]) == 1000


@pytest.mark.slow
def test_large_lists_are_merged_in_time(train: Definition) -> None:
    """With every element compared to every other one this would take minutes."""
    nodes = [{"nodes": [{"id": f"{cluster}-{index}"} for index in range(1000)]} for cluster in range(26)]
    assert len(aggregate(train, template(), *nodes)["status"]["nodes"]) == 26_000


def test_member_status_is_matched_with_generation_of_its_object(define: Define) -> None:
    current = {"expression": ".status.observedGeneration == .metadata.generation", "expectedResult": "true"}
    definition = define(root=ROOT, mappings={"running": [{"byExpression": current}]})
    behind, current_one = (
        {"phase": phase, "observedGeneration": observed, "generation": 2, "resourceTemplateGeneration": 7}
        for phase, observed in (("Behind", 1), ("Current", 2))
    )
    merged = aggregate(definition, template(generation=7), current_one, behind)
    assert merged["status"]["phase"] == "Behind", "the other one runs: of its own generations 2 is the present one"


def test_member_status_is_not_matched_with_generation_of_template(define: Define) -> None:
    behind = {"expression": ".status.seen < .metadata.generation", "expectedResult": "true"}
    mappings = {"degraded": [{"byExpression": behind}], "running": [{"byPhase": "Active"}]}
    definition = define(root=ROOT, mappings=mappings | {"initializing": [{"byPhase": "Pending"}]})
    current, waiting = {"phase": "Active", "seen": 2}, {"phase": "Pending", "seen": 9}
    merged = aggregate(definition, template(generation=7), current, waiting)
    assert merged["status"]["phase"] == "Pending", "the other one is not behind: its object may have generation 2"


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(lambda number: {f"field{number}": number}, id="numbers"),
        pytest.param(lambda number: {"nodes": {f"node{number}": {"pods": 1}}}, id="keys of a map"),
        pytest.param(lambda number: {"conditions": [condition(f"Type{number}", "True")]}, id="conditions"),
    ],
)
def test_work_does_not_grow_with_missing_fields(
    train: Definition, monkeypatch: pytest.MonkeyPatch, status: Callable[[int], Any]
) -> None:
    made: list[MemberPart] = []

    def make(*fields: Any) -> MemberPart:
        made.append(MemberPart(*fields))
        return made[-1]

    monkeypatch.setattr(merge, "MemberPart", make)

    def work(clusters: int) -> int:
        made.clear()
        interpret(train, Call(Operation.AGGREGATE_STATUS, template(), items=items(clusters)))
        return len(made)

    def items(clusters: int) -> tuple[StatusItem, ...]:
        return tuple(StatusItem(f"c{number}", status(number)) for number in range(clusters))

    assert work(80) < 5 * work(20), "16 times as much would be by clusters and by fields"


def test_same_status_returns_same_object(train: Definition) -> None:
    obj = template({"active": 3})
    assert aggregate(train, obj, {"active": 1}, {"active": 2}) is obj


def test_status_that_differs_only_in_types_changes(train: Definition) -> None:
    merged = aggregate(train, template({"ready": 1, "parts": [False]}), {"ready": True, "parts": [0]})["status"]
    assert [type(value) for value in (merged["ready"], *merged["parts"])] == [bool, int]


@rows(
    ("statuses", "expected"),
    [
        pytest.param([{"active": 2}, {"active": 3, "failed": 1}], {"active": 5, "failed": 1}, id="counters add up"),
        pytest.param([{"most": 2147483647}, {"most": 5}], {"most": 2147483647},
            id="unlimited stays what an int32 field can hold"),
        pytest.param([{"ready": True}, {"ready": True}], {"ready": True}, id="true when all say so"),
        pytest.param([{"ready": True}, {"ready": False}], {"ready": False}, id="one false is enough"),
        pytest.param([{"ready": True}, {"active": 1}], {"ready": False, "active": 1}, id="silence is not true"),
        pytest.param([{"roles": {"w": {"active": 1}}}, {"roles": {"w": {"active": 2}, "m": {"active": 1}}}],
            {"roles": {"w": {"active": 3}, "m": {"active": 1}}}, id="maps merge by key"),
        pytest.param([{"jobs": [{"name": "x", "ready": 1}]},
            {"jobs": [{"name": "y", "ready": 1}, {"name": "x", "ready": 2}]}],
            {"jobs": [{"name": "x", "ready": 3}, {"name": "y", "ready": 1}]}, id="named objects merge by name"),
        pytest.param([{"ips": ["1", "2"]}, {"ips": ["2", "3"]}], {"ips": ["1", "2", "3"]}, id="lists without repeats"),
        pytest.param([{"found": [{"a": 1, "b": 2}, True]}, {"found": [1, {"b": 2, "a": 1}, [1]]}],
            {"found": [{"a": 1, "b": 2}, True, 1, [1]]},
            id="objects with the same fields are repeats, true and 1 are none"),
        pytest.param([{"note": "x"}, {"note": "x"}], {"note": "x"}, id="agreed text"),
        pytest.param([{"phase": "Active", "conditions": [condition("Ready", "True")]}, {"phase": "Pending"}],
            {"phase": "Pending", "conditions": []},
            id="the worst cluster's phase; Ready is not true everywhere, and no cluster says it is false"),
        pytest.param([{"startTime": "2026-01-02T00:00:00Z"}, {"startTime": "2026-01-01T00:00:00Z"}],
            {"startTime": "2026-01-01T00:00:00Z"}, id="started with the first"),
        pytest.param([{"completionTime": "2026-01-02T00:00:00Z"}, {"completionTime": "2026-01-03T00:00:00Z"}],
            {"completionTime": "2026-01-03T00:00:00Z"}, id="completed with the last"),
        pytest.param([{"completionTime": "2026-01-02T00:00:00Z", "active": 0}, {"active": 1}], {"active": 1},
            id="not completed while one goes on"),
        pytest.param([{"phase": "Done", "result": "Bad"}, {"phase": "Broken", "note": "z"}],
            {"phase": "Done", "result": "Bad"},
            id="of equally bad ones the first has all the text: done would be something else without its result"),
        pytest.param([{"a": 1}, {"a": "x"}], {"a": 1}, id="unlike values: the worst, here the first, cluster's"),
        pytest.param([{"a": None}, {"a": 1}], {"a": 1}, id="null says nothing"),
        pytest.param([{"conditions": [condition("Complete", "True")], "job": {"state": "FINISHED", "vertices": 4}},
            {"phase": "Pending"}], {"conditions": [], "job": {"vertices": 4}, "phase": "Pending"},
            id="an object that the worst cluster lacks has no text: nothing says that its job is finished"),
        pytest.param([{"phase": "Pending", "job": {"over": True, "endTime": "2026-01-01T00:00:00Z"}},
            {"phase": "Pending"}], {"phase": "Pending", "job": {"over": False}}, id="nor is it over there"),
        pytest.param([{"first": {"ok": True}}, {"second": {"done": {}}}],
            {"first": {"ok": False}, "second": {"done": {}}},
            id="a status is no map, even of objects alone: a field of one cluster does not hold everywhere"),
        pytest.param([{"nodes": {"b-1": {"ok": False}}},
            {"phase": "Pending", "nodes": {"a-1": {"phase": "Done", "ok": True}}}],
            {"nodes": {"a-1": {"phase": "Done", "ok": True}, "b-1": {"ok": False}}},
            id="a map of objects holds what each cluster has of its own; the worst one has no phase"),
    ],
)  # fmt: skip
def test_fields_are_merged_by_what_they_are(
    train: Definition, statuses: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert aggregate(train, template(), *statuses)["status"] == expected


def test_false_and_zero_are_unlike_values(train: Definition) -> None:
    runs, failed = ({"conditions": [condition(type_, "True")]} for type_ in ("Ready", "Failed"))
    merged = aggregate(train, template(), {**runs, "a": 0}, {**failed, "a": False})["status"]
    assert merged["a"] is False, "that of the worst cluster"


@rows(
    ("clusters", "expected"),
    [
        pytest.param([[condition("Failed", "True", reason="OOM", message="killed")], [condition("Failed", "False")]],
            [condition("Failed", "True", reason="OOM", message="a: killed")],
            id="one failure fails the whole, and its cluster is named"),
        pytest.param([[condition("Complete", "True", message="done")], [condition("Complete", "True", message="too")]],
            [condition("Complete", "True", message="a: done; b: too")], id="complete when all are"),
        pytest.param([[condition("Complete", "True")], [condition("Ready", "True")]],
            [condition("Ready", "True", message="b")],
            id="complete in one cluster, and unknown in another: the whole is not; but it runs"),
        pytest.param([[condition("Ready", "True")], [condition("Ready", "False", reason="Pulling", message="image")]],
            [condition("Ready", "False", reason="Pulling", message="b: image")], id="not ready while one is not"),
        pytest.param([[condition("Ready", "True")], [condition("Ready", "False"), condition("Complete", "True")]],
            [condition("Ready", "True", message="a")],
            id="a cluster that has completed does not keep the whole from running"),
        pytest.param([[condition("Ready", "True")], [condition("Ready", "Unknown")]],
            [condition("Ready", "Unknown", message="b")], id="unknown while one is"),
        pytest.param([[condition("Progressing", "False")], [condition("Progressing", "True")]],
            [condition("Progressing", "True", message="b")], id="what goes on in one cluster goes on"),
        pytest.param([[condition("ReplicaFailure", "True")], []], [condition("ReplicaFailure", "True", message="a")],
            id="a type that sounds like a failure and is not mapped: one is enough"),
        pytest.param([[condition("Ready", "True", lastTransitionTime="2026-01-01T00:00:00Z", observedGeneration="1")],
            [condition("Ready", "True", lastTransitionTime="2026-01-02T00:00:00Z", observedGeneration="7")]],
            [condition("Ready", "True", message="a; b", lastTransitionTime="2026-01-02T00:00:00Z")],
            id="the latest transition; members' generations are dropped"),
        pytest.param([[None, condition("Ready", "True")], [condition("Ready", "True"), None]],
            [condition("Ready", "True", message="a; b")], id="null is not a condition"),
        pytest.param([[condition("Running", "True")], [condition("Running", "True")], [condition("Created", "True")]],
            [condition("Running", "True", message="a; b")],
            id="a job runs while one of its clusters does, and Created is not true everywhere"),
        pytest.param([[condition("Running", "True")], [condition("Running", "False"), condition("Complete", "True")]],
            [condition("Running", "True", message="a")], id="what has completed does not count"),
        pytest.param([[condition("Running", "True")], [condition("Running", "False")]],
            [condition("Running", "True", message="a")], id="nor does a part that is suspended"),
        pytest.param([[condition("Running", "True")], [condition("Running", "False"), condition("Failed", "True")]],
            [condition("Running", "False", message="b"), condition("Failed", "True", message="b")],
            id="a job that has failed does not run"),
        pytest.param([[condition("Ready", "True") | {"message": ["x"]}],
            [condition("Ready", "True", message="ready")]], [condition("Ready", "True", message="a; b: ready")],
            id="a message that is not a text is none"),
    ],
)  # fmt: skip
def test_conditions(train: Definition, clusters: list[list[dict[str, Any]]], expected: list[dict[str, str]]) -> None:
    merged = aggregate(train, template(), *({"conditions": conditions} for conditions in clusters))
    assert merged["status"]["conditions"] == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([], "True", id="it is only written where it is true"),
        pytest.param([condition("Paused", "False")], "True", id="or is not in another one"),
    ],
)
def test_any_condition_holds_if_it_holds_somewhere(define: Define, others: list[dict[str, str]], expected: str) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate='.status.conditions["Paused"]: any')
    conditions = [[condition("Ready", "True"), condition("Paused", "True")], [condition("Ready", "True"), *others]]
    merged = aggregate(definition, template(), *({"conditions": each} for each in conditions))["status"]["conditions"]
    assert merged == [condition("Ready", "True", message="a; b"), condition("Paused", expected, message="a")]


def test_condition_reason_comes_from_worst_cluster(define: Define) -> None:
    starting = {"byConditions": [{"type": "Ready", "status": "False", "reason": "Pulling"}]}
    broken = {"byConditions": [{"type": "Ready", "status": "False", "reason": "NoEndpoint"}]}
    service = define(root=ROOT, mappings={"initializing": [starting], "degraded": [broken]})
    statuses = [{"conditions": [condition("Ready", "False", reason=reason)]} for reason in ("Pulling", "NoEndpoint")]
    merged = aggregate(service, template(), *statuses)["status"]["conditions"]
    assert merged == [condition("Ready", "False", reason="NoEndpoint", message="a; b")]


@rows(
    ("annotations", "expected"),
    [
        pytest.param({}, "Pending", id="a start goes before what runs"),
        pytest.param({"healthy-statuses": "Initializing"}, "Up", id="what is not healthy goes before what is"),
        pytest.param(
            {"healthy-statuses": "Initializing", "health": "true"}, "Up", id="also beside the annotation health"
        ),
    ],
)
def test_healthy_statuses_order_statuses(define: Define, annotations: dict[str, str], expected: str) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, **annotations)
    statuses = [{"phase": "Pending"}, {"phase": "Up", "conditions": [condition("Ready", "True")]}]
    assert aggregate(definition, template(), *statuses)["status"]["phase"] == expected


def test_silent_cluster_prevents_completion(train: Definition) -> None:
    done = {"completionTime": "2026-01-01T00:00:00Z", "conditions": [condition("Complete", "True")], "succeeded": 2}
    assert aggregate(train, template(), done, None)["status"] == {"conditions": [], "succeeded": 2}


@rows(
    ("statuses", "expected"),
    [
        pytest.param([{"conditions": [condition("Complete", "True")]}, {"conditions": [condition("Ready", "True")]},
            None], {"conditions": [condition("Ready", "True", message="b")]},
            id="what runs keeps the whole from being complete, silence adds nothing"),
        pytest.param([{"conditions": [condition("Complete", "True")], "phase": "Done"}, {"phase": "Pending"}, None],
            {"conditions": [], "phase": "Pending"}, id="the worst cluster's phase is that of one that reports"),
        pytest.param([{"conditions": [condition("Complete", "True"), condition("Created", "True")], "phase": "Done"},
            None], {"conditions": [condition("Created", "True", message="a")]},
            id="only what may say that it has completed is left out"),
        pytest.param([{"conditions": [condition("Complete", "True"), condition("Running", "False")]}, None],
            {"conditions": [condition("Running", "False", message="a")]}, id="what has completed does not run"),
        pytest.param([{"conditions": [condition("Ready", "True")], "phase": "Active"}, None],
            {"conditions": [condition("Ready", "True")], "phase": "Active"}, id="nothing has completed"),
    ],
)  # fmt: skip
def test_silence_forbids_completion_and_nothing_else(
    train: Definition, statuses: list[Any], expected: dict[str, Any]
) -> None:
    assert aggregate(train, template(), *statuses)["status"] == expected


def test_silence_counts_for_all_conditions_where_an_expression_tells_completion(define: Define) -> None:
    expression = {"expression": 'any(.status.conditions[]; .type == "Over")', "expectedResult": "true"}
    definition = define(root=ROOT, mappings={"completed": [{"byExpression": expression}]})
    assert aggregate(definition, template(), {"conditions": [condition("Over", "True")]}, None)["status"] == {
        "conditions": []
    }


REVISIONS = ("currentRevision", "updateRevision", "currentReplicas", "updatedReplicas")


@rows(
    ("members", "expected"),
    [
        pytest.param([("b", "b", 3, 3), ("a", "b", 2, 1)], ("a", "b", 2, 4), id="one is done, one goes from a to b"),
        pytest.param([("a", "b", 2, 1), ("b", "b", 3, 3)], ("a", "b", 2, 4), id="the same in another order"),
        pytest.param([("a", "b", 2, 1), ("a", "b", 1, 2)], ("a", "b", 3, 3), id="both go from a to b"),
        pytest.param([("b", "b", 3, 3), ("b", "b", 1, 1)], ("b", "b", 4, 4), id="both are done"),
        pytest.param([("b", "c", 4, 1), ("a", "c", 2, 1)], ("a", "c", 2, 2), id="from two revisions: one of them"),
        pytest.param([("b", "b", 3, 3), (None, None, 0, 0)], (None, None, 3, 3), id="the worst has none yet"),
    ],
)
def test_rollout_goes_on_while_one_cluster_rolls(
    train: Definition, members: list[tuple[Any, ...]], expected: tuple[Any, ...]
) -> None:
    ready = {"conditions": [condition("Ready", "True")]}
    statuses = [
        {name: value for name, value in zip(REVISIONS, member, strict=True) if value is not None}
        | (ready if member[0] else {"phase": "Pending"})
        for member in members
    ]
    merged = aggregate(train, template(), *statuses)["status"]
    assert tuple(merged.get(name) for name in REVISIONS) == expected


@rows(
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
        pytest.param(1, [(True, 5, True)], 2, id="nor one in the place of the other generations"),
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


@rows(
    ("starts", "expected"),
    [
        pytest.param(["08:00", "07:00"], "08:00", id="a cluster that started earlier reports later: it stays"),
        pytest.param(["09:00"], "08:00", id="the cluster that it was taken from is gone: it stays"),
        pytest.param([None], "08:00", id="all that had started is gone: it stays"),
    ],
)
def test_start_of_batch_job_does_not_move(define: Define, starts: list[str | None], expected: str) -> None:
    definition = define(root=ROOT, mappings=ENDING, outcomes=OUTCOMES)
    merged = aggregate(definition, template(at("08:00")), *({"active": 1, **at(hour)} for hour in starts))
    assert merged["status"] == {"active": len(starts), **at(expected)}


@rows(
    ("starts", "expected"),
    [
        pytest.param(["09:00"], "09:00", id="tried again, or moved to another cluster"),
        pytest.param(["10:00", "09:00"], "09:00", id="the earliest of those that report"),
        pytest.param([None], None, id="not started yet"),
    ],
)
def test_any_other_start_is_what_clusters_report(
    train: Definition, starts: list[str | None], expected: str | None
) -> None:
    merged = aggregate(train, template(at("08:00")), *({"active": 1, **at(hour)} for hour in starts))
    assert merged["status"] == {"active": len(starts), **at(expected)}


@rows(
    ("spec", "start", "expected"),
    [
        pytest.param({"a": True, "b": True}, None, None, id="nothing is to run: it goes"),
        pytest.param({"a": True, "b": True}, "09:00", "09:00", id="what is left has started later"),
        pytest.param({"a": True, "b": False}, None, "08:00", id="only a part is suspended: it stays"),
        pytest.param({"a": True}, None, "08:00", id="a part does not say: it stays"),
        pytest.param({}, None, "08:00", id="nothing is suspended: it stays"),
    ],
)
def test_start_goes_if_template_is_suspended(
    define: Define, spec: dict[str, bool], start: str | None, expected: str | None
) -> None:
    root = {**ROOT, "suspendDefinition": SUSPENSION}
    definition = define(root=root, mappings=ENDING, outcomes=OUTCOMES)
    merged = aggregate(definition, {**template(at("08:00")), "spec": spec}, {"active": 1, **at(start)})
    assert merged["status"] == {"active": 1, **at(expected)}


def test_end_is_not_before_kept_start(define: Define) -> None:
    definition = define(root=ROOT, mappings=ENDING, outcomes=OUTCOMES)
    ends = [condition("Met", "True"), condition("Complete", "True")]
    ended = at("07:00") | {"completionTime": "2026-01-01T07:30:00Z", "conditions": ends}
    assert aggregate(definition, template(at("08:00")), ended)["status"] == at("08:00") | {
        "completionTime": "2026-01-01T08:00:00Z",
        "conditions": ends,
    }


def test_generation_of_member_is_not_written_without_template_generation(train: Definition) -> None:
    assert aggregate(train, template(), {"observedGeneration": 7, "active": 1})["status"] == {"active": 1}


def test_aggregate_annotation_decides_for_its_fields(define: Define) -> None:
    rules = "{.status.cpu: sum, '.status.pools[].peak': max, .status.ready: any}"
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=rules)
    statuses = [
        {"cpu": "500m", "ready": False, "pools": [{"name": "p", "peak": 4}]},
        {"cpu": "1", "ready": True, "pools": [{"name": "p", "peak": 9}]},
    ]
    merged = aggregate(definition, template(), *statuses)["status"]
    assert merged == {"cpu": "1500m", "ready": True, "pools": [{"name": "p", "peak": 9}]}


def test_worst_and_union_take_worst_cluster_first(define: Define) -> None:
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


@rows(
    ("known", "reported", "expected"),
    [
        pytest.param({"n": {"failed": 5}}, [{"n": {"failed": 1}}, {}], {"n": {"failed": 5}}, id="it does not fall"),
        pytest.param({"n": {"failed": 5}}, [{"n": {"failed": 4}}, {"n": {"failed": 4}}], {"n": {"failed": 8}},
            id="a sum"),
        pytest.param({"n": {"failed": 5}}, [{"active": 1}], {"n": {"failed": 5}, "active": 1}, id="absent is nothing"),
        pytest.param({"n": {"failed": 0}}, [{"active": 1}], {"n": {"failed": 0}, "active": 1}, id="a 0 does not go"),
        pytest.param({"n": {}}, [{"n": {"failed": 1}}], {"n": {"failed": 1}}, id="none was counted yet"),
        pytest.param({"n": 7}, [{"n": {"failed": 1}}], {"n": {"failed": 1}},
            id="the template has something else there"),
        pytest.param({"n": {"failed": "5"}}, [{"n": {"failed": 1}}], {"n": {"failed": 1}}, id="it was no number"),
        pytest.param({"n": {"failed": "5Gi"}}, [{"n": {"failed": "900Mi"}}, {"n": {"failed": "1Gi"}}],
            {"n": {"failed": "5Gi"}}, id="nor does a quantity fall"),
        pytest.param({"n": {"failed": "5k"}}, [{"n": {"failed": "6k"}}], {"n": {"failed": "6k"}}, id="one that rises"),
        pytest.param({"n": {"failed": "5"}}, [{"n": {"failed": ""}}], {"n": {"failed": "5"}}, id="empty is nothing"),
        pytest.param({"n": {"failed": "x"}}, [{"n": {"failed": "1"}}], {"n": {"failed": "1"}}, id="it was no quantity"),
    ],
)  # fmt: skip
def test_counter_does_not_fall(
    define: Define, known: dict[str, Any], reported: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=".status.n.failed: counter")
    assert aggregate(definition, template(known), *reported)["status"] == expected


def test_omitted_generation_counts_for_the_cluster_and_not_for_the_template(define: Define) -> None:
    rules = "{.status.phase: omit, '.status.pools[].uid': omit, .status.none.such: omit}"
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=rules)
    pending = {"phase": "Pending", "word": "waits", "pools": [{"name": "p", "uid": "1"}]}
    ready = {"word": "works", "pools": [{"name": "p", "uid": "2"}], "conditions": [condition("Ready", "True")]}
    merged = aggregate(definition, template(), ready, pending)["status"]
    assert merged == {"word": "waits", "pools": [{"name": "p"}], "conditions": []}
    assert aggregate(definition, template(), pending)["status"] == {"word": "waits", "pools": [{"name": "p"}]}


@rows(
    ("known", "expected"),
    [
        pytest.param({"left": {"n": 0}}, {"left": {"n": 0}}, id="a 0 that may not go"),
        pytest.param({"left": {"n": 2, "m": 1}}, {"left": {"n": 2}}, id="nothing beside it"),
        pytest.param({"left": {}}, {}, id="the template has none"),
        pytest.param({"gone": 3}, {}, id="what is dropped goes, also when the template has it"),
        pytest.param({"pools": [{"uid": "1"}]}, {}, id="elements of lists are not matched"),
    ],
)
def test_omitted_field_stays_as_the_template_has_it(
    define: Define, known: dict[str, Any], expected: dict[str, Any]
) -> None:
    rules = "{.status.left.n: omit, .status.gone: drop, '.status.pools[].uid': omit}"
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate=rules)
    merged = aggregate(definition, template(known), {"active": 1, "left": {"n": 9}, "gone": 9})["status"]
    assert {**merged, "left": merged["left"] or None} == {"active": 1, "left": None} | expected


def test_rule_that_does_not_fit_names_its_field(define: Define) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS, aggregate="{.status.cpu: sum}")
    with pytest.raises(InterpretationError, match=r"annotation aggregate, \.status\.cpu: a string is"):
        aggregate(definition, template(), {"cpu": "lots"}, {"cpu": "many"})


def test_status_that_cannot_be_matched_is_error_only_where_clusters_are_compared(define: Define) -> None:
    rule = {"byExpression": {"expression": ".status.n + 1", "expectedResult": "2"}}
    definition = define(root=ROOT, mappings={"running": [rule]})
    assert aggregate(definition, template(), {"n": "one"})["status"] == {"n": "one"}
    with pytest.raises(InterpretationError, match=r"\.status\.n \+ 1"):
        aggregate(definition, template(), {"n": "one"}, {"n": "one"})


def test_status_of_wrong_type_is_bad_request(train: Definition) -> None:
    with pytest.raises(InterpretationError, match="cluster a must be an object") as caught:
        aggregate(train, template(), "fine")
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("paused", "counter"),
    [
        pytest.param(True, 3, id="completed by the rule about the spec: the outcome stays"),
        pytest.param(False, 0, id="not completed"),
    ],
)
def test_without_clusters_an_outcome_may_depend_on_the_spec(define: Define, *, paused: bool, counter: int) -> None:
    rule = {"byExpression": {"expression": ".spec.paused // false", "expectedResult": "true"}}
    definition = define(root=ROOT, mappings=MAPPINGS | {"completed": [rule]})
    subject = {**template({"succeeded": 3}), "spec": {"paused": paused}}
    assert aggregate(definition, subject)["status"] == {"succeeded": counter}


@rows(
    ("rules", "expected"),
    [
        pytest.param("{.status.a: drop, .status.a.b: drop}", {"c": [{"d": 1, "e": 2}]}, id="a field and one below it"),
        pytest.param("{.status.a.b: drop, .status.a: drop}", {"c": [{"d": 1, "e": 2}]}, id="the other way round"),
        pytest.param("{'.status.c[]': drop, '.status.c[].d': drop}", {"a": {"b": 1, "x": 2}, "c": [{"e": 2}]},
            id="a list keeps its elements"),
        pytest.param("{.status.c.d: drop, '.status.a[].b': drop, .status.a.x.y: drop}",
            {"a": {"b": 1, "x": 2}, "c": [{"d": 1, "e": 2}]}, id="values of other types have nothing to be removed"),
    ],
)  # fmt: skip
def test_several_rules_remove_their_fields(define: Define, rules: str, expected: dict[str, Any]) -> None:
    definition = define(root=ROOT, aggregate=rules)
    status = {"a": {"b": 1, "x": 2}, "c": [{"d": 1, "e": 2}]}
    assert aggregate(definition, template(), status)["status"] == expected


def test_single_walk_removes_fields_of_all_rules(define: Define) -> None:
    elements = 50
    statuses = [{"pools": [{"name": f"p{number}", "n": 1} for number in range(elements)]}] * 2
    items = tuple(StatusItem(f"m{index}", status) for index, status in enumerate(statuses))

    def work(rules: int) -> int:
        written = ", ".join(f"'.status.pools[].f{number}': drop" for number in range(rules))
        definition = define(root=ROOT, aggregate=f"{{{written}}}")
        call = Call(Operation.AGGREGATE_STATUS, template(), items=items)
        interpret(definition, call)  # compiles the expressions
        return calls(lambda: interpret(definition, call))

    assert work(40) - work(20) < 20 * elements, "rules and elements add up, and do not multiply"


PRESENT = MAPPINGS | {
    "running": [{"byConditions": [{"type": "Synced"}]}],
    "completed": [{"byConditions": [{"type": "Done"}]}],
    "failed": [{"byConditions": [{"type": "SyncError"}]}],
    "initializing": [{"byConditions": [{"type": "Waiting"}]}],
}
_SYNCED, _DONE, _WAITING, _WARNING = ({"type": name} for name in ("Synced", "Done", "Waiting", "SharedWarning"))
_LOST, _DENIED = ({"type": "SyncError", "message": message} for message in ("lost", "denied"))


@rows(
    ("lists", "expected"),
    [
        pytest.param([[_SYNCED], [_SYNCED]], [_SYNCED], id="in every cluster"),
        pytest.param([[_SYNCED], []], [], id="a good one that a cluster lacks"),
        pytest.param([[_SYNCED], None], [_SYNCED], id="a cluster that reports nothing does not count"),
        pytest.param([[_DONE], None], [], id="but the work may not be done there"),
        pytest.param([[_SYNCED], [_DONE]], [_SYNCED], id="what is done runs no more"),
        pytest.param([[_LOST], []], [_LOST], id="a bad one of one cluster"),
        pytest.param([[_LOST], [_DENIED, _LOST]], [_LOST, _DENIED], id="each message once, several of a type"),
        pytest.param([[_WAITING], [_SYNCED]], [_WAITING], id="waiting holds as soon as it does somewhere"),
        pytest.param([[_WARNING], []], [_WARNING], id="a message that is not mapped"),
        pytest.param([[_WARNING, _SYNCED], [{"message": "odd"}]], [_WARNING, {"message": "odd"}], id="no type"),
    ],
)
def test_conditions_without_a_status_hold_while_they_are_there(
    define: Define, lists: list[Any], expected: list[Any]
) -> None:
    field = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "conditionsDefinition")
    manifest = define(root=ROOT, mappings=PRESENT).manifest
    definition = load_definition(edit.set_value(manifest, (*field, "statusFieldName"), ""))
    assert definition.findings == ()
    statuses = [conditions if conditions is None else {"conditions": conditions, "n": 1} for conditions in lists]
    found = aggregate(definition, template(), *statuses)["status"]["conditions"]
    assert found == expected

    script = Script("AggregateStatus", script_of(definition, Operation.AGGREGATE_STATUS), "train")
    items = tuple(StatusItem(name, status) for name, status in zip("abc", statuses, strict=False))
    call = Call(Operation.AGGREGATE_STATUS, template(), items=items)
    pair = Pair(definition, Operation.AGGREGATE_STATUS, script, [])
    assert difference(pair, call, ours.ask(pair.question(call))) == ""


@rows(
    ("known", "statuses", "expected"),
    [
        pytest.param({"driver": {"pod": "p"}, "state": "Up", "n": 2}, (), {"driver": {}, "state": "Unknown", "n": 0},
            id="without clusters"),
        pytest.param(None, ({"driver": {"pod": "p"}, "state": "Up"},), {"driver": {"pod": "p"}, "state": "Up"},
                     id="what a cluster gives stays"),
        pytest.param(None, ({"state": "Up"},), {"driver": {}, "state": "Up"}, id="of a member with an older CRD"),
        pytest.param(None, ({"state": "Up"}, {"state": "Up", "job": {"id": "b", "n": 1}}),
            {"driver": {}, "state": "Up", "job": {"id": "", "n": 1}}, id="in an object that is there"),
    ],
)  # fmt: skip
def test_required_fields_are_there(
    define: Define, known: dict[str, Any] | None, statuses: tuple[Any, ...], expected: dict[str, Any]
) -> None:
    required = '{.status.job.id: "", .status.driver: {}, .status.state: Unknown}'
    rules = {"required-status": required, "aggregate": ".status.state: worst"}
    definition = define(root=ROOT, mappings={"running": MAPPINGS["running"]}, **rules)
    assert aggregate(definition, template(known), *statuses)["status"] == expected


@rows(
    ("expression", "expected"),
    [
        pytest.param(".status != null", {"selector": "a=b"}, id="whether there is a status"),
        pytest.param("null == .status", {"selector": "a=b"}, id="whether there is none"),
        pytest.param('.status.selector != "x"', {}, id="the text itself"),
        pytest.param(".status == {}", {}, id="all of the status"),
    ],
)
def test_text_goes_with_the_last_cluster_where_a_status_is_derived_from_it(
    define: Define, expression: str, expected: dict[str, Any]
) -> None:
    mappings = {"running": [{"byExpression": {"expression": expression, "expectedResult": "true"}}]}
    definition = define(root=ROOT, mappings=mappings)
    assert aggregate(definition, template({"selector": "a=b"}))["status"] == expected


@rows(
    ("statuses", "expected"),
    [
        pytest.param((3, 3), 3, id="all agree"),
        pytest.param((3, 4), 3, id="that of the worst cluster"),
        pytest.param((None, 4), None, id="which has none"),
    ],
)
def test_generations_are_never_added_up(define: Define, statuses: tuple[Any, ...], expected: int | None) -> None:
    definition = define(root=ROOT, mappings=MAPPINGS)
    reports = [{"n": 1} | ({} if each is None else {"desiredGeneration": each}) for each in statuses]
    status = aggregate(definition, template(), *reports)["status"]
    assert status == {"n": 2} | ({} if expected is None else {"desiredGeneration": expected})
    assert aggregate(definition, template(status))["status"] == {**status, "n": 0}


@pytest.mark.parametrize("rule", ["first", "worst"])
def test_empty_text_is_the_last_choice(define: Define, rule: str) -> None:
    definition = define(root=ROOT, aggregate=f".status.selector: {rule}")
    assert aggregate(definition, template(), {"selector": ""}, {"selector": "a"})["status"] == {"selector": "a"}
    assert aggregate(definition, template(), {"selector": ""}, {"selector": ""})["status"] == {"selector": ""}


def test_message_is_cut_to_length_of_a_condition(train: Definition) -> None:
    long = {"conditions": [condition("Ready", "True", message="m" * 20_000)]}
    [ready] = aggregate(train, template(), long, long)["status"]["conditions"]
    assert ready["message"].startswith("a: mmm")
    assert len(ready["message"]) == 32768


def test_sum_beyond_int64_is_an_error(train: Definition) -> None:
    with pytest.raises(InterpretationError, match="the sum is too large"):
        aggregate(train, template(), {"n": 2**63 - 1}, {"n": 1})
