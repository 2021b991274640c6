"""Karmada's application failover: which workloads our answers on health move, and which they leave where they are.

A workload that stays is watched beside one that moves: both have the same toleration, and the one that moves is
unhealthy for less time than the other one waits.
"""

from contextlib import ExitStack

import pytest

from tests.e2e.flow import Flow, flowing
from tests.e2e.kinds import kind_of, put
from tests.e2e.rig.api import Object, until
from tests.e2e.rig.installation import kartas
from tests.e2e.rig.interpreter import Interpreter
from tests.e2e.rig.plane import ControlPlane
from tests.e2e.rig.policy import ONE_CLUSTER, propagation

_TOLERATION = 3
_OTHER = {"member1": "member2", "member2": "member1"}

pytestmark = pytest.mark.usefixtures("interpreter")


def test_a_job_that_waits_stays_and_a_service_that_does_not_start_moves(plane: ControlPlane) -> None:
    with ExitStack() as stack:
        jobs = [_reported(stack, plane, kind, "waits", "starting") for kind in ("Job", "JobSet", "PyTorchJob")]
        service = _reported(stack, plane, "Deployment", "starves", "starting")
        homes = [_home(job) for job in jobs]
        for job, home in zip(jobs, homes, strict=True):
            job.health(**{home: "Healthy"})
            _tolerate(job, "Directly")
        before = _home(service)
        _tolerate(service, "Gracefully")
        after = _moved(service, before)
        assert [_home(job) for job in jobs] == homes
        assert not any(job.binding()["spec"].get("gracefulEvictionTasks") for job in jobs)
        service.member(before)  # stays until the other one is healthy
        service.report(**{after: "running"})
        until(f"{before} has no {service.name}", lambda: _is_gone(service, before))
        service.health(**{after: "Healthy"})


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        pytest.param("PyTorchJob", "Running", id="the template has the status of the second run"),
        pytest.param("Job", "Failed", id="API servers do not let a Job take back that it has failed"),
    ],
)
def test_a_job_that_has_failed_runs_again_elsewhere(plane: ControlPlane, kind: str, seen: str) -> None:
    with ExitStack() as stack:
        job = _reported(stack, plane, kind, "fails", "failed")
        job.aggregated({"conditions": [{"type": "Failed", "status": "True"}]})
        before = _home(job)
        _tolerate(job, "Directly")
        after = _moved(job, before)
        until(f"{before} has no {job.name}", lambda: _is_gone(job, before))
        job.report(**{after: "running"})
        job.health(**{after: "Healthy"})
        job.aggregated({"conditions": [{"type": seen, "status": "True"}]})


def test_a_job_that_has_failed_stays_where_its_karta_says_so(plane: ControlPlane, interpreter: Interpreter) -> None:
    (karta,) = (karta for karta in kartas() if karta["metadata"]["name"] == "batch-job-v1")
    named = ("metadata", "annotations", "karta-interpreter.io/healthy-statuses")
    plane.karmada.apply(put(karta, named, "Initializing, Running, Completed, Failed, Suspended"))
    kind = kind_of("Job")
    failed = put(kind.workload("asked"), ("status",), kind.status("failed", {}))
    try:
        until("the Karta is used", lambda: interpreter.ask("InterpretHealth", failed).get("healthy"))
        with ExitStack() as stack:
            job = _reported(stack, plane, "Job", "settles", "failed")
            service = _reported(stack, plane, "Deployment", "leaves", "starting")
            home, before = _home(job), _home(service)
            job.health(**{home: "Healthy"})
            _tolerate(job, "Directly")
            _tolerate(service, "Directly")
            _moved(service, before)
            assert _home(job) == home
    finally:
        plane.karmada.apply(karta)


def _reported(stack: ExitStack, plane: ControlPlane, kind_name: str, name: str, state: str) -> Flow:
    """Propagate a workload to one cluster, which reports that state."""
    kind = kind_of(kind_name)
    flow = stack.enter_context(flowing(plane, kind, kind.workload(f"{name}-{kind_name.lower()}"), ONE_CLUSTER))
    home = _home(flow)
    flow.members({home: kind.stages[0].template})
    flow.report(**{home: state})
    flow.reported(home, kind.status(state, flow.member(home)))
    return flow


def _tolerate(flow: Flow, purge_mode: str) -> None:
    """Let the workload fail over; only now, so that it does not before it has reported."""
    application: Object = {"decisionConditions": {"tolerationSeconds": _TOLERATION}, "purgeMode": purge_mode}
    policy = put(propagation(flow.template, ONE_CLUSTER), ("spec", "failover"), {"application": application})
    flow.karmada.apply(policy)
    until(f"{flow.name} may fail over", lambda: flow.binding()["spec"].get("failover"))
    flow.saw(f"may fail over after {_TOLERATION} s")


def _home(flow: Flow) -> str:
    """Return the only cluster of the workload."""
    name: str = flow.scheduled_to_one()["spec"]["clusters"][0]["name"]
    return name


def _moved(flow: Flow, before: str) -> str:
    """Wait until the workload is in the other cluster, and return that."""
    after = _OTHER[before]
    flow.scheduled({after: flow.kind.stages[0].pods})
    flow.members({after: flow.kind.stages[0].template})
    return after


def _is_gone(flow: Flow, name: str) -> bool:
    return flow.plane.members[name].find(flow.template) is None
