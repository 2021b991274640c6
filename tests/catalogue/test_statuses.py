"""Which of Karta's statuses each state of a workload has; the states are those of the health suites."""

from collections.abc import Sequence

from interpreter.karta.definition import Definition
from interpreter.karta.status import Status, match_status
from interpreter.operations import Operation
from interpreter.suites import Case

_INITIALIZING, _RUNNING, _COMPLETED = {Status.INITIALIZING}, {Status.RUNNING}, {Status.COMPLETED}
_FAILED, _DEGRADED, _UNDEFINED = {Status.FAILED}, {Status.DEGRADED}, {Status.UNDEFINED}
_SUSPENDED, _SUSPENDING, _RESUMING = {Status.SUSPENDED}, {Status.SUSPENDING}, {Status.RESUMING}

_STATUSES: dict[str, dict[str, set[Status]]] = {
    "Job": {
        "pods at work": _RUNNING,
        "pods that do not start": _INITIALIZING,
        "between two attempts": _INITIALIZING,
        "complete": _COMPLETED,
        "failed": _FAILED,
        # The pods that are left are ready, until they are stopped.
        "about to fail": _FAILED | _RUNNING,
        "suspended": _SUSPENDED,
        "resumed and not yet running": _INITIALIZING,
        "paused by parallelism zero": _SUSPENDED,
        "success criteria met": _COMPLETED,
        "failed, as older clusters say it": _FAILED,
        "failed and then set to no parallelism": _FAILED,
        "no status yet": _UNDEFINED,
    },
    "Deployment": {
        "rolled out and available": _RUNNING,
        # Statuses do not look at generations; health does.
        "the status is older than the spec": _RUNNING,
        "roll-out in progress": _INITIALIZING,
        "a pod is missing after the roll-out": _INITIALIZING,
        "the roll-out has stalled": _FAILED | _INITIALIZING,
        "pods cannot be created": _DEGRADED | _RUNNING,
        "scaled to zero": _RUNNING,
        "paused after the roll-out": _RUNNING,
        "paused with a new template": _INITIALIZING,
        "replicas unset": _RUNNING,
        "no pod yet": _INITIALIZING,
        "a pod that does not become available": _INITIALIZING,
        "a roll-out that cannot start": _INITIALIZING,
        "no status yet": _UNDEFINED,
    },
    "JobSet": {
        "all Jobs ready": _RUNNING,
        "some Jobs not ready": _INITIALIZING,
        "first stage at work": _RUNNING,
        "second stage at work": _RUNNING,
        "no pod yet": _INITIALIZING,
        "a Job has failed": _DEGRADED,
        "completed": _COMPLETED,
        "failed": _FAILED,
        "suspended": _SUSPENDED,
        "resumed": _INITIALIZING,
        "no status yet": _UNDEFINED,
    },
    "LeaderWorkerSet": {
        "available": _RUNNING,
        "groups starting": _INITIALIZING,
        "rolling update": _INITIALIZING,
        "a group is being recreated": _INITIALIZING,
        "the status is older than the spec": _RUNNING,
        "scaled to zero": _RUNNING,
        "from an older controller": _RUNNING,
        "no status yet": _UNDEFINED,
    },
    "PyTorchJob": {
        "running": _RUNNING,
        "created only": _INITIALIZING,
        "succeeded": _COMPLETED,
        "failed": _FAILED,
        "restarting": _DEGRADED,
        "suspended": _SUSPENDED,
        "resumed and not yet running": _INITIALIZING,
        "no status yet": _UNDEFINED,
    },
    "RayCluster": {
        "provisioned and the head is ready": _RUNNING,
        "the head is lost": _DEGRADED,
        "still being provisioned": _INITIALIZING,
        "pods cannot be created": _DEGRADED | _RUNNING,
        "the status is older than the spec": _RUNNING,
        "suspended": _SUSPENDED,
        "being suspended": _SUSPENDING,
        "resumed and not yet ready": _RESUMING | _INITIALIZING,
        "ready, as older operators say it": _RUNNING,
        "starting, as older operators say it": _INITIALIZING,
        "suspended, as older operators say it": _SUSPENDED,
        "nothing is ready yet": _INITIALIZING,
        "the head cannot be reached": _UNDEFINED,
        "being suspended, the head is gone": _SUSPENDING,
        "being suspended, as older operators say it": _SUSPENDING,
        "failed, as older operators say it": _FAILED,
        "suspended from the start, as older operators say it": _SUSPENDING,
        "resumed, as older operators say it": _RESUMING,
        "suspended and not seen": _UNDEFINED,
        "no status yet": _UNDEFINED,
    },
}


def test_the_statuses_of_each_state(definition: Definition, cases: Sequence[Case]) -> None:
    health = [case for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    matched = {case.name: set(match_status(definition, case.call.object).matched) for case in health}
    assert matched == _STATUSES[definition.gvk.kind]
