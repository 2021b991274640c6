"""InterpretHealth: is a workload with ready pods healthy, and unhealthy if they fail?"""

import re
from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.k8s import JSON, get, parts_of
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import Status, match_status
from karta_interpreter.engine.explain.reading import field_of
from karta_interpreter.engine.operations import Call, Operation, healthy_statuses, interpret
from karta_interpreter.engine.operations.aggregate import is_suspended
from karta_interpreter.engine.verification.evidence import LASTING, YOUNG, Evidence, failure_of, is_ready
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict
from karta_interpreter.engine.verification.members import Members

_FAILURE: Final = re.compile(
    r"fail|error|crash|degraded|unhealthy|backoff|not_?ready|unavailable|stalled", re.IGNORECASE
)
# Words of failure and success in statuses. The definition's own rules, which are judged, cannot stand for them.
_WELL: Final = re.compile(r"ready|available|healthy|running|active|succe", re.IGNORECASE)
_RESTART: Final = ("spec", "restartPolicy")
_PAUSES: Final = (
    ("spec", "paused"),
    ("spec", "updateStrategy", "paused"),
    ("spec", "updateStrategy", "rollingUpdate", "paused"),
)
_READY: Final = "all its pods are ready"
_SUCCEEDED: Final = "all its pods have succeeded"
_STOPPED: Final = "it is to have no pods"
_WAITING: Final = "none of its pods has failed"
_UNREADY: Final = "none of its pods is ready"
_FAILED: Final = "its pods have failed or are gone"
_UNCLEAR: Final = "some of its pods are ready, or have not been there for long"
# Whether a workload is healthy by docs/health.md, from the state of its pods.
_HEALTHY: Final = {_READY: True, _SUCCEEDED: True, _STOPPED: True, _WAITING: True, _UNREADY: False, _FAILED: False}


def judge_health(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    """Compare the health of the object with the state of its pods."""
    call = Call(Operation.INTERPRET_HEALTH, evidence.object)
    is_healthy = interpret(definition, call, reader=evidence.reader)["healthy"]
    sets = [own for group in members.groups for own in group.sets]
    replicas = None
    if sets and definition.answers(Operation.INTERPRET_REPLICA):
        replicas = sum(own.replicas for own in sets)
    # Pods that end belong to jobs, which an object without a count starts at times that nobody knows.
    starts = replicas is None and any(get(own.template, _RESTART) not in (None, "Always") for own in sets)
    state = _state(definition, evidence, replicas, starts=starts)
    if is_healthy == _HEALTHY.get(state):
        return
    doubt = next((doubt for holds, doubt in _doubts(definition, evidence, state, replicas) if holds), "")
    reason = ", but ".join(filter(None, (f"{'healthy' if is_healthy else 'unhealthy'}, and {state}", doubt)))
    failures = [*filter(None, map(failure_of, evidence.active))]
    status = f"its status: {', '.join(match_status(definition, evidence.object).matched)}"
    detail = "; ".join([*failures[:1], status])
    if doubt or state == _UNCLEAR:
        yield Judgement(Question.HEALTH, Verdict.UNJUDGED, reason, detail)
        return
    field = field_of(definition, definition.root.name, "statusDefinition.statusMappings")
    if definition.annotations.health:
        field = "metadata.annotations.karta-interpreter.io/health"
    yield Judgement(Question.HEALTH, Verdict.DIFFERS, reason, detail, field)


def _state(definition: Definition, evidence: Evidence, replicas: int | None, *, starts: bool) -> str:
    pods, phases = evidence.active, frozenset(get(pod, ("status", "phase")) for pod in evidence.pods)
    if pods and all(is_ready(pod, evidence.now) for pod in pods):
        return _READY
    # A job is healthy until it fails. The annotation `health` may have another rule.
    may_wait = Status.INITIALIZING in healthy_statuses(definition) and not definition.annotations.health
    if (may_wait if pods else starts) and "Failed" not in phases and not any(map(failure_of, pods)):
        return _WAITING
    if pods:
        is_failing = all(failure_of(pod) or is_ready(pod, evidence.now - LASTING, ready=False) for pod in pods)
        return _UNREADY if is_failing else _UNCLEAR
    if not phases and (replicas == 0 or is_suspended(definition, evidence.object)):
        return _STOPPED
    if phases == {"Succeeded"}:
        return _SUCCEEDED
    is_over = replicas and phases <= {"Failed", "Succeeded"} and _tells_failure(evidence)
    return _FAILED if phases == {"Failed"} or is_over else _UNCLEAR


def _doubts(
    definition: Definition, evidence: Evidence, state: str, replicas: int | None
) -> Iterator[tuple[object, str]]:
    """Yield each reason why the pods may not show the health of the workload, after whether it holds."""
    healthy, pods = healthy_statuses(definition), evidence.active
    may_wait, has_failed = Status.INITIALIZING in healthy, _tells_failure(evidence)
    are_jobs = replicas is None and any(get(pod, _RESTART, "Always") != "Always" for pod in evidence.pods)
    yield state in (_UNREADY, _FAILED) and are_jobs, "its kind starts others"
    yield (state == _UNREADY and may_wait) or (state == _FAILED and not has_failed), "it may wait or try again"
    yield state == _FAILED and Status.FAILED in healthy, "a failure counts as healthy"
    yield state == _UNREADY and not _tells(evidence.object.get("status")), "its status does not show it"
    yield state == _STOPPED and evidence.now - evidence.edited < YOUNG, "it may not have stopped yet"
    has_fewer = len(pods or evidence.pods) < (replicas or 0)
    yield state in (_READY, _SUCCEEDED) and has_fewer, "it has fewer pods than the answer"
    yield (
        has_failed and (state in (_READY, _STOPPED, _WAITING) or may_wait) and state != _FAILED,
        ("its status tells of a failure"),
    )
    is_paused = any(get(evidence.object, path) is True for path in _PAUSES)
    yield state == _READY and is_paused, "its roll-out is paused"
    is_lasting = all(is_ready(pod, evidence.now - LASTING) for pod in pods)
    yield state == _READY and not is_lasting, "not for five minutes yet"
    is_earlier = not may_wait and any(map(evidence.is_outdated, pods))
    yield state == _READY and is_earlier, "they may be of an earlier template"


def _tells_failure(evidence: Evidence) -> bool:
    """Return whether a status shows that the whole workload has failed, not one of many parts."""
    conditions = {}
    for name, part in (evidence.object.get("status") or {}).items():
        has_parts = isinstance(part, dict) and any(isinstance(below, dict) for below in part.values())
        if not has_parts:
            conditions[name] = part
    return _tells(conditions, counts=False)


def _tells(status: JSON, *, counts: bool = True) -> bool:
    """Return whether a status shows a failure in words, or trouble: a good condition that is false, or a count of 0."""
    pending: list[tuple[str, JSON]] = [("", status)]
    while pending:
        name, value = pending.pop()
        is_bad, is_good = bool(_FAILURE.search(name)), bool(_WELL.search(name))
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            holds = {"True": 1, "False": 0}.get(str(value.get("status")))
            if counts:
                pending.append((value["type"], holds))
            elif holds:
                pending.append(("", value["type"]))
        elif (isinstance(value, str) and name not in ("message", "type") and _FAILURE.search(value)) or (
            counts and type(value) is int and (value if is_bad else is_good and not value)
        ):
            return True
        for step, below in parts_of(value):
            pending.append((name if isinstance(step, int) else step, below))
    # Go leaves out a count of 0.
    return counts and isinstance(status, dict) and "replicas" in status and not any("eady" in key for key in status)
