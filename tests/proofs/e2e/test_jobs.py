"""What karmada-apiserver demands of the status of a Job, which it knows and therefore checks."""

import pytest

from tests.proofs.e2e.flow import flowing
from tests.proofs.e2e.kartas import changed, karta_of
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.places import at
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import DUPLICATED, duplicated, weighted

_JOB = kind_of("Job")

pytestmark = pytest.mark.usefixtures("interpreter")


def test_job_has_failed_after_its_last_pod(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("fails-late"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="running", member2="failed")
        flow.aggregated({"conditions": [{"type": "FailureTarget", "status": "True"}], "active": 4})
        flow.report(member1="failed")
        flow.aggregated({"conditions": [{"type": "Failed", "status": "True"}], "failed": 14})


def test_failure_is_remembered_without_its_cluster(plane: ControlPlane) -> None:
    # Duplicated: what a member is to complete cannot change, as it would with its share.
    with flowing(plane, _JOB, _JOB.workload("evicted"), DUPLICATED) as flow:
        flow.scheduled(dict.fromkeys(MEMBERS, 6))
        flow.members(dict.fromkeys(MEMBERS, (6,)))
        flow.report(member1="running", member2="failed")
        flow.aggregated({"conditions": [{"type": "FailureTarget", "status": "True"}], "failed": 7})
        flow.place(duplicated("member1"))
        flow.scheduled({"member1": 6})
        flow.report(member1="starting")
        flow.aggregated({"conditions": [{"type": "FailureTarget", "status": "True"}], "failed": 7, "active": 6})
        flow.report(member1="completed")
        status = flow.aggregated({"conditions": [{"type": "Failed", "status": "True"}], "failed": 7})
        assert "completionTime" not in status


def test_job_completed_and_failed_in_members_has_failed(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("half-done"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="completed", member2="failed")
        flow.aggregated({"conditions": [{"type": "Failed", "status": "True"}]})
        flow.health(member1="Healthy", member2="Unhealthy")


def test_job_is_complete_when_its_total_is_done(plane: ControlPlane) -> None:
    # A member keeps its 8 of 12 completions while it runs, also when it is the only one that is left.
    with flowing(plane, _JOB, _JOB.workload("shrunk"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="running", member2="running")
        flow.aggregated({"active": 6})
        flow.place(weighted(1))
        flow.scheduled({"member1": 6})
        flow.report(member1="completed")
        status = flow.aggregated({"succeeded": 8})
        assert "completionTime" not in status
        assert not [each for each in status.get("conditions", []) if each["type"] in ("Complete", "SuccessCriteriaMet")]
        flow.place(weighted(2, 1))
        flow.members(_JOB.stages[0].members)
        flow.report(member2="completed")
        flow.aggregated({"succeeded": 12, "conditions": [{"type": "Complete", "status": "True"}]})


def test_members_that_start_one_after_the_other(plane: ControlPlane) -> None:
    with flowing(plane, _JOB, _JOB.workload("staggered"), weighted(2, 1)) as flow:
        flow.members(_JOB.stages[0].members)
        flow.report(member1="running")
        flow.aggregated({"active": 4})
        earlier = _JOB.status("running", flow.member("member2")) | {"startTime": "2025-01-01T09:00:00Z"}
        plane.members["member2"].put_status(flow.template, earlier)
        flow.aggregated({"active": 6})


def test_running_job_is_suspended(plane: ControlPlane) -> None:
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


def test_switch_of_job_is_that_of_the_template(plane: ControlPlane) -> None:
    # karmada-apiserver knows the kind, and fills in that the template does not suspend.
    with flowing(plane, _JOB, _JOB.workload("admitted"), DUPLICATED) as flow:
        flow.members(dict.fromkeys(MEMBERS, (6,)))
        plane.members["member2"].put(flow.template, lambda now: _JOB.switched(now, suspended=True))
        flow.saw("member2's queue suspends the Job")
        flow.edited("once")
        flow.switched(suspended=False)


def test_switch_of_job_is_that_of_the_member_if_karta_says_so(plane: ControlPlane, interpreter: Interpreter) -> None:
    retain = ("metadata", "annotations", "karta-interpreter.io/retain")
    places = f"{at(karta_of(_JOB), retain)}- .spec.suspend\n"
    template = _JOB.workload("queued")
    said, member = (_JOB.switched(template, suspended=suspended) for suspended in (False, True))
    with changed(plane.karmada, _JOB, retain, places):
        until("the Karta is used", lambda: interpreter.ask("Retain", said, observedObject=member).get("patch"))
        with flowing(plane, _JOB, template, DUPLICATED) as flow:
            flow.members(dict.fromkeys(MEMBERS, (6,)))
            plane.members["member2"].put(template, lambda now: _JOB.switched(now, suspended=True))
            flow.saw("member2's queue suspends the Job")
            flow.edited("once")
            assert flow.suspended("member2") is True
            assert flow.suspended("member1") is False
