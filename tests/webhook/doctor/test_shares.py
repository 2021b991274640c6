"""Workloads whose share is refused are named, by Karmada's events."""

from typing import Any

from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.shares import judge_shares
from tests.support.rows import rows

_MESSAGE = "status code: 422, message: definition x: cannot set 3 replicas: it has 4; Karmada can place it undivided"


def _event(kind: str = "Cluster", reason: str = "SyncWorkFailed", message: str = _MESSAGE) -> Any:
    return {"reason": reason, "message": message, "involvedObject": {"kind": kind, "namespace": "db", "name": "main"}}


def test_workload_is_named_once() -> None:
    (result,) = judge_shares([_event(), _event("ResourceBinding"), _event()])
    assert (result.level, result.check) == (Level.WARNING, "shares")
    assert result.found == "the share of 1 workload is refused: Cluster db/main"


@rows(
    "event",
    [_event(reason="ScheduleBindingFailed"), _event(message="no route to host"), _event("ResourceBinding"), {}],
)
def test_other_events_say_nothing(event: Any) -> None:
    assert list(judge_shares([event])) == []
