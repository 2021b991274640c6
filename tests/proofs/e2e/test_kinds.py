"""Every kind goes all the way: template, binding, members, statuses, and back."""

from contextlib import ExitStack

import pytest

from tests.proofs.e2e.flow import Flow, flowing, shows
from tests.proofs.e2e.kinds import KINDS, Counts, Kind, kind_of
from tests.proofs.rig.api import ApiError, at_rest, until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import DUPLICATED, weighted

_RETAIN_REPLICAS = {"resourcetemplate.karmada.io/retain-replicas": "true"}
_EVERYWHERE_HEALTHY = dict.fromkeys(MEMBERS, "Healthy")

pytestmark = pytest.mark.usefixtures("interpreter")


def _which_can_be(state: str, *, but: str = "") -> pytest.MarkDecorator:
    kinds = [kind for kind in KINDS if state in kind.states and kind.name != but]
    return pytest.mark.parametrize("kind", kinds, ids=[kind.name for kind in kinds])


def test_divided(plane: ControlPlane, kind: Kind) -> None:
    placed, up, down = kind.stages
    with flowing(plane, kind, kind.workload(f"divided-{kind.name.lower()}"), weighted(2, 1)) as flow:
        binding = flow.scheduled({"member1": placed.pods * 2 // 3, "member2": placed.pods // 3})
        assert binding["spec"]["replicas"] == placed.pods
        assert binding["spec"]["replicaRequirements"]["resourceRequest"] == kind.requires
        flow.members(placed.members)
        flow.followed()

        # A job that starts is healthy, and an object without a status never is.
        flow.report(member1="running")
        flow.health(member1="Healthy", member2="Unhealthy")
        flow.report(member2="running")
        flow.health(**_EVERYWHERE_HEALTHY)
        flow.aggregated(kind.whole([flow.member(name) for name in MEMBERS]))

        for stage in (up, down):
            flow.apply(kind.scaled(flow.template, stage.template))
            flow.scheduled({"member1": stage.pods * 2 // 3, "member2": stage.pods // 3})
            flow.members(stage.members)
            flow.report(**dict.fromkeys(MEMBERS, "running"))
            status = flow.aggregated(kind.whole([flow.member(name) for name in MEMBERS]))
            assert status.get("observedGeneration") in (None, flow.generation())
            flow.health(**_EVERYWHERE_HEALTHY)


def test_duplicated(plane: ControlPlane, kind: Kind) -> None:
    stage = kind.stages[0]
    with flowing(plane, kind, kind.workload(f"duplicated-{kind.name.lower()}"), DUPLICATED) as flow:
        flow.scheduled(dict.fromkeys(MEMBERS, stage.pods))
        flow.members(dict.fromkeys(MEMBERS, stage.template))
        flow.report(**dict.fromkeys(MEMBERS, "running"))
        flow.health(**_EVERYWHERE_HEALTHY)
        flow.aggregated(kind.whole([flow.member(name) for name in MEMBERS]))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.stays], ids=lambda kind: kind.name)
def test_every_edit_arrives_where_shares_stay(plane: ControlPlane, kind: Kind) -> None:
    placed, up, _ = kind.stages
    with flowing(plane, kind, kind.workload(f"stays-{kind.name.lower()}"), weighted(2, 1)) as flow:
        flow.members(placed.members)
        until("member1 refuses another share", lambda: _refuses(flow, up.template))
        flow.apply(kind.switched(kind.scaled(flow.template, up.template), suspended=True))
        flow.scheduled({"member1": up.pods * 2 // 3, "member2": up.pods // 3})
        flow.switched(suspended=True)
        flow.members(placed.members)
        flow.place(weighted(1, 1))
        flow.edited("placed anew")
        flow.members(placed.members)


def _refuses(flow: Flow, counts: Counts) -> bool:
    """Return whether a member refuses other counts of what it runs. A dry run leaves it as it is."""
    member = flow.plane.members["member1"]
    try:
        member.put(flow.template, lambda now: flow.kind.scaled(now, counts), "?dryRun=All")
    except ApiError as error:
        return "immutable" in error.message
    return False


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.stays], ids=lambda kind: kind.name)
def test_replicas_that_a_member_scales_are_retained(plane: ControlPlane, kind: Kind) -> None:
    template = put(kind.workload(f"retained-{kind.name.lower()}"), ("metadata", "labels"), _RETAIN_REPLICAS)
    placed, scaled = kind.stages[0].template, kind.stages[1].template
    with flowing(plane, kind, template, DUPLICATED) as flow:
        flow.members(dict.fromkeys(MEMBERS, placed))
        plane.members["member1"].put(template, lambda now: kind.scaled(now, scaled))
        flow.saw(f"member1's autoscaler sets {scaled}")
        flow.edited("once")
        flow.members({"member1": scaled, "member2": placed})


@_which_can_be("suspended", but="Job")
def test_suspended_member_stays_suspended(plane: ControlPlane, kind: Kind) -> None:
    # Not so a Job: karmada-apiserver knows the kind and fills in that the template does not suspend.
    template = kind.workload(f"queued-{kind.name.lower()}")
    with flowing(plane, kind, template, DUPLICATED) as flow:
        flow.members(dict.fromkeys(MEMBERS, kind.stages[0].template))
        plane.members["member2"].put(template, lambda now: kind.switched(now, suspended=True))
        flow.saw("member2's queue suspends the workload")
        flow.edited("once")
        assert flow.suspended("member2") is True
        assert not flow.suspended("member1")


@_which_can_be("suspended")
def test_suspended_workload_is_healthy_and_resumes(plane: ControlPlane, kind: Kind) -> None:
    template = kind.switched(kind.workload(f"suspended-{kind.name.lower()}"), suspended=True)
    with flowing(plane, kind, template, weighted(2, 1)) as flow:
        flow.members(kind.stages[0].members)
        flow.switched(suspended=True)
        flow.report(**dict.fromkeys(MEMBERS, "suspended"))
        flow.health(**_EVERYWHERE_HEALTHY)
        flow.aggregated(kind.condition("suspended"))
        flow.apply(kind.switched(template, suspended=False))
        flow.switched(suspended=False)


@_which_can_be("completed")
def test_workload_completes_with_all_members(plane: ControlPlane, kind: Kind) -> None:
    with flowing(plane, kind, kind.workload(f"completed-{kind.name.lower()}"), weighted(2, 1)) as flow:
        flow.members(kind.stages[0].members)
        flow.report(**dict.fromkeys(MEMBERS, "running"))
        flow.health(**_EVERYWHERE_HEALTHY)
        running = flow.aggregated(kind.whole([flow.member(name) for name in MEMBERS]))
        flow.report(member1="completed")
        status = until("the template shows that of member1", lambda: flow.status_other_than(running))
        assert not shows(status, kind.condition("completed"))
        flow.saw("member1 has completed, the template has not")
        flow.report(member2="completed")
        flow.aggregated(kind.condition("completed"))
        flow.health(**_EVERYWHERE_HEALTHY)


@_which_can_be("failed")
def test_failure_in_one_member_shows(plane: ControlPlane, kind: Kind) -> None:
    with flowing(plane, kind, kind.workload(f"failed-{kind.name.lower()}"), weighted(2, 1)) as flow:
        flow.members(kind.stages[0].members)
        flow.report(member1="running", member2="failed")
        flow.health(member1="Healthy", member2="Unhealthy")
        flow.aggregated(kind.condition("failed"))


def test_unwritable_share_is_an_event(plane: ControlPlane) -> None:
    kind = kind_of("JobSet")
    job = ("spec", "replicatedJobs", 1, "template", "spec")
    template = kind.workload("indivisible")
    for field in ("parallelism", "completions"):
        template = put(template, (*job, field), 4)
    # A driver and 8 jobs of 4 workers: 17 + 16 pods, of which the 16 are no number of jobs with a driver.
    flow = Flow.begin(plane, kind, template, weighted(1, 1))
    (complaint, *_) = until("an event says so", flow.complaints)
    flow.saw(complaint)
    assert "status code: 422" in complaint
    assert "cannot set 16 replicas" in complaint
    assert "steps of 4" in complaint
    flow.end()


def test_karmada_comes_to_rest_while_nothing_changes(plane: ControlPlane, interpreter: Interpreter) -> None:
    # An answer to Retain or AggregateStatus that is not stable would make Karmada ask for ever.
    with ExitStack() as flows:
        for kind in KINDS:
            workload = kind.workload(f"quiet-{kind.name.lower()}")
            flow = flows.enter_context(flowing(plane, kind, workload, weighted(2, 1)))
            flow.members(kind.stages[0].members)
            flow.report(**dict.fromkeys(MEMBERS, "running"))
            flow.health(**_EVERYWHERE_HEALTHY)
        seen = at_rest("Karmada asks nothing more", lambda: plane.requests_seen(interpreter.host))
        assert seen["200"] > 0
