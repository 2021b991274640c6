"""Adoption beside a customization that counts half: what is told comes, what is not told stays, and the way back."""

import json
from collections.abc import Iterator
from functools import partial

import pytest

from tests.proofs.e2e.flow import Flow, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.e2e.test_diff import _OF_USER
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted

_HALF, _NEW = kind_of("LeaderWorkerSet"), kind_of("JobSet")


@pytest.fixture
def flows(plane: ControlPlane, installed: Installed) -> Iterator[list[Flow]]:
    """Groups whose pods a customization counts, and a kind that nobody counts, divided by policies, in both members."""
    run("unregister", "--kubeconfig", installed.kubeconfig)
    plane.karmada.apply(_OF_USER)
    plane.restart_components(multiple_pod_templates=False)
    flows = [
        Flow.begin(plane, kind, kind.workload(f"adopted-{kind.name.lower()}"), weighted(2, 1)) for kind in (_HALF, _NEW)
    ]
    try:
        yield flows
    finally:
        plane.karmada.delete(_OF_USER)
        for flow in flows:
            flow.end()


def _is_whole(flow: Flow, edit: str) -> None:
    """Wait until an edit has arrived everywhere, and see that each member runs all of it."""
    flow.edited(edit)
    flow.members(dict.fromkeys(flow.plane.members, flow.kind.counted(flow.template)))


def test_what_is_told_comes_and_what_is_half_anothers_stays(
    plane: ControlPlane, installed: Installed, flows: list[Flow]
) -> None:
    half, new = flows
    config = write_kubeconfig(plane.folder / "administrator.config", plane.karmada.port, plane.authority)
    for flow in flows:
        for name in plane.members:
            until(f"{name} has {flow.name}", partial(flow.member, name))
        _is_whole(flow, "before")
    diff = run("diff", "--from", "bindings", "--to", "catalogue", "--kubeconfig", config, "-o", "json")
    told: Object = json.loads(diff.stdout)
    say(f"  {told['effects']}")
    kinds = {kind["kind"]: kind for kind in told["kinds"]}
    assert "ReviseReplica" in kinds[_HALF.name]["notRegistered"]
    (effect,) = [effect for effect in told["effects"] if effect["effect"] == "divided"]
    pods = new.kind.stages[0].pods
    assert effect["kind"] == _NEW.name
    assert f"and {pods * 2 // 3} + {pods // 3} afterwards, but it stays as it runs" in effect["text"]

    server = installed.serve()
    installed.registered({"url": server.url})
    rules = [rule for hook in installed.registration()["webhooks"] for rule in hook["rules"]]
    (rule,) = [rule for rule in rules if _HALF.name in rule["kinds"]]
    assert "ReviseReplica" not in rule["operations"]
    for flow in flows:
        flow.edited("registered")
    new.members(dict.fromkeys(plane.members, new.kind.counted(new.template)))
    half.members(dict.fromkeys(plane.members, half.kind.counted(half.template)))

    installed.stop(server)
    run("unregister", "--kubeconfig", installed.kubeconfig)
    plane.restart_components(multiple_pod_templates=False)
    for flow in flows:
        _is_whole(flow, "back")
