"""What a member shows of a workload, and the states of its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, Self

from karta_interpreter.base.k8s import JSON, Object, generation, get, objects_in
from karta_interpreter.base.k8s.shape import check_shape
from karta_interpreter.definitions.karta import Definition, ReferenceReader
from karta_interpreter.engine.operations.interpret_health import is_stale
from karta_interpreter.engine.verification.shape import EVIDENCE

YOUNG: Final = 60
"""Seconds. A controller may still be at work on younger objects and pods."""
LASTING: Final = 300
"""Seconds. A state that lasts longer is not a passing one."""
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_CRASHES: Final = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"}
    | {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"}
)


@dataclass(frozen=True)
class Evidence:
    """A workload and its pods in a member at the time ``now``, in seconds since 1970.

    ``owners`` are the objects between the workload and its pods. ``made`` has the ConfigMaps, claims and
    ServiceAccounts of the namespace by ``kind/name``, and whether a controller has made them. ``scaled`` is the
    autoscaler of one of the owners, "" without one. ``unread`` says why pods may be missing. ``reader`` knows other
    objects that the definition reads.
    """

    object: Object
    pods: tuple[Object, ...] = ()
    owners: tuple[Object, ...] = ()
    made: Mapping[str, bool] = field(default_factory=dict)
    scaled: str = ""
    unread: str = ""
    now: float = 0
    reader: ReferenceReader | None = None

    @classmethod
    def of(cls, value: JSON, now: float, reader: ReferenceReader | None) -> Self:
        """Read the evidence of a saved folder. Raises ValueError for what no API server gives."""
        check_shape("workload", value, EVIDENCE)
        (obj,) = objects_in([value["object"]])
        pods, owners = (tuple(objects_in(value.get(name))) for name in ("pods", "owners"))
        scaled, unread = (str(value.get(name) or "") for name in ("scaled", "unread"))
        return cls(obj, pods, owners, value.get("made") or {}, scaled, unread, now, reader)

    @property
    def active(self) -> tuple[Object, ...]:
        """The pods that have not ended, and that nobody deletes."""
        return tuple(pod for pod in self.pods if is_active(pod))

    def owner_of(self, pod: Object) -> Object | None:
        """Return the object between that controls a pod, None if the workload does."""
        uids = [owner.get("uid") for owner in owner_references(pod) if owner.get("controller")]
        return next((self._owners_by_uid[uid] for uid in uids if uid in self._owners_by_uid), None)

    @cached_property
    def container_names(self) -> frozenset[JSON]:
        """The names in all parts of the workload's spec that look like containers."""
        names, pending = set[JSON](), [self.object.get("spec")]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                name = value.get("name")
                names |= {name} if isinstance(name, str) and ("image" in value or "resources" in value) else set()
            pending += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return frozenset(names)

    @cached_property
    def _owners_by_uid(self) -> Mapping[JSON, Object]:
        return {get(owner, ("metadata", "uid")): owner for owner in self.owners}


def owner_references(obj: Object) -> list[Object]:
    """Return the owners that an object names."""
    return objects_in(get(obj, ("metadata", "ownerReferences")))


def unsettled(definition: Definition, evidence: Evidence) -> str:
    """Return why the object may still change by itself, or ""."""
    obj = evidence.object
    if get(obj, ("metadata", "deletionTimestamp")):
        return "the object is being deleted"
    if evidence.unread:
        return evidence.unread
    if is_stale(definition, obj):
        return f"its controller has not seen generation {generation(obj)} yet"
    created = (time_of(get(each, ("metadata", "creationTimestamp"))) for each in (obj, *evidence.pods))
    if any(evidence.now - time < YOUNG for time in created):
        return "the object or one of its pods is younger than a minute"
    if any(get(pod, ("metadata", "deletionTimestamp")) and not is_ended(pod) for pod in evidence.pods):
        return "one of its pods is being deleted"
    return ""


def time_of(text: JSON) -> float:
    """Return a time of Kubernetes in seconds since 1970, 0 for none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0


def is_ended(pod: Object) -> bool:
    """Return whether all containers of a pod have ended for good."""
    return get(pod, ("status", "phase")) in _ENDED


def is_active(pod: Object) -> bool:
    """Return whether a pod runs or is about to."""
    return not is_ended(pod) and not get(pod, ("metadata", "deletionTimestamp"))


def is_ready(pod: Object, until: float) -> bool:
    """Return whether a pod has been ready since before a time."""
    return any(
        (each.get("type"), each.get("status")) == ("Ready", "True") and time_of(each.get("lastTransitionTime")) <= until
        for each in objects_in(get(pod, ("status", "conditions")))
    )


def failure_of(pod: Object) -> str:
    """Return why a container of a pod cannot run, or ""."""
    lists = (get(pod, ("status", name)) for name in ("initContainerStatuses", "containerStatuses"))
    reasons = (get(container, ("state", "waiting", "reason")) for each in lists for container in objects_in(each))
    return next((str(reason) for reason in reasons if reason in _CRASHES), "")
