"""What happens to what runs. The oracle is Karmada's source, named at each function of the module."""

from collections import Counter
from typing import Any

import pytest

from karta_interpreter.base.k8s import Quantity
from karta_interpreter.engine.comparison.effects import (
    Capacity,
    Severity,
    added_usage,
    change_of_unit,
    division,
    move,
    no_room,
    refusal,
    unwritten,
)
from tests.support.rows import rows

STATIC = {"staticWeightList": [
    {"targetCluster": {"clusterNames": ["m1"]}, "weight": 2}, {"targetCluster": {"clusterNames": ["m2"]}, "weight": 1},
]}  # fmt: skip
DYNAMIC = {"dynamicWeight": "AvailableReplicas"}


def binding(*clusters: str, preference: Any = None, kind: str = "Divided", aggregated: bool = False) -> Any:
    scheduling = {
        "replicaSchedulingType": kind,
        "replicaDivisionPreference": "Aggregated" if aggregated else "Weighted",
        **({"weightPreference": preference} if preference else {}),
    }
    return {
        "metadata": {"namespace": "ml", "name": "b"},
        "spec": {"clusters": [{"name": name} for name in clusters], "placement": {"replicaScheduling": scheduling}},
    }


@rows(
    ("placed", "text"),
    [
        pytest.param(binding("m1", "m2", preference=STATIC), "m1, m2 run all 6 pods each now, and 4 + 2 afterwards",
            id="by weights"),
        pytest.param(binding("m1", "m2"), "and 3 + 3 afterwards", id="weighted without weights: evenly"),
        pytest.param(binding("m1", "m2", "m3", "m4"), "and about 2 + 2 + 1 + 1 afterwards", id="with a remainder"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), "divided by what has room", id="by room"),
        pytest.param(binding("m1", "m2", aggregated=True), "in as few clusters as have room", id="aggregated"),
        pytest.param(binding("m1", preference=STATIC), "", id="one cluster has all of it before and afterwards"),
        pytest.param(binding("m1", "m2", kind="Duplicated"), "", id="each has all of it before and afterwards"),
        pytest.param({"spec": {"clusters": [{"name": "a"}, {"name": "b"}]}}, "", id="no policy says Divided"),
    ],
)  # fmt: skip
def test_first_division_is_told(placed: Any, text: str) -> None:
    effect = division(placed, 6, lambda _: "")

    assert (effect is not None) is bool(text)
    assert effect is None or text in effect.text


def test_workload_without_pods_is_not_divided() -> None:
    assert division(binding("m1", "m2"), 0, lambda _: "") is None


@rows(
    ("placed", "text"),
    [
        pytest.param(binding("m1", "m2", preference=STATIC), "where the share is refused: not 1", id="a share of 1"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), "where the share is refused: not 1", id="perhaps 1"),
        pytest.param(binding("m1", "m2", aggregated=True), "in as few clusters", id="one cluster may have all of it"),
        pytest.param(binding("m1", "m2", "m3", "m4", preference=STATIC), "where the share is refused",
            id="clusters without a share lose it"),
    ],
)  # fmt: skip
def test_workload_that_cannot_be_divided_is_told(placed: Any, text: str) -> None:
    effect = division(placed, 3, lambda share: f"not {share}" if share == 1 else "")

    assert effect is not None
    assert text in effect.text


@rows(
    ("placed", "told"),
    [
        pytest.param(binding("m1", "m2", preference=STATIC), True, id="one pod for two clusters"),
        pytest.param(binding("m1", preference=STATIC), False, id="one pod for one cluster"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), True, id="by room"),
        pytest.param(binding("m1", "m2", aggregated=True), True, id="aggregated"),
        pytest.param(binding("m1", "m2", kind="Duplicated"), False, id="Duplicated"),
    ],
)
def test_whole_workload_leaves_clusters_without_share(placed: Any, told: bool) -> None:
    effect = division(placed, 1, None)

    assert (effect is not None) is told
    assert effect is None or "so does each cluster with a share" in effect.text


