"""InterpretHealth: is a workload with ready pods healthy, and unhealthy if they fail?"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, get, parts_of
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import match_status
from karta_interpreter.engine.explain.reading import field_of
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.verification.evidence import LASTING, Evidence, failure_of, is_ready
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict
from karta_interpreter.engine.verification.members import Members

_FAILURE: Final = re.compile(
    r"fail|error|crash|degraded|unhealthy|backoff|not_?ready|unavailable|stalled", re.IGNORECASE
)
_WELL: Final = re.compile(r"ready|available|healthy|running|active|succe", re.IGNORECASE)

_differs = partial(Judgement, Question.HEALTH, Verdict.DIFFERS)
_unjudged = partial(Judgement, Question.HEALTH, Verdict.UNJUDGED)


def judge_health(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    """Compare the health of the object with the state of its pods."""
    call = Call(Operation.INTERPRET_HEALTH, evidence.object)
    is_healthy = interpret(definition, call, reader=evidence.reader)["healthy"]
    matched = f"its status: {', '.join(match_status(definition, evidence.object).matched)}"
    failures = [failure for pod in evidence.active if (failure := failure_of(pod))]
    if not failures:
        reason = _well(evidence)
        is_plausible = is_healthy and any(is_ready(pod, evidence.now) for pod in evidence.active)
        if not reason and not is_plausible:
            yield _unjudged("its pods are neither ready nor failing", matched)
        elif reason and not is_healthy:
            answered = sum(group.replicas for group in members.groups)
            if definition.answers(Operation.INTERPRET_REPLICA) and len(evidence.active or evidence.pods) < answered:
                yield _unjudged("unhealthy, and it does not have the answered number of pods", matched)
            else:
                yield _differs(f"unhealthy, and {reason}", matched, _field(definition))
        return
    if is_healthy:
        detail = f"{len(failures)} of {count(len(evidence.active), 'pod')}: {failures[0]}; {matched}"
        if why := _excuse(definition, evidence, failures):
            yield _unjudged(f"healthy, and {why}", detail)
        else:
            yield _differs("healthy, and all its pods fail", detail, _field(definition))


def _field(definition: Definition) -> str:
    if definition.annotations.health:
        return "metadata.annotations.karta-interpreter.io/health"
    return field_of(definition, definition.root.name, "statusDefinition.statusMappings")


def _well(evidence: Evidence) -> str:
    """Return why the pods do what they should, or ""."""
    pods, phases = evidence.active, {get(pod, ("status", "phase")) for pod in evidence.pods}
    if pods and all(is_ready(pod, evidence.now - LASTING) for pod in pods):
        return "all pods have been ready for five minutes"
    return "all pods have succeeded" if phases == {"Succeeded"} else ""


def _excuse(definition: Definition, evidence: Evidence, failures: Sequence[str]) -> str:
    """Return why a workload with failing pods may be healthy, or ""."""
    if len(failures) < len(evidence.active):
        return "some of its pods fail"
    if definition.status and definition.status.completes:
        return "its pods fail: it runs to completion, and may try again"
    return "" if _tells(evidence.object.get("status")) else "its pods fail, which its status does not show"


def _tells(status: JSON) -> bool:
    """Return whether a status shows trouble: a failure in words, a good condition that is false, or a count of 0."""
    pending: list[tuple[str, JSON]] = [("", status)]
    while pending:
        name, value = pending.pop()
        is_bad, is_good = bool(_FAILURE.search(name)), bool(_WELL.search(name))
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            pending.append((value["type"], {"True": 1, "False": 0}.get(str(value.get("status")))))
        elif (isinstance(value, str) and name != "message" and _FAILURE.search(value)) or (
            type(value) is int and (value if is_bad else is_good and not value)
        ):
            return True
        pending += [(name if isinstance(step, int) else step, below) for step, below in parts_of(value)]
    # Go leaves out a count of 0.
    return isinstance(status, dict) and "replicas" in status and not any("eady" in key for key in status)
