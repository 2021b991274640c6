"""The steps of cases: what each word does, and what is judged after it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.proofs.reality import queueing
from tests.proofs.reality.comparison import active
from tests.proofs.reality.experiment import Change, Experiment, GoneError
from tests.proofs.reality.findings import Finding
from tests.proofs.reality.judging import compare, dependencies, judge_retain, judge_state
from tests.proofs.reality.template import template_of
from tests.proofs.reality.verified import verified
from tests.proofs.rig.api import Object
from tests.proofs.rig.podstatus import FAILED, PENDING, RUNNING, STARTED, SUCCEEDED

Step = Callable[[Experiment, str], None]

_ENDS = {
    "Complete",
    "Completed",
    "Succeed",
    "Succeeded",
    "Failed",
    "Finished",
    "complete",
    "completed",
    "failed",
    "COMPLETED",
    "FAILED",
}
_RETRIES = 75.0
_WRITER = "fieldManager=of-the-member"


def run_step(experiment: Experiment, step: str) -> None:
    """Do a step: a word, and its argument."""
    word, _, argument = step.partition(" ")
    STEPS[word](experiment, argument)


def _pending(experiment: Experiment, state: str) -> None:
    judge_state(experiment, state or "pending", experiment.case.kind.completes)


def _suspended(experiment: Experiment, _: str) -> None:
    judge_state(experiment, "suspended", expected=True)
    _judge_pods(experiment, "pods when suspended", 0)


def _started(experiment: Experiment, _: str) -> None:
    experiment.want(STARTED)
    judge_state(experiment, "started", experiment.case.kind.completes)


def _running(experiment: Experiment, state: str) -> None:
    experiment.want(RUNNING)
    judge_state(experiment, state or "running", expected=True)


def _unready(experiment: Experiment, _: str) -> None:
    experiment.want(STARTED)
    judge_state(experiment, "unready", experiment.case.kind.completes)


def _compare(experiment: Experiment, _: str) -> None:
    """Compare what is answered for the object; only for its template where a cluster gets a part of its replicas."""
    whole = {"undefaulted": experiment.case.object} if experiment.replicas is None else {}
    compare(experiment, {**whole, "template": experiment.template})
    _verify(experiment, "")


def _verify(experiment: Experiment, _: str) -> None:
    """Verify the object as a user would on a member."""
    experiment.judge(lambda: list(verified(experiment)))


def _dependencies(experiment: Experiment, _: str) -> None:
    """For kinds whose pods are not counted."""
    experiment.judge(lambda: list(dependencies(experiment, "template", experiment.template)))


def _pods(experiment: Experiment, expected: str) -> None:
    _judge_pods(experiment, f"pods: {expected}", int(expected))


def _judge_pods(experiment: Experiment, what: str, expected: int) -> None:
    def problem() -> str:
        count = len(active(experiment.pods))
        return "" if count == expected else f"{count} pods"

    experiment.judge_that(what, problem)


def _retain(experiment: Experiment, state: str) -> None:
    judge_retain(experiment, state or "running")


def _succeed(experiment: Experiment, _: str) -> None:
    _end(experiment, SUCCEEDED)
    judge_state(experiment, "succeeded", expected=True)


def _fail(experiment: Experiment, _: str) -> None:
    _end(experiment, FAILED)
    judge_state(experiment, "failed", expected=False)


def _end(experiment: Experiment, phase: str) -> None:
    """Have pods end, and wait until the status shows an end; retries take their time."""
    ends = experiment.case.kind.ends
    experiment.want(phase, lambda pod: phase if ends(pod) else RUNNING)
    experiment.wait_until(lambda: _has_ended(experiment.live), _RETRIES)


def _has_ended(thing: Object) -> bool:
    status = thing.get("status") or {}
    parts = (status.get(name) for name in ("state", "applicationState"))
    places = (status, *(part for part in parts if isinstance(part, dict)))
    fields = ("jobDeploymentStatus", "phase", "terminalState", "state")
    named = {str(place.get(name)) for place in places for name in fields}
    conditions = status.get("conditions") or ()
    if isinstance(conditions, dict):  # a JobFlow has those of its Jobs by name
        conditions = ()
    return bool(_ENDS & named) or any(one.get("type") in _ENDS and one["status"] == "True" for one in conditions)


def _succeed_only(experiment: Experiment, component: str) -> None:
    of = experiment.case.kind.component
    experiment.want(SUCCEEDED, lambda pod: SUCCEEDED if of(pod) == component else RUNNING)
    judge_state(experiment, "succeeded", expected=True)


def _succeed_some(experiment: Experiment, count: str) -> None:
    """Have so many of the pods end well; those that follow them wait."""
    ended = {pod["metadata"]["uid"] for pod in active(experiment.pods)[: int(count)]}
    others = {pod["metadata"]["uid"] for pod in active(experiment.pods)} - ended

    def wish(pod: Object) -> str:
        uid = pod["metadata"]["uid"]
        return SUCCEEDED if uid in ended else RUNNING if uid in others else PENDING

    experiment.want(RUNNING, wish)
    experiment.steady()


def _fail_only(experiment: Experiment, component: str) -> None:
    """Have one pod of a component fail, once."""
    of, chosen = experiment.case.kind.component, set[str]()

    def wish(pod: Object) -> str:
        uid = pod["metadata"]["uid"]
        if of(pod) == component and (not chosen or uid in chosen):
            chosen.add(uid)
            return FAILED
        return RUNNING

    experiment.want(RUNNING, wish)
    judge_state(experiment, "one-failed", None)


def _lose(experiment: Experiment, component: str) -> None:
    """Delete one pod of a component, as somebody in the member does who drains a node."""
    of = experiment.case.kind.component
    lost = next(pod for pod in active(experiment.pods) if component in {"", of(pod)})
    experiment.cluster.activity.touch(experiment.case.namespace)
    experiment.cluster.member.delete(lost)


def _suspend(experiment: Experiment, _: str) -> None:
    change = _setting(experiment.case.switch, experiment.case.kind.suspended)
    if experiment.attempt("suspend", lambda: experiment.edit(change)):
        experiment.want(PENDING)
        _suspended(experiment, "")


def _resume(experiment: Experiment, _: str) -> None:
    experiment.want(PENDING)
    change = _setting(experiment.case.switch, experiment.case.kind.resumed)
    if experiment.attempt("resume", lambda: experiment.edit(change)):
        judge_state(experiment, "resumed-pending", experiment.case.kind.completes)
        _running(experiment, "resumed-running")


def _scale(experiment: Experiment, argument: str) -> None:
    """``path=value``: the user edits the object."""
    if _is_edited(experiment, argument):
        compare(experiment, {"edited": template_of(experiment.stored)})


def _edit(experiment: Experiment, argument: str) -> None:
    """``path=value``: the user edits the object; nothing is compared."""
    _is_edited(experiment, argument)


def _is_edited(experiment: Experiment, argument: str) -> bool:
    path, _, value = argument.partition("=")
    return experiment.attempt(f"edit {path}", lambda: experiment.edit(_setting(path, json.loads(value))))


def _stuck(experiment: Experiment, argument: str) -> None:
    """``path=value``: the user edits the object; the pods that are there go on, and those that follow never start."""
    kept = {pod["metadata"]["uid"] for pod in active(experiment.pods)}
    experiment.want(RUNNING, lambda pod: RUNNING if pod["metadata"]["uid"] in kept else PENDING)
    _edit(experiment, argument)
    judge_state(experiment, "stuck", expected=False)

    def problem() -> str:
        pods = [pod["metadata"]["uid"] for pod in active(experiment.pods)]
        old = len(kept.intersection(pods))
        return "" if 0 < old < len(pods) else f"{old} of {len(pods)} pods are old ones"

    experiment.judge_that("pods when stuck", problem)


def _revise(experiment: Experiment, argument: str) -> None:
    """``replicas [pods]``: the scheduler assigns so many replicas, which make so many pods."""
    numbers = [int(number) for number in argument.split()]
    experiment.replicas = numbers[0]
    if not experiment.attempt(f"revise to {numbers[0]}", experiment.send):
        return
    _pods(experiment, str(numbers[-1]))
    compare(experiment, {f"revised to {numbers[0]}": experiment.template})


def _member(experiment: Experiment, argument: str) -> None:
    """``path=value``: something in the member changes the object."""
    path, _, value = argument.partition("=")
    patch = json.loads(value)
    for name in reversed(path.split(".")):
        patch = {name: patch}
    _patch(experiment, patch, "application/merge-patch+json")


def _member_json(experiment: Experiment, argument: str) -> None:
    """A JSON patch that something in the member applies."""
    _patch(experiment, json.loads(argument), "application/json-patch+json")


def _patch(experiment: Experiment, patch: object, content_type: str) -> None:
    member = experiment.cluster.member
    experiment.cluster.activity.touch(experiment.case.namespace)
    member.request("PATCH", f"{member.path(experiment.case.object)}?{_WRITER}", patch, content_type)
    experiment.steady()


def _appear(experiment: Experiment, _: str) -> None:
    """Wait for the first pod."""
    experiment.wait_until(lambda: bool(experiment.pods), _RETRIES)


def _wait(experiment: Experiment, seconds: str) -> None:
    """Give a deadline of the object the time to pass."""
    experiment.wait_until(lambda: False, float(seconds))


def _see(experiment: Experiment, argument: str) -> None:
    """``state [true|false]``: judge the health as it is now."""
    state, _, expected = argument.partition(" ")
    judge_state(experiment, state, json.loads(expected) if expected else None)


def _source(experiment: Experiment, what: str) -> None:
    """``away|here|changed``: what the source has, or whether its server is there. The controller has to see it."""
    status = experiment.live.get("status")
    experiment.tell(what)
    experiment.wait_until(lambda: experiment.live.get("status") != status, _RETRIES)
    seen = "" if experiment.live.get("status") != status else "the status stays as it is"
    experiment.found(Finding(f"source {what}", seen))


def _bring(experiment: Experiment, name: str) -> None:
    """Create what the object needs, which its dependencies have to list."""
    (thing,) = (one for one in experiment.case.later if one["metadata"]["name"] == name)
    needed = {key: thing[key] for key in ("apiVersion", "kind")} | {"name": name}
    listed = experiment.ours.dependencies(experiment.template)
    is_listed = any(needed.items() <= one.items() for one in listed)
    experiment.found(Finding("dependencies (template)", "" if is_listed else f"{thing['kind']} {name} is missing"))
    experiment.bring(thing)
    experiment.cluster.activity.touch(experiment.case.namespace)


def _delete(experiment: Experiment, _: str) -> None:
    """Delete the object in the member."""
    experiment.end()
    experiment.cluster.activity.touch(experiment.case.namespace)


def _gone(experiment: Experiment, _: str) -> None:
    """Judge that the controller has deleted the object."""

    def problem() -> str:
        try:
            return f"it exists: {experiment.live['metadata']['name']}"
        except GoneError:
            return ""

    experiment.judge_that("gone", problem)


def _setting(path: str, value: Any) -> Change:
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))

    def change(thing: Any) -> None:
        for part in parents:
            thing = thing.setdefault(part, {}) if isinstance(thing, dict) else thing[part]
        thing[last] = value

    return change


STEPS: Mapping[str, Step] = {
    "pending": _pending,
    "suspended": _suspended,
    "started": _started,
    "running": _running,
    "unready": _unready,
    "compare": _compare,
    "verify": _verify,
    "dependencies": _dependencies,
    "pods": _pods,
    "retain": _retain,
    "succeed": _succeed,
    "succeed-only": _succeed_only,
    "succeed-some": _succeed_some,
    "fail": _fail,
    "fail-only": _fail_only,
    "lose": _lose,
    "suspend": _suspend,
    "resume": _resume,
    "edit": _edit,
    "stuck": _stuck,
    "scale": _scale,
    "revise": _revise,
    "member": _member,
    "member-json": _member_json,
    "appear": _appear,
    "wait": _wait,
    "see": _see,
    "source": _source,
    "bring": _bring,
    "delete": _delete,
    "gone": _gone,
    **queueing.STEPS,
}