@rows(
    ("failover", "unhealthy", "text"),
    [
        pytest.param({"application": {"decisionConditions": {"tolerationSeconds": 60}}}, ["m1"], "out of m1, 60 s",
            id="by the policy"),
        pytest.param({"application": {}}, ["m1", "m2"], "out of m1, m2, 300 s", id="by the default of the API"),
        pytest.param({"application": {"decisionConditions": {"tolerationSeconds": 0}}}, ["m1"], "0 s", id="at once"),
        pytest.param({"application": {}}, [], "", id="healthy"),
        pytest.param(None, ["m1"], "", id="no failover"),
    ],
)  # fmt: skip
def test_move_is_told(failover: Any, unhealthy: list[str], text: str) -> None:
    effect = move({"spec": {"failover": failover}}, unhealthy)

    assert (effect is not None) is bool(text)
    assert effect is None or text in effect.text


def cluster(*models: str, allocatable: tuple[str, ...] = ()) -> Any:
    grades = [{"grade": 0, "ranges": [{"name": name, "min": "0", "max": "1"} for name in models]}]
    summary = {
        "allocatable": dict.fromkeys(allocatable, "8"),
        "allocatableModelings": [{"grade": 0}] if models else None,
    }
    return {"spec": {"resourceModels": grades if models else None}, "status": {"resourceSummary": summary}}


@rows(
    ("placed", "clusters", "told"),
    [
        pytest.param(binding("m1", "m2", preference=DYNAMIC),
            [cluster("cpu", "memory", allocatable=("nvidia.com/gpu",))],
            True, id="the default models know no GPU, whatever is allocatable"),
        pytest.param(binding("m1", "m2", aggregated=True), [cluster("cpu", "memory")], True, id="aggregated"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), [cluster(allocatable=("cpu",))], True, id="none"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), [cluster(), cluster("cpu", "nvidia.com/gpu")], False,
            id="a model has it"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), [cluster(allocatable=("cpu", "nvidia.com/gpu"))], False,
            id="it is allocatable, and there are no models"),
        pytest.param(binding("m1", "m2", preference=STATIC), [cluster("cpu")], False, id="weights ask for no room"),
        pytest.param(binding("m1", "m2", kind="Duplicated"), [cluster("cpu")], False, id="Duplicated asks for no room"),
        pytest.param(binding("m1", "m2", preference=DYNAMIC), [], False, id="no cluster could be read"),
    ],
)  # fmt: skip
def test_resource_that_karmada_sees_nowhere_is_told(placed: Any, clusters: list[Any], told: bool) -> None:
    requests = {"resourceRequest": {"cpu": "2", "nvidia.com/gpu": "1"}}
    effect = no_room(placed, {"replica": 2, "requires": requests}, Capacity(clusters), is_revised=True)

    assert (effect is not None) is told
    assert effect is None or "nvidia.com/gpu" in effect.text


@rows(
    ("replicas", "is_revised", "text"),
    [
        pytest.param(0, True, "Unschedulable and its changes do not arrive", id="a server refuses 0 replicas"),
        pytest.param(3, True, "Unschedulable and its clusters run the 3 pods of today only", id="counted less today"),
        pytest.param(0, False, "so it is Unschedulable", id="each cluster goes on with all of it"),
    ],
)
def test_change_without_room_is_told(replicas: int, is_revised: bool, text: str) -> None:
    placed = binding("m1", preference=DYNAMIC)
    placed["spec"]["clusters"] = [{"name": "m1", "replicas": replicas}]
    requests = {"resourceRequest": {"nvidia.com/gpu": "1"}}

    effect = no_room(placed, {"replica": 4, "requires": requests}, Capacity([cluster("cpu")]), is_revised=is_revised)

    assert effect is not None
    assert effect.text.endswith(text)


ONE, TWO, EIGHT = ({"resourceRequest": {"cpu": cpu}} for cpu in ("1", "2", "8"))


def counted_today(placed: Any, replicas: int, scheduled: int, **counts: Any) -> Any:
    """Return a binding that has counts, with as many replicas scheduled in its first cluster."""
    (first, *others) = placed["spec"]["clusters"]
    clusters = [{**first, "replicas": scheduled}, *others]
    return {**placed, "spec": {**placed["spec"], "replicas": replicas, "clusters": clusters, **counts}}


