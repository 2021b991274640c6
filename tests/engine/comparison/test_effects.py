"""What happens to what runs. The oracle is Karmada's source, named at each function of the module."""

from typing import Any

import pytest

from karta_interpreter.base.k8s import Quantity
from karta_interpreter.engine.comparison.effects import Capacity, division, move, no_room, refusal, usage_of
from tests.support.rows import rows

STATIC = {"staticWeightList": [
    {"targetCluster": {"clusterNames": ["m1"]}, "weight": 2}, {"targetCluster": {"clusterNames": ["m2"]}, "weight": 1},
]}  # fmt: skip
DYNAMIC = {"dynamicWeight": "AvailableReplicas"}
PODS = [(2, {"resourceRequest": {"cpu": "2", "nvidia.com/gpu": "1"}})]


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
    effect = division(placed, 6)

    assert (effect is not None) is bool(text)
    assert effect is None or text in effect.text


def test_workload_without_pods_is_not_divided() -> None:
    assert division(binding("m1", "m2"), 0) is None


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
    effect = no_room(placed, ["cpu", "nvidia.com/gpu"], Capacity(clusters))

    assert (effect is not None) is told
    assert effect is None or "nvidia.com/gpu" in effect.text


@rows(
    ("placed", "by_component", "cpu"),
    [
        pytest.param(binding("m1", "m2"), False, 4, id="divided: all pods once"),
        pytest.param(binding("m1", "m2", kind="Duplicated"), False, 8, id="all pods in each cluster"),
        pytest.param(binding("m1", "m2"), True, 8, id="components are not divided"),
        pytest.param(binding(), False, 0, id="nothing is placed yet"),
    ],
)
def test_usage_is_that_of_all_clusters(placed: Any, by_component: bool, cpu: int) -> None:
    usage = usage_of(placed, PODS, by_component=by_component)

    assert usage["cpu"] == Quantity.parse(cpu)


@rows(
    ("namespace", "used", "told"),
    [
        pytest.param("ml", "2", True, id="beyond the limit"),
        pytest.param("ml", "1", False, id="just within it"),
        pytest.param("other", "9", False, id="of another namespace"),
    ],
)
def test_usage_beyond_a_quota_is_told(namespace: str, used: str, told: bool) -> None:
    quota = {
        "metadata": {"namespace": "ml", "name": "q"},
        "spec": {"overall": {"cpu": "5", "memory": "1Gi"}},
        "status": {"overallUsed": {"cpu": used, "memory": "2Gi"}},
    }
    usage = usage_of(binding("m1"), PODS, by_component=False)

    effect = refusal(namespace, usage, {"cpu": usage["cpu"].nanos}, Capacity(quotas=[quota]))

    assert (effect is not None) is told
    assert effect is None or "cpu 5 of q" in effect.text
