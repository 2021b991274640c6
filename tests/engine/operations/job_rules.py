"""What an API server demands of a new status of a Job, told once more in Python.

From Kubernetes 1.35: ``validateJobStatus`` and ``ValidateJobStatusUpdate`` of ``pkg/apis/batch/validation``, with
the options of ``getStatusValidationOptions`` in ``pkg/registry/batch/job/strategy.go``. Most rules are asked only
when a field that they speak of changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Spec = dict[str, Any]
Status = dict[str, Any]

_Changed = Callable[..., bool]
"""Whether one of the readings of that name is another than before."""


def complaints(spec: Spec, before: Status, after: Status) -> list[str]:
    """The rules that an update of a Job's status breaks."""
    old, new = _Job.of(before), _Job.of(after)

    def changed(*names: str) -> bool:
        return any(getattr(old, name) != getattr(new, name) for name in names)

    return [
        *_shape(new),
        *_outcome(spec, new, changed),
        *_pods(spec, new, changed),
        *_indexes(spec, new, changed),
        *_transition(spec, old, new),
    ]


@dataclass(frozen=True, slots=True)
class _Job:
    """What the rules read of a status; absent counters are 0."""

    conditions: frozenset[tuple[str, str]]
    active: int
    succeeded: int
    failures: int
    ready: int | None
    terminating: int | None
    uncounted: tuple[str, ...] | None
    start: datetime | None
    end: datetime | None
    done: str
    lost: str | None

    @classmethod
    def of(cls, status: Status) -> "_Job":
        pods = status.get("uncountedTerminatedPods")
        return cls(
            conditions=frozenset((one["type"], one["status"]) for one in status.get("conditions") or ()),
            active=status.get("active", 0),
            succeeded=status.get("succeeded", 0),
            failures=status.get("failed", 0),
            ready=status.get("ready"),
            terminating=status.get("terminating"),
            uncounted=None if pods is None else (*pods.get("succeeded", ()), *pods.get("failed", ())),
            start=_time(status.get("startTime")),
            end=_time(status.get("completionTime")),
            done=status.get("completedIndexes", ""),
            lost=status.get("failedIndexes"),
        )

    @property
    def complete(self) -> bool:
        return ("Complete", "True") in self.conditions

    @property
    def failed(self) -> bool:
        return ("Failed", "True") in self.conditions

    @property
    def met(self) -> bool:
        return ("SuccessCriteriaMet", "True") in self.conditions

    @property
    def target(self) -> bool:
        return ("FailureTarget", "True") in self.conditions

    @property
    def finished(self) -> bool:
        return self.complete or self.failed


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _shape(new: _Job) -> Iterator[str]:
    if min(new.active, new.succeeded, new.failures, new.ready or 0, new.terminating or 0) < 0:
        yield "a counter is negative"
    uncounted = new.uncounted or ()
    if "" in uncounted or len(set(uncounted)) < len(uncounted):
        yield "an uncounted pod has no UID, or is there twice"


def _outcome(spec: Spec, new: _Job, changed: _Changed) -> Iterator[str]:
    if changed("complete", "failed") and new.complete and new.failed:
        yield "Complete and Failed"
    if changed("complete", "target") and new.complete and new.target:
        yield "Complete and FailureTarget"
    if changed("failed", "lost") and new.failed and not new.target:
        yield "Failed without FailureTarget"
    if changed("complete", "met") and new.complete and not new.met:
        yield "Complete without SuccessCriteriaMet"
    if new.met and (new.failed or new.target):
        yield "SuccessCriteriaMet and Failed or FailureTarget"
    if spec.get("successPolicy") is not None and new.complete and not new.met:
        yield "Complete against the success policy"
    if changed("complete", "end") and new.complete is (new.end is None):
        yield "completionTime has to be there with Complete, and only then"
    if changed("start", "end") and new.start is not None and new.end is not None and new.end < new.start:
        yield "completed before it started"


def _pods(spec: Spec, new: _Job, changed: _Changed) -> Iterator[str]:
    never_ran = spec.get("suspend") is True and spec.get("completions") == 0
    if changed("finished", "active") and new.finished and new.active:
        yield "finished with active pods"
    if changed("finished", "terminating") and new.finished and new.terminating:
        yield "finished with terminating pods"
    if changed("finished", "uncounted") and new.finished and new.uncounted:
        yield "finished with uncounted pods"
    if changed("finished", "start") and new.finished and new.start is None and not never_ran:
        yield "finished without a start"
    if changed("ready", "active") and (new.ready or 0) > new.active:
        yield "more ready pods than active ones"


def _indexes(spec: Spec, new: _Job, changed: _Changed) -> Iterator[str]:
    per_index = spec.get("backoffLimitPerIndex") is not None
    if changed("done") and new.done and spec.get("completionMode") != "Indexed":
        yield "completedIndexes of a Job that is not indexed"
    if changed("lost") and new.lost is not None and not per_index:
        yield "failedIndexes without backoffLimitPerIndex"
    if spec.get("completions") is None:
        return
    done, lost = _parsed(new.done, spec["completions"]), _parsed(new.lost or "", spec["completions"])
    if changed("done") and done is None:
        yield "completedIndexes is malformed"
    if changed("lost") and lost is None and per_index:
        yield "failedIndexes is malformed"
    if changed("done", "lost") and done and lost and done & lost:
        yield "an index has completed and failed"


def _parsed(text: str, completions: int) -> set[int] | None:
    """The indexes of a text such as ``1,3-5``; None when it is malformed or goes beyond the completions."""
    indexes: list[int] = []
    for interval in text.split(",") if text else ():
        first, dash, last = interval.partition("-")
        if not first.isdecimal() or (dash and not (last.isdecimal() and int(first) < int(last))):
            return None
        indexes += range(int(first), int(last or first) + 1)
    if indexes != sorted(set(indexes)) or any(index >= completions for index in indexes):
        return None
    return set(indexes)


def _transition(spec: Spec, old: _Job, new: _Job) -> Iterator[str]:
    for name in ("failed", "complete", "target", "met"):
        if getattr(old, name) and not getattr(new, name):
            yield f"{name} is taken back"
    if old.complete and not old.met and new.met:
        yield "SuccessCriteriaMet comes after Complete"
    if new.failures < old.failures:
        yield "failed falls"
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if new.succeeded < old.succeeded and not elastic:
        yield "succeeded falls"
    if old.end is not None and new.end is not None and old.end != new.end:
        yield "completionTime moves"
    resumes = ("Suspended", "True") in old.conditions and ("Suspended", "False") in new.conditions
    if old.start is not None and old.start != new.start and not resumes and not spec.get("suspend"):
        yield "startTime moves or goes"