def components(*requirements: Any) -> Any:
    return [
        {"name": str(number), "replicas": 2, "replicaRequirements": each} for number, each in enumerate(requirements)
    ]


@rows(
    ("placed", "counted", "cpu"),
    [
        pytest.param(binding("m1", "m2"), {"replica": 2, "requires": TWO}, (0, 4), id="divided: all pods once"),
        pytest.param(binding("m1", "m2", kind="Duplicated"), {"replica": 2, "requires": TWO}, (0, 8), id="in each"),
        pytest.param(binding("m1", "m2"), {"components": components(ONE, TWO)}, (12, 0), id="no division"),
        pytest.param(binding(), {"replica": 2, "requires": TWO}, (0, 0), id="nothing is placed yet"),
        pytest.param(binding("m1"), {"replica": 2, "requires": None}, (0, 0), id="without requests"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=ONE),
            {"replica": 4, "requires": {"resourceRequest": {"cpu": "1000m"}}}, (0, 0), id="the same amount"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=ONE),
            {"replica": 4, "requires": TWO}, (4, 0), id="more requests, of the replicas that are scheduled"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=TWO),
            {"replica": 6, "requires": TWO}, (0, 4), id="more replicas, once they are scheduled"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=TWO),
            {"replica": 3, "requires": TWO}, (0, -2), id="less replicas"),
        pytest.param(counted_today(binding("m1", "m2"), 8, 8, replicaRequirements=ONE),
            {"replica": 1, "requires": EIGHT}, (56, -56), id="one pod of 8 is written while 8 are scheduled"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=TWO),
            {"replica": 4, "requires": ONE}, (-4, 0), id="less requests"),
        pytest.param(counted_today(binding("m1", "m2"), 4, 4, replicaRequirements=TWO),
            {"replica": 4, "requires": None}, (-8, 0), id="no requests any more"),
        pytest.param(counted_today(binding("m1", "m2"), 3, 3, replicaRequirements=ONE),
            {"components": components(ONE)}, (1, 0), id="components instead of replicas"),
        pytest.param(counted_today(binding("m1", "m2"), 0, 0, components=components(ONE)),
            {"components": components(ONE, ONE)}, (4, 0), id="more components"),
    ],
)  # fmt: skip
def test_usage_is_compared_as_the_webhook_of_karmada_does(placed: Any, counted: Any, cpu: tuple[int, int]) -> None:
    """The oracle is ``CalculateResourceUsage``, of what the detector writes and then of what the scheduler does."""
    expected = ({"cpu": Quantity.parse(amount).nanos} if amount else {} for amount in cpu)

    assert added_usage(placed, counted) == tuple(expected)


@rows(
    ("namespace", "added", "used", "told"),
    [
        pytest.param("ml", {"cpu": 4}, {"cpu": "2"}, "cpu 5 of q", id="beyond the limit"),
        pytest.param("ml", {"cpu": 4}, {"cpu": "1"}, "", id="just within it"),
        pytest.param("ml", {"cpu": 2}, {"cpu": "1"}, "cpu 5 of q", id="within it, and not together with others"),
        pytest.param("ml", {"cpu": -1}, {"cpu": "5"}, "", id="less than today"),
        pytest.param("ml", {"cpu": -1}, {"cpu": "7"}, "cpu 5 of q", id="less than today, and still beyond it"),
        pytest.param("ml", {"cpu": -1}, {"cpu": "5", "memory": "2Gi"}, "memory 1Gi", id="another is beyond it already"),
        pytest.param("ml", {"pods": 9}, {"cpu": "7"}, "", id="it changes nothing that the quota limits"),
        pytest.param("ml", {}, {"cpu": "7"}, "", id="it changes nothing"),
        pytest.param("other", {"cpu": 9}, {"cpu": "9"}, "", id="of another namespace"),
    ],
)  # fmt: skip
def test_usage_beyond_a_quota_is_told(namespace: str, added: dict[str, int], used: Any, told: str) -> None:
    """The oracle is ``processSingleFRQ``: a change of one resource asks for all limits of the quota."""
    quota = {
        "metadata": {"namespace": "ml", "name": "q"},
        "spec": {"overall": {"cpu": "5", "memory": "1Gi"}},
        "status": {"overallUsed": used},
    }
    nanos = {name: Quantity.parse(amount).nanos for name, amount in added.items()}
    together = Counter(nanos) + Counter({"cpu": Quantity.parse(3).nanos} if added == {"cpu": 2} else {})

    placed = {"metadata": {"namespace": namespace}, "spec": {}}

    effect = refusal(placed, [nanos, {}], together, Capacity(quotas=[quota]))

    assert (effect is not None) is bool(told)
    assert effect is None or told in effect.text


