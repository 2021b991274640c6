"""Karmada's application failover: which workloads our answers on health move, and what they keep of one that has moved.

A workload that stays is watched next to one that moves: both have the same toleration, and the one that moves is
unhealthy for less time than the other one waits.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import pytest

from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.export.policies import failover_policy
from tests.proofs.e2e.flow import Flow, flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import changed, karta_of
from tests.proofs.e2e.kinds import KINDS, Kind, Stage, kind_of
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import ONE_CLUSTER, propagation

_TOLERATION = 3
_LONG_TOLERATION = 15
"""For a workload that is unhealthy also in the other cluster, until the test has read there what it has to report."""
_OTHER = {"member1": "member2", "member2": "member1"}

pytestmark = pytest.mark.usefixtures("interpreter")


def test_waiting_job_stays_and_service_that_does_not_start_moves(plane: ControlPlane) -> None:
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
def test_failed_job_runs_again_elsewhere(plane: ControlPlane, kind: str, seen: str) -> None:
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


def test_failed_job_stays_if_its_karta_says_so(plane: ControlPlane, interpreter: Interpreter) -> None:
    named = ("metadata", "annotations", "karta-interpreter.io/healthy-statuses")
    statuses = "Initializing, Running, Completed, Failed, Suspended"
    kind = kind_of("Job")
    failed = put(kind.workload("asked"), ("status",), kind.status("failed", {}))
    with changed(plane.karmada, kind, named, statuses):
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


def test_flink_job_keeps_savepoint_and_upgrade_mode(
    plane: ControlPlane, installed: Installed, interpreter: Interpreter
) -> None:
    """In two failovers in a row, by the rules of the policy that we export."""
    kind = kind_of("FlinkDeployment")
    rules = _preserved_state(kind)
    with _interpreted(plane, installed, interpreter, kind), ExitStack() as stack:
        job = _reported(stack, plane, kind.name, "resumes", "starting")
        home = _home(job)
        _tolerate(job, "Directly", _LONG_TOLERATION, rules)
        for stage, following in pairwise(kind.stages):
            replaced: str = job.member(home)["metadata"]["uid"]
            job.report(**{home: "starting"})
            home = _moved(job, home, stage)
            _assert_resumes(job, home, replaced, following)


def _preserved_state(kind: Kind) -> Mapping[str, str]:
    """Return the rules for state in the policy for the kind, by their labels."""
    policy: Any = failover_policy(load_definition(karta_of(kind))).manifest
    rules = policy["spec"]["failover"]["application"]["statePreservation"]["rules"]
    return {rule["aliasLabelName"]: rule["jsonPath"] for rule in rules}


def _assert_resumes(job: Flow, home: str, replaced: str, stage: Stage) -> None:
    """Restore the job in its new cluster as a mutation there does, and change the template when it runs."""
    kind, member = job.kind, job.plane.members[home]
    until("the new object names the job that it replaces", lambda: replaced in _labels(job, home).values())
    member.put(job.template, lambda now: _with_stray_field(_restored(now, replaced)))
    restored = job.member(home)["spec"]["job"]
    job.saw(f"{home} starts it from {restored['initialSavepointPath']}")
    assert replaced in restored["initialSavepointPath"]
    job.report(**{home: "running"})
    job.health(**{home: "Healthy"})
    # From here on Karmada gives the object the label of the failover no longer.
    until("the failover is over", lambda: not job.binding()["spec"].get("gracefulEvictionTasks"))
    job.apply(kind.scaled(job.template, stage.template))
    changed = job.members({home: stage.template})[home]["spec"]
    assert "restartNonce" not in changed, "an update writes the whole spec, but for what Retain keeps"
    assert changed["job"] == restored | {"parallelism": changed["job"]["parallelism"]}
    job.saw(f"after a change of the template it has {changed['job']}")


@contextmanager
def _interpreted(plane: ControlPlane, installed: Installed, interpreter: Interpreter, kind: Kind) -> Iterator[None]:
    """Have one more kind interpreted than those that all tests use."""
    karta = karta_of(kind)
    plane.karmada.apply(karta)
    try:
        installed.registered({"url": interpreter.url}, len(KINDS) + 1)
        yield
    finally:
        plane.karmada.delete(karta)
        installed.registered({"url": interpreter.url})


def _labels(flow: Flow, name: str) -> Mapping[str, str]:
    labels: Mapping[str, str] = flow.member(name)["metadata"].get("labels", {})
    return labels


def _restored(thing: Object, replaced: str) -> Object:
    """Return the object as a mutation in the member makes it from the id of the job that it replaces."""
    path = f"s3://flink/checkpoints/{replaced}/chk-12"
    job = thing["spec"]["job"] | {"initialSavepointPath": path, "upgradeMode": "last-state"}
    return thing | {"spec": thing["spec"] | {"job": job}}


def _with_stray_field(thing: Object) -> Object:
    changed: Object = put(thing, ("spec", "restartNonce"), 7)
    return changed


def _reported(stack: ExitStack, plane: ControlPlane, kind_name: str, name: str, state: str) -> Flow:
    """Propagate a workload to one cluster, which reports that state."""
    kind = kind_of(kind_name)
    flow = stack.enter_context(flowing(plane, kind, kind.workload(f"{name}-{kind_name.lower()}"), ONE_CLUSTER))
    home = _home(flow)
    flow.members({home: kind.stages[0].template})
    flow.report(**{home: state})
    flow.reported(home, kind.status(state, flow.member(home)))
    return flow


def _tolerate(
    flow: Flow, purge_mode: str, seconds: int = _TOLERATION, preserved: Mapping[str, str] | None = None
) -> None:
    """Let the workload fail over; only now, so that it does not before it has reported.

    ``preserved`` has the labels that the next object gets, with what is read for them in the status of the last one.
    """
    application: Object = {"decisionConditions": {"tolerationSeconds": seconds}, "purgeMode": purge_mode}
    if preserved:
        rules = [{"aliasLabelName": label, "jsonPath": path} for label, path in preserved.items()]
        application["statePreservation"] = {"rules": rules}
    policy = put(propagation(flow.template, ONE_CLUSTER), ("spec", "failover"), {"application": application})
    flow.karmada.apply(policy)
    until(f"{flow.name} may fail over", lambda: flow.binding()["spec"].get("failover"))
    flow.saw(f"may fail over after {seconds} s")


def _home(flow: Flow) -> str:
    name: str = flow.scheduled_to_one()["spec"]["clusters"][0]["name"]
    return name


def _moved(flow: Flow, before: str, stage: Stage | None = None) -> str:
    """Wait until the workload is in the other cluster with the counts of a stage, by default the first; return that."""
    after, stage = _OTHER[before], stage or flow.kind.stages[0]
    flow.scheduled({after: stage.pods})
    flow.members({after: stage.template})
    return after


def _is_gone(flow: Flow, name: str) -> bool:
    return flow.plane.members[name].find(flow.template) is None
