"""Which of Karta's statuses each state of a workload has; the states are those of the suites."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from interpreter.errors import InterpretationError
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import Object
from interpreter.karta.definition import Definition
from interpreter.karta.status import Status, match_status
from interpreter.karta.status_rules import Matcher
from interpreter.operations import Operation
from interpreter.suites import Case

_INITIALIZING, _RUNNING, _COMPLETED = {Status.INITIALIZING}, {Status.RUNNING}, {Status.COMPLETED}
_FAILED, _DEGRADED, _UNDEFINED = {Status.FAILED}, {Status.DEGRADED}, {Status.UNDEFINED}
_SUSPENDED, _SUSPENDING, _RESUMING = {Status.SUSPENDED}, {Status.SUSPENDING}, {Status.RESUMING}

_STATUSES: dict[GVK, dict[str, set[Status]]] = {
    GVK("batch", "v1", "Job"): {
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
    GVK("apps", "v1", "Deployment"): {
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
    GVK("jobset.x-k8s.io", "v1alpha2", "JobSet"): {
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
    GVK("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"): {
        "available": _RUNNING,
        "groups starting": _INITIALIZING,
        "rolling update": _INITIALIZING,
        "a group is being recreated": _INITIALIZING,
        "the status is older than the spec": _RUNNING,
        "scaled to zero": _RUNNING,
        "from an older controller": _RUNNING,
        "no status yet": _UNDEFINED,
    },
    GVK("kubeflow.org", "v1", "PyTorchJob"): {
        "running": _RUNNING,
        "created only": _INITIALIZING,
        "succeeded": _COMPLETED,
        "failed": _FAILED,
        "restarting": _DEGRADED,
        "suspended": _SUSPENDED,
        "resumed and not yet running": _INITIALIZING,
        "no status yet": _UNDEFINED,
    },
    GVK("ray.io", "v1", "RayCluster"): {
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


def test_every_way_to_have_a_status_is_shown_by_a_case(definition: Definition, cases: Sequence[Case]) -> None:
    objects = [obj for case in cases for obj in _live(case)]
    unmet = [
        (status.value, number)
        for status, matchers in (definition.status.mappings if definition.status else ())
        for number, matcher in enumerate(matchers)
        if not any(_is_met(definition, matcher, obj) for obj in objects)
    ]
    assert unmet == [], "the number is that of the entry in the list of a status"


def _live(case: Case) -> Iterator[Object]:
    yield case.call.object
    if case.call.observed is not None:
        yield case.call.observed
    for item in case.call.items:
        yield {**case.call.object, "status": item.status}


def _is_met(definition: Definition, matcher: Matcher, obj: Object) -> bool:
    """Whether an object matches when this is the only way to have any status."""
    assert definition.status
    rules = replace(definition.status, mappings=((Status.RUNNING, (matcher,)),))
    try:
        return match_status(replace(definition, status=rules), obj).matched == (Status.RUNNING,)
    except InterpretationError:
        return False


def test_the_statuses_of_each_state(definition: Definition, cases: Sequence[Case]) -> None:
    health = [case for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    matched = {case.name: set(match_status(definition, case.call.object).matched) for case in health}
    assert matched == _STATUSES.get(definition.gvk, matched)
