from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter import (
    ComponentNotFoundError,
    Karta,
    PathNotWritableError,
    Workload,
    WorkloadError,
    WriteVerificationError,
)

Make = Callable[..., Workload]

TEMPLATE: dict[str, Any] = {"spec": {"containers": []}}


@pytest.fixture
def workload(make: Make) -> Workload:
    sections = [{"name": "a", "desks": 4, "template": TEMPLATE}, {"name": "b", "desks": 3, "template": TEMPLATE}]
    return make("Orchestra", {"sections": sections, "conductor": {"template": TEMPLATE}})


def test_counts_are_written_where_they_come_from(workload: Workload) -> None:
    before = deepcopy(workload.object)
    scaled = workload.component("section").scale_to({"b": 5, "a": 8})
    assert {name: each.replicas for name, each in scaled.component("section").instances.items()} == {"a": 8, "b": 5}
    assert scaled.object["spec"]["conductor"] is workload.object["spec"]["conductor"]
    assert workload.object == before


def test_scale_replaces_default(workload: Workload) -> None:
    scaled = workload.component("conductor").scale_to({"": 2})
    assert scaled.object["spec"]["conductor"]["count"] == 2


def test_same_count_returns_same_workload(workload: Workload) -> None:
    assert workload.component("section").scale_to({"a": 4}) is workload
    assert workload.component("section").scale_to({}) is workload


def test_computed_count_can_be_given_unchanged(make: Make) -> None:
    workload = make("Pod", {"containers": []})
    assert workload.root.scale_to({"": 1}) is workload


def test_pods_that_do_not_exist_are_not_counted(make: Make) -> None:
    with pytest.raises(PathNotWritableError, match="component conductor: the workload has no pods to change"):
        make("Orchestra", {}).component("conductor").scale_to({"": 2})


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(-1, id="less than none"),
        pytest.param(2**31, id="more than 32 bits"),
        pytest.param(2.0, id="a float"),
        pytest.param(True, id="a boolean"),
        pytest.param("2", id="a string"),
        pytest.param(None, id="nothing"),
    ],
)
def test_count_must_be_a_whole_number(workload: Workload, count: Any) -> None:
    with pytest.raises(WorkloadError, match="the replicas of a must be a whole number"):
        workload.component("section").scale_to({"a": count})


def test_unreachable_count_is_refused(make: Make) -> None:
    workload = make("Orchestra", {"sections": [{"name": "a", "players": 4, "desks": 2, "template": TEMPLATE}]})
    with pytest.raises(
        PathNotWritableError, match=r"to give 6 pods: it is not a multiple of 4, and each 1 there gives 4"
    ):
        workload.component("section").scale_to({"a": 6})


def test_count_without_place_is_refused(make: Make) -> None:
    with pytest.raises(PathNotWritableError, match="there is no replicasPath"):
        make("Tavern", {"containers": [], "minReplicas": 1}).root.scale_to({"": 2})
    with pytest.raises(PathNotWritableError, match="replicasPath `1`"):
        make("Pod", {"containers": []}).root.scale_to({"": 2})


def test_missing_instance_is_not_scalable(workload: Workload) -> None:
    with pytest.raises(ComponentNotFoundError, match='no instance "c"'):
        workload.component("section").scale_to({"c": 2})


def test_instances_that_share_a_place_change_together_or_not_at_all(make: Make, raw: Any) -> None:
    definition = raw("Orchestra")
    child = definition["spec"]["structureDefinition"]["childComponents"][1]
    child["scaleDefinition"] = {"replicasPath": ".spec.halls * .spec.sections[].players"}
    sections = [{"name": name, "players": 3, "template": TEMPLATE} for name in ("a", "b")]
    workload = Workload(Karta.load(definition), make("Orchestra", {"halls": 2, "sections": sections}).object)
    with pytest.raises(WriteVerificationError, match="the replicas of b would become 9, not 6"):
        workload.component("section").scale_to({"a": 9})
    scaled = workload.component("section").scale_to({"a": 9, "b": 9})
    assert scaled.object["spec"]["halls"] == 3
