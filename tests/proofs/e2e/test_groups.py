"""Groups are divided, scaled and charged as groups, and a change between groups and pods reaches no member."""

import pytest

from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.e2e.flow import Flow, flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import propagation, weighted

_KIND = kind_of("LeaderWorkerSet")
_REPLICAS, _SIZE = ("spec", "replicas"), ("spec", "leaderWorkerTemplate", "size")
_CONTAINER = ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", 0)
_CPU_OF_WORKER = (*_CONTAINER, "resources", "requests", "cpu")
_OF_PODS = ("--count-pods", _KIND.name)
"""What makes a server count as releases did that knew no groups."""


def _workload(name: str, groups: int, size: int) -> Object:
    template: Object = put(put(_KIND.workload(name), _REPLICAS, groups), _SIZE, size)
    return template


def _divided(flow: Flow, groups: int, size: int) -> None:
    """Wait until the members run these groups together, as the binding divides them."""

    def matches() -> bool:
        clusters = {each["name"]: each.get("replicas", 0) for each in flow.binding()["spec"].get("clusters", ())}
        members = {name: flow.member(name)["spec"] for name in clusters}
        is_written = all(members[name]["replicas"] == share for name, share in clusters.items())
        is_sized = all(member["leaderWorkerTemplate"]["size"] == size for member in members.values())
        return sum(clusters.values()) == groups and is_written and is_sized

    until(f"{groups} groups of {size} run in members", matches)
    flow.saw(f"{groups} groups of {size}")


@pytest.mark.usefixtures("interpreter")
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("weights", [(1, 1), (2, 1), (3, 2)])
def test_every_division_reaches_its_members(plane: ControlPlane, size: int, weights: tuple[int, int]) -> None:
    for groups in range(2, 8):
        template = _workload(f"groups-{groups}-of-{size}", groups, size)
        with flowing(plane, _KIND, template, weighted(*weights)) as flow:
            _divided(flow, groups, size)


@pytest.mark.usefixtures("interpreter")
def test_autoscaler_and_edits_change_groups(plane: ControlPlane) -> None:
    with flowing(plane, _KIND, _workload("scaled-groups", 3, 4), weighted(2, 1)) as flow:
        _divided(flow, 3, 4)
        scale = {"spec": {"replicas": 5}}
        path = f"{plane.karmada.path(flow.template)}/scale"
        plane.karmada.request("PATCH", path, scale, "application/merge-patch+json")
        _divided(flow, 5, 4)
        flow.apply(_workload("scaled-groups", 5, 2))
        _divided(flow, 5, 2)
        flow.edited("meanwhile")


@pytest.mark.usefixtures("interpreter")
def test_quota_is_charged_what_the_groups_request(plane: ControlPlane) -> None:
    quota = named("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "groups", "default")
    plane.karmada.apply(quota | {"spec": {"overall": {"cpu": "1k"}}})

    def charged() -> bool:
        used = (plane.karmada.find(quota) or {})["status"].get("overallUsed", {}).get("cpu", "0")
        # 5 leaders of 1 CPU and 15 workers of 2, not 20 pods of 2.
        return Quantity.parse(used) == Quantity.parse("35")

    template = put(_workload("charged-groups", 5, 4), _CPU_OF_WORKER, "2")
    try:
        with flowing(plane, _KIND, template, weighted(2, 1)) as flow:
            _divided(flow, 5, 4)
            until("the quota is charged 35 CPU", charged)
    finally:
        plane.karmada.delete(quota)


def _generations(flow: Flow) -> dict[str, int]:
    return {name: flow.member(name)["metadata"]["generation"] for name in flow.plane.members}


def test_upgrade_to_groups_changes_no_member(plane: ControlPlane, installed: Installed) -> None:
    with installed.serving(*_OF_PODS):
        flow = Flow.begin(plane, _KIND, _workload("upgraded-groups", 6, 4), weighted(2, 1))
        flow.scheduled({"member1": 16, "member2": 8})
        flow.members({"member1": (4,), "member2": (2,)})
    before = _generations(flow)
    with installed.serving():
        flow.edited("after the upgrade")
        flow.scheduled({"member1": 4, "member2": 2})
        assert _generations(flow) == before, "no other count has been there, not even for a moment"
        flow.end()


def test_way_back_with_suspended_dispatching_changes_no_member(plane: ControlPlane, installed: Installed) -> None:
    placement = weighted(2, 1)
    with installed.serving():
        flow = Flow.begin(plane, _KIND, _workload("back-to-pods", 12, 4), placement)
        flow.scheduled({"member1": 8, "member2": 4})
        flow.members({"member1": (8,), "member2": (4,)})
        policy = propagation(flow.template, placement)
        plane.karmada.apply(put(policy, ("spec", "suspension"), {"dispatching": True}))
        until("nothing is dispatched", lambda: (flow.binding()["spec"].get("suspension") or {}).get("dispatching"))
    before = _generations(flow)
    with installed.serving(*_OF_PODS):
        flow.apply(put(flow.template, ("metadata", "annotations"), {"example.io/touched": "yes"}))
        flow.scheduled({"member1": 32, "member2": 16})
        plane.karmada.apply(policy)
        flow.edited("after the way back")
        assert _generations(flow) == before, "no other count has been there, not even for a moment"
        flow.end()