@rows(
    ("steps", "replicas", "used", "told"),
    [
        pytest.param([{}, {"cpu": -4}], 8, "8", "", id="beyond it already, until the scheduler takes replicas away"),
        pytest.param([{"cpu": 1}, {"cpu": -4}], 8, "8", "changes do not arrive", id="what is written is beyond it"),
        pytest.param([{"cpu": 2}, {"cpu": -2}], 2, "4", "changes do not arrive", id="only what is written is"),
        pytest.param([{}, {"cpu": 2}], 4, "4", "its replicas stay", id="the replicas that the scheduler adds"),
        pytest.param([{}, {"cpu": 6}], 0, "0", "changes do not arrive", id="clusters have no replicas before"),
        pytest.param([{"cpu": -2}, {"cpu": 2}], 4, "5", "", id="as much as today in the end"),
    ],
)  # fmt: skip
def test_each_step_is_compared_with_the_quota(steps: list[dict[str, int]], replicas: int, used: str, told: str) -> None:
    """The oracle is Karmada's webhook, asked by a program about both updates of a binding."""
    quota = {
        "metadata": {"namespace": "ml", "name": "q"},
        "spec": {"overall": {"cpu": "5"}},
        "status": {"overallUsed": {"cpu": used}},
    }
    added = [{name: Quantity.parse(amount).nanos for name, amount in step.items()} for step in steps]

    placed = {"metadata": {"namespace": "ml"}, "spec": {"clusters": [{"name": "m1", "replicas": replicas}]}}

    effect = refusal(placed, added, Counter(), Capacity(quotas=[quota]))

    assert (effect is not None) is bool(told)
    assert effect is None or told in effect.text


def assigned(**shares: int) -> Any:
    clusters = [{"name": name, "replicas": share} for name, share in shares.items()]
    return {"spec": {"replicas": sum(shares.values()), "clusters": clusters}}


@rows(
    ("placed", "units", "pods", "severity", "text"),
    [
        pytest.param(assigned(m1=13, m2=7), 5, 4, Severity.UNIT, "20 pods are 5 units of 4", id="all are refused"),
        pytest.param(assigned(m1=4, m2=4), 4, 2, Severity.MULTIPLIED, "units in m1 (4), m2 (4)", id="halves of pairs"),
        pytest.param(assigned(m1=40, m2=8), 24, 2, Severity.MULTIPLIED, "units in m2 (8)", id="a small share"),
        pytest.param(assigned(m1=3, m2=2), 5, 4, None, "", id="counts units already"),
        pytest.param(assigned(m1=3, m2=2), 5, 1, None, "", id="a unit is a pod"),
        pytest.param(assigned(m1=3, m2=2), 0, 0, None, "", id="the kind has no unit"),
    ],
)
def test_shares_of_pods_that_could_be_units_are_told(
    placed: Any, units: int, pods: int, severity: Severity | None, text: str
) -> None:
    effect = change_of_unit(placed, units, pods)

    assert (effect and effect.severity) is severity
    assert effect is None or text in effect.text


def test_clusters_whose_share_of_today_is_refused_are_told() -> None:
    effect = unwritten(assigned(m1=2, m2=1, m3=0), lambda share: "it has 3" if share == 1 else "")

    assert effect is not None
    assert effect.severity is Severity.INDIVISIBLE
    assert "changes do not arrive in m2, where the share is refused: it has 3" in effect.text
    assert unwritten(assigned(m1=2, m2=1), lambda _: "") is None
