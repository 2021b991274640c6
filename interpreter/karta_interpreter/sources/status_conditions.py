"""The conditions and events that report the state of a Karta to its author.

Types, reasons and the rule of ``Ready`` are those of Karta's own controller, so either may write them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

from karta_interpreter.findings import Severity, escaped
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.loading import Loaded

VALIDATED = "Validated"
CRD_EXISTS = "CRDExists"
READY = "Ready"

_TYPES = (VALIDATED, CRD_EXISTS, READY)
_NO_REPORT = ("lastTransitionTime",)
_TOLD_BY_EVENT = (VALIDATED, CRD_EXISTS)
_MAX_CONDITION_MESSAGE = 32_768
_MAX_EVENT_MESSAGE = 1_024
_MAX_NAME = 200
"""An event's name is that of its object and a number; both together may have 253 characters."""


def conditions_of(
    loaded: Loaded, crd_served: bool, generation: int | None, now: datetime, previous: JSON, *, hidden_by: str = ""
) -> list[Object]:
    """The conditions of a Karta: those of other types as they are, then `Validated`, `CRDExists` and `Ready`.

    ``previous`` is what ``status.conditions`` holds; a ``lastTransitionTime`` in it stays while the status does.
    ``hidden_by`` names the Karta that is used instead, when an older one defines the same kind.
    """
    known = _by_type(previous)
    valid = loaded.definition is not None
    verdicts = (
        (VALIDATED, valid, *(_valid(loaded) if valid else ("ValidationFailed", _findings(loaded)))),
        (CRD_EXISTS, crd_served, *_presence(loaded, crd_served)),
        (READY, valid and crd_served and not hidden_by, *_readiness(valid and crd_served, hidden_by)),
    )
    ours = [
        _condition(kind, holds, reason, message, generation, now, known.get(kind))
        for kind, holds, reason, message in verdicts
    ]
    return [*(condition for kind, condition in known.items() if kind not in _TYPES), *ours]


def same_conditions(one: JSON, other: JSON) -> bool:
    """Return whether two lists of conditions are the same but for their times."""
    return report_of(one) == report_of(other)


def report_of(conditions: JSON) -> tuple[JSON, ...]:
    """Return conditions in a form that can be compared."""
    known = _by_type(conditions)
    return tuple(
        {field: value for field, value in known[kind].items() if field not in _NO_REPORT} if kind in known else None
        for kind in _TYPES
    )


def events_of(obj: Object, before: JSON, after: JSON, now: datetime) -> list[Object]:
    """Warning events for the conditions that have newly come to be False.

    Every replica gives an event the same name, so that only one of them is created.
    """
    old = _by_type(before)
    return [
        _event(obj, condition, now)
        for kind, condition in _by_type(after).items()
        if kind in _TOLD_BY_EVENT and condition["status"] == "False" and _says(condition) != _says(old.get(kind, {}))
    ]


def _valid(loaded: Loaded) -> tuple[str, str]:
    count = len(loaded.findings)
    warnings = f" with {count} warning{'s' if count > 1 else ''}: {_findings(loaded)}" if count else ""
    return "ValidationSucceeded", f"the definition is valid{warnings}"


def _findings(loaded: Loaded) -> str:
    errors_first = sorted(loaded.findings, key=lambda finding: finding.severity is not Severity.ERROR)
    return "; ".join(str(finding) for finding in errors_first)


def _presence(loaded: Loaded, crd_served: bool) -> tuple[str, str]:
    if loaded.gvk is None:
        return "CRDNotFound", "the definition does not name a kind"
    if crd_served:
        return "CRDFound", f"{loaded.gvk} is served"
    return "CRDNotFound", f"{loaded.gvk} is not served here: install its CRD with that version"


def _readiness(both: bool, hidden_by: str) -> tuple[str, str]:
    if not both:
        return "NotReady", f"{VALIDATED} and {CRD_EXISTS} must both be True"
    if hidden_by:
        return "NotReady", f"{hidden_by} is older and defines the same kind: delete one of the two"
    return "Ready", "the definition is in use"


def _condition(
    kind: str, holds: bool, reason: str, message: str, generation: int | None, now: datetime, previous: Object | None
) -> Object:
    status = "True" if holds else "False"
    since = previous.get("lastTransitionTime") if previous and previous.get("status") == status else None
    condition = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": _cut(message, _MAX_CONDITION_MESSAGE),
        "lastTransitionTime": since or _timestamp(now),
    }
    return condition if generation is None else {**condition, "observedGeneration": generation}


def _event(obj: Object, condition: Object, now: datetime) -> Object:
    metadata = obj["metadata"]
    subject = {
        "apiVersion": obj.get("apiVersion", ""),
        "kind": obj.get("kind", ""),
        "name": metadata.get("name", ""),
        "uid": metadata.get("uid", ""),
    }
    identity = sha256(repr((subject, _says(condition))).encode()).hexdigest()[:16]
    time = _timestamp(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        # Events about objects without a namespace go there.
        "metadata": {"name": f"{subject['name'][:_MAX_NAME]}.{identity}", "namespace": "default"},
        "involvedObject": subject,
        "type": "Warning",
        "reason": condition["reason"],
        "message": _cut(condition["message"], _MAX_EVENT_MESSAGE),
        "source": {"component": "karta-interpreter"},
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    }


def _says(condition: Object) -> tuple[JSON, ...]:
    return tuple(condition.get(field) for field in ("status", "reason", "message", "observedGeneration"))


def _by_type(conditions: JSON) -> Mapping[str, Object]:
    items: Iterable[JSON] = conditions if isinstance(conditions, list) else ()
    return {str(item["type"]): item for item in items if isinstance(item, dict) and "type" in item}


def _timestamp(moment: datetime) -> str:
    """The moment, which is in UTC, as Kubernetes writes times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _cut(text: str, length: int) -> str:
    text = escaped(text)
    return text if len(text) <= length else f"{text[: length - 2]} …"
