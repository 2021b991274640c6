"""Shares of workloads that cannot be written, by Karmada's events of the last hour."""

from collections.abc import Iterable, Iterator
from typing import Final

from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.base.k8s.request_path import request_path
from karta_interpreter.webhook.doctor.result import CheckResult, warning

EVENTS: Final = request_path("", "v1", "events")
_FAILED: Final = "SyncWorkFailed"
_BINDINGS: Final = ("ResourceBinding", "ClusterResourceBinding")
_REFUSED: Final = " replicas: "
_ADVICE: Final = (
    "no change arrives in a cluster whose share is refused: `diff --from bindings` names clusters and reasons. "
    "Place the workload undivided (docs/operations.md#revisereplica). After an upgrade to groups the scheduler "
    "divides anew, and the events end"
)


def judge_shares(events: Iterable[Object]) -> Iterator[CheckResult]:
    """Warn about the workloads that have an event of a refused share."""
    refused = dict[str, None]()
    for event in events:
        workload = event.get("involvedObject") or {}
        is_refusal = "cannot set " in str(event.get("message")) and _REFUSED in str(event.get("message"))
        if event.get("reason") == _FAILED and is_refusal and workload.get("kind") not in _BINDINGS:
            namespace, name = (edit.get(workload, (field,), "") for field in ("namespace", "name"))
            refused[f"{workload.get('kind')} {namespace}/{name}"] = None
    if refused:
        yield warning(
            "shares", f"the share of {count(len(refused), 'workload')} is refused: {listed([*refused])}", _ADVICE
        )
