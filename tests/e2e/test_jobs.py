"""What karmada-apiserver demands of the status of a Job, which it knows and therefore checks."""

import pytest

from tests.e2e import controllers
from tests.e2e.flow import flowing
from tests.e2e.kinds import kind_of
from tests.e2e.rig.api import Object
from tests.e2e.rig.layout import MEMBERS
from tests.e2e.rig.plane import ControlPlane
from tests.e2e.rig.policy import weighted

_JOB = kind_of("Job")

pytestmark = pytest.mark.usefixtures("interpreter")


@pytest.mark.xfail(strict=True, reason="Failed is merged as soon as one cluster has it; see docs/operations.md")
def test_a_job_has_failed_when_its_last_pod_has_ended(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("fails-late"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="running", member2="failed")
        flow.aggregated({"conditions": [{"type": "FailureTarget", "status": "True"}], "active": 4})
        flow.report(member1="failed")
        flow.aggregated({"conditions": [{"type": "Failed", "status": "True"}], "failed": 14})


def test_a_job_that_one_member_completes_and_the_other_fails_has_failed(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("half-done"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="completed", member2="failed")
        flow.aggregated({"conditions": [{"type": "Failed", "status": "True"}]})
        flow.health(member1="Healthy", member2="Unhealthy")


def test_members_that_start_one_after_the_other(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("staggered"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="running")
        flow.aggregated({"active": 4})
        earlier = controllers.Job.running(flow.member("member2")) | {"startTime": "2025-01-01T09:00:00Z"}
        plane.members["member2"].put_status(flow.template, earlier)
        flow.aggregated({"active": 6})


def test_a_job_is_suspended_when_it_runs(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("paused"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(**dict.fromkeys(MEMBERS, "running"))
        flow.aggregated({"active": 6})
        flow.apply(_JOB.switched(flow.template, suspended=True))
        flow.switched(suspended=True)
        flow.report(**dict.fromkeys(MEMBERS, "suspended"))
        status: Object = flow.aggregated(_JOB.condition("suspended"))
        assert "startTime" not in status
        flow.apply(_JOB.switched(flow.template, suspended=False))
        flow.switched(suspended=False)
        flow.report(**dict.fromkeys(MEMBERS, "resumed"))
        flow.aggregated({"active": 6})
