"""The status of a Job in every mix of clusters, and over time, is one that an API server accepts."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.operations.aggregate import aggregate_status
from tests.engine.operations.job_rules import complaints
from tests.support.both_ways import ask
from tests.support.rows import rows

Status = dict[str, Any]
Reports = dict[str, Status | None]
"""The report of each cluster, None for a cluster that has the Job and has not reported."""

CLUSTERS = ("east", "north", "south")
_COMPLETIONS = 4


@cache
def job() -> Definition:
    entry = find_in_catalogue(GVK("batch", "v1", "Job"))
    assert entry is not None
    return entry.definition


def template(status: Status, **spec: Any) -> Status:
    written = {"parallelism": 6, "completions": _COMPLETIONS, "suspend": False, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": written, "status": status}


def aggregate(obj: Status, reports: Mapping[str, Status | None]) -> Any:
    """The template with the status that it gets; asking again must not change it."""
    items = tuple(StatusItem(cluster, status) for cluster, status in reports.items())
    result = ask(job(), Call(Operation.AGGREGATE_STATUS, obj, items=items))["aggregatedStatus"]
    assert aggregate_status(job(), result, items) is result
    return result


def at(hour: int) -> str:
    return f"2026-03-01T{hour:02}:00:00Z"


def condition(kind: str, status: str = "True", hour: int = 9) -> Status:
    return {"type": kind, "status": status, "reason": f"{kind}Reason", "lastTransitionTime": at(hour)}


def running(active: int = 2, hour: int = 8, **more: Any) -> Status:
    return {"active": active, "ready": active, "startTime": at(hour), "uncountedTerminatedPods": {}} | more


def suspended() -> Status:
    return {"conditions": [condition("Suspended")], "ready": 0}


def met(active: int = 0) -> Status:
    return running(active, conditions=[condition("SuccessCriteriaMet")], succeeded=4)


def complete(hour: int = 9) -> Status:
    return met() | {
        "completionTime": at(hour),
        "conditions": [condition("SuccessCriteriaMet", hour=hour), condition("Complete", hour=hour)],
    }


def failing(active: int = 0) -> Status:
    return running(active, conditions=[condition("FailureTarget")], failed=3)


def failed() -> Status:
    return failing() | {"conditions": [condition("FailureTarget"), condition("Failed")]}


def said(obj: Status) -> set[str]:
    """The true conditions of a template."""
    return {one["type"] for one in obj["status"].get("conditions", ()) if one["status"] == "True"}


@rows(
    ("reports", "expected"),
    [
        pytest.param(
            [running(), failed()], {"FailureTarget"}, id="a bad end is announced, and waits for the running pods"
        ),
        pytest.param([running(), failing(1)], {"FailureTarget"}, id="an announced bad end is announced"),
        pytest.param([failed(), None], {"FailureTarget"}, id="a silent cluster may have pods soon"),
        pytest.param([failed(), suspended()], {"FailureTarget"}, id="a suspended cluster may have pods again"),
        pytest.param([failed(), met(1)], {"FailureTarget"}, id="success has pods to end, too"),
        pytest.param([failed(), failed()], {"FailureTarget", "Failed"}, id="failed when every part has ended badly"),
        pytest.param([failed(), complete()], {"FailureTarget", "Failed"}, id="failed when every part has ended"),
        pytest.param([failed()], {"FailureTarget", "Failed"}, id="one cluster has it all"),
        pytest.param([complete(), running()], set(), id="one part is complete, and the whole is not"),
        pytest.param([complete(), None], set(), id="complete, but for a silent cluster"),
        pytest.param([complete(), met()], set(), id="no word of success before all of it is"),
        pytest.param([met()], set(), id="not even of a lone cluster, as another one may join and fail"),
        pytest.param([complete(), complete(10)], {"SuccessCriteriaMet", "Complete"}, id="complete when all are"),
        pytest.param([complete()], {"SuccessCriteriaMet", "Complete"}, id="complete in the only cluster"),
        pytest.param([suspended(), complete()], {"Suspended"}, id="what is left to do is suspended"),
        pytest.param([suspended(), suspended()], {"Suspended"}, id="suspended when all are"),
        pytest.param(
            [{"failed": 3, "startTime": at(8), "ready": 2, "terminating": 2, "conditions": [condition("Failed")]}],
            {"FailureTarget", "Failed"},
            id="before Kubernetes 1.31 Failed came alone, and left behind pods that were ready, and went",
        ),
        pytest.param(
            [{"succeeded": 4, "startTime": at(8), "completionTime": at(9), "conditions": [condition("Complete")]}],
            {"SuccessCriteriaMet", "Complete"},
            id="before Kubernetes 1.31 Complete came alone",
        ),
    ],
)
def test_mixed_reports_give_outcome(reports: list[Status | None], expected: set[str]) -> None:
    result = aggregate(template({}), dict(zip(CLUSTERS, reports, strict=False)))
    assert complaints(result["spec"], {}, result["status"]) == []
    assert said(result) == expected
    assert ("completionTime" in result["status"]) == ("Complete" in expected)


@rows(
    ("story", "expected"),
    [
        pytest.param([{"east": failed(), "north": running()}, {"north": running()}, {"north": complete()}],
            {"FailureTarget", "Failed"}, id="what was announced has to come, though the cluster that failed is gone"),
        pytest.param([{"east": failed(), "north": running()}, {"south": failed(), "north": running()}],
            {"FailureTarget"}, id="the failed part fails elsewhere as well"),
        pytest.param([{"east": complete(), "north": complete()}, {"east": complete(), "south": running()}],
            {"SuccessCriteriaMet", "Complete"}, id="complete is complete, whatever cluster is added then"),
        pytest.param([{"east": met(), "north": met()}, {"east": complete(), "south": failed()}],
            {"FailureTarget", "Failed"}, id="success of which nothing was said may yet fail"),
        pytest.param([{"east": running(failed=3, succeeded=2)}, {"north": running(failed=1)}], set(),
            id="counters do not fall when the cluster that counted is gone"),
        pytest.param([{"east": running(hour=10)}, {"north": complete(9)}], {"SuccessCriteriaMet", "Complete"},
            id="an end before the start that the template has"),
        pytest.param([{"east": running()}, {"east": suspended()}, {"east": running(hour=11)}], set(),
            id="a cluster suspends, and resumes, what the template does not suspend"),
    ],
)  # fmt: skip
def test_successive_reports_give_outcome(story: list[Reports], expected: set[str]) -> None:
    obj = template({})
    for reports in story:
        result = aggregate(obj, reports)
        assert complaints(obj["spec"], obj["status"], result["status"]) == []
        obj = result
    assert said(obj) == expected


def test_status_of_earlier_versions_is_continued() -> None:
    early: Status = {"startTime": at(8), "succeeded": 8, "conditions": [condition("SuccessCriteriaMet")]}
    early |= {"ready": 0, "terminating": 1, "completedIndexes": "0-3", "uncountedTerminatedPods": {"failed": ["x"]}}
    stories: list[Reports] = [{"east": failed()}, {"east": running()}, {"east": complete(), "north": failed()}]
    for reports in stories:
        result = aggregate(template(early), reports)
        assert complaints(result["spec"], early, result["status"]) == []
        assert said(result) == {"SuccessCriteriaMet"}, "it cannot be taken back, nor come with a failure"
    assert said(aggregate(template(early), {"east": complete()})) == {"SuccessCriteriaMet", "Complete"}


def test_indexes_of_one_cluster_are_omitted() -> None:
    indexed = {"completedIndexes": "0-2", "failedIndexes": "3", "uncountedTerminatedPods": {"failed": ["a-uid"]}}
    result = aggregate(template({}), {"east": running(terminating=1) | indexed})
    assert result["status"] == {"active": 2, "startTime": at(8)}


def test_message_of_announcement_outlives_its_cluster() -> None:
    lost = failed() | {"conditions": [condition("FailureTarget") | {"message": "too often"}, condition("Failed")]}
    announced = aggregate(template({}), {"east": lost, "north": running()})
    (kept,) = aggregate(announced, {"north": running()})["status"]["conditions"]
    assert kept["message"] == "east: too often"
    *_, end = aggregate(announced, {"north": complete()})["status"]["conditions"]
    assert (end["type"], end["message"]) == ("Failed", "east: too often")


def test_start_is_renewed_after_suspension() -> None:
    obj = aggregate(template({}, suspend=True), {"east": running(), "north": running()})
    obj = aggregate(obj, {"east": suspended(), "north": suspended()})
    assert "startTime" not in obj["status"]
    resumed = running(hour=11) | {"conditions": [condition("Suspended", "False")]}
    assert aggregate(template(obj["status"]), {"east": resumed})["status"]["startTime"] == at(11)


counts = st.integers(0, 4)
hours = st.integers(7, 10)


@st.composite
def member_statuses(draw: st.DrawFn) -> Status:
    """A status that the Job controller of a cluster may write, now or before Kubernetes 1.31."""
    active, hour = draw(counts), draw(hours)
    status: Status = {"startTime": at(hour), "succeeded": draw(counts), "failed": draw(counts)}
    pods: Status = {"active": active, "ready": draw(st.sampled_from([active, 0])), "terminating": draw(counts)}
    uncounted = draw(st.fixed_dictionaries({}, optional=dict.fromkeys(("succeeded", "failed"), st.just([str(hour)]))))
    pods["uncountedTerminatedPods"] = uncounted if len(uncounted) == 1 else {}
    resumed = draw(st.sampled_from([[], [condition("Suspended", "False")]]))
    return draw(st.sampled_from(_STATES))(status, pods, resumed, draw(hours))


def _suspended(status: Status, pods: Status, _: list[Status], __: int) -> Status:
    counted = {key: status[key] for key in ("succeeded", "failed")}
    return counted | pods | {"conditions": [condition("Suspended")]}


def _on_the_way(*conditions: str) -> Callable[[Status, Status, list[Status], int], Status]:
    def write(status: Status, pods: Status, resumed: list[Status], _: int) -> Status:
        return status | pods | {"conditions": [*resumed, *map(condition, conditions)]}

    return write


def _ended(*conditions: str) -> Callable[[Status, Status, list[Status], int], Status]:
    def write(status: Status, _: Status, resumed: list[Status], hour: int) -> Status:
        ended = status | {"ready": 0, "terminating": 0, "conditions": [*resumed, *map(condition, conditions)]}
        return ended | ({"completionTime": max(at(hour), status["startTime"])} if "Complete" in conditions else {})

    return write


def _left_behind(*conditions: str) -> Callable[[Status, Status, list[Status], int], Status]:
    def write(status: Status, pods: Status, resumed: list[Status], hour: int) -> Status:
        older = {"ready": pods["ready"], "terminating": pods["terminating"]}
        return _ended(*conditions)(status, pods, resumed, hour) | older

    return write


_MODERN = (
    _suspended,
    _on_the_way(),
    _on_the_way("SuccessCriteriaMet"),
    _on_the_way("FailureTarget"),
    _ended("SuccessCriteriaMet", "Complete"),
    _ended("FailureTarget", "Failed"),
)
_STATES = (*_MODERN, _ended("Complete"), _left_behind("Failed"))

reports_of_clusters = st.dictionaries(st.sampled_from(CLUSTERS), st.none() | st.just({}) | member_statuses())


@given(st.lists(st.tuples(reports_of_clusters, st.booleans()), min_size=1, max_size=6), st.booleans())
def test_api_server_accepts_merged_status_of_any_reports(story: list[tuple[Reports, bool]], indexed: bool) -> None:
    status: Status = {}
    for reports, suspend in story:
        obj = template(status, suspend=suspend, completionMode="Indexed" if indexed else "NonIndexed")
        result = aggregate(obj, reports)
        assert complaints(obj["spec"], status, result["status"]) == []
        status = result["status"]


@given(st.dictionaries(st.sampled_from(CLUSTERS), member_statuses(), min_size=1))
def test_job_ended_everywhere_has_ended(reports: Reports) -> None:
    ends = [said({"status": status}) & {"Complete", "Failed"} for status in reports.values()]
    result = said(aggregate(template({}), reports)) & {"Complete", "Failed"}
    is_done = sum(status["succeeded"] for status in reports.values() if status) >= _COMPLETIONS
    if not all(ends) or ({"Failed"} not in ends and not is_done):
        assert result == set()
    else:
        assert result == ({"Failed"} if {"Failed"} in ends else {"Complete"})


@given(st.data())
def test_drawn_statuses_are_accepted_by_a_cluster(data: st.DataObject) -> None:
    status = data.draw(member_statuses())
    conditions = said({"status": status})
    modern = not (conditions & {"Complete", "Failed"}) or conditions & {"SuccessCriteriaMet", "FailureTarget"}
    if modern:
        assert complaints(template({})["spec"], {}, status) == []


@rows(
    ("status", "expected"),
    [
        pytest.param(running(), set(), id="it runs nowhere"),
        pytest.param(running(ready=0, succeeded=4, failed=1, terminating=1), set(), id="what pods did is not undone"),
        pytest.param(suspended(), set(), id="nor is it suspended anywhere"),
        pytest.param(failing(1), {"FailureTarget"}, id="an announced end stays announced"),
        pytest.param(failed(), {"FailureTarget", "Failed"}, id="an end stays"),
        pytest.param(complete(), {"SuccessCriteriaMet", "Complete"}, id="a good one, too"),
    ],
)
def test_last_cluster_may_go(status: Status, expected: set[str]) -> None:
    before = aggregate(template({}), {"east": status})
    result = aggregate(before, {})
    assert complaints(result["spec"], before["status"], result["status"]) == []
    assert said(result) == expected
    assert result["status"].get("active", 0) == 0
