"""What a member shows of a workload, and the states of its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Self

import orjson

from karta_interpreter.base.findings import with_article
from karta_interpreter.base.k8s import (
    CONTAINER_LISTS,
    DEPENDENCIES_READ,
    GVK,
    JSON,
    REQUIREMENTS_READ,
    Object,
    Projection,
    generation,
    get,
    name as name_of,
    objects_in,
    parts_within,
)
from karta_interpreter.base.k8s.secret_holders import holds_secret, mentions_secrets, without_secrets
from karta_interpreter.base.k8s.shape import TIMES, Shape, check_shape
from karta_interpreter.definitions.karta import Definition, ReferenceReader
from karta_interpreter.engine.evaluation.pod_states import STARTING, is_active, is_ended
from karta_interpreter.engine.evaluation.pods import template_reads
from karta_interpreter.engine.operations import IDENTITY, is_behind, reads_of_karta
from karta_interpreter.languages.jq import take_outputs

# Of objects in a folder that anybody may have written: what every API server makes sure of.
_FIELDS: Final[dict[Any, Shape]] = {}
_FIELDS[...] = (_FIELDS,)
_PODS: Final = GVK("", "v1", "Pod")
_TEXTS: Final[Shape] = {...: str | None}  # not `str`: a label may be called runtime, and is no time
_WRITER: Final[Shape] = {"manager": (str,), "time": str, "fieldsV1": (_FIELDS,)}
_LISTED_WRITER: Final[Shape] = {"manager": str, "time": str, "fieldsV1": _FIELDS}
_OWNER: Final[Shape] = {"uid": str, "kind": str, "apiVersion": str, "controller": bool}
_METADATA: Final[Shape] = {
    **dict.fromkeys(("name", "namespace", "uid", *TIMES), str),
    "generation": int,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "ownerReferences": [_OWNER],
    "managedFields": [_WRITER],
}
_OBJECT: Final[Shape] = {"apiVersion": (str,), "kind": (str,), "metadata": _METADATA, "spec": {}, "status": {}}
_STATES: Final[Shape] = {...: {"reason": str, "exitCode": int}}
_CONTAINER: Final[Shape] = {"name": str, "image": str, "resources": {"requests": {}, "limits": {}}}
_STATUS: Final[Shape] = {"name": str, "state": _STATES, "lastState": _STATES}
_CONDITION: Final[Shape] = {"type": str, "status": str, "lastTransitionTime": str}
_POD: Final[Shape] = {
    "metadata": _METADATA,
    "spec": {"containers": [_CONTAINER], "initContainers": [_CONTAINER]},
    "status": {
        "phase": str,
        "conditions": [_CONDITION],
        "containerStatuses": [_STATUS],
        "initContainerStatuses": [_STATUS],
    },
}
_REFERENCE: Final[Shape] = {"metadata": ({"name": (str,), "namespace": str},)}
_LISTED: Final[Shape] = {
    "metadata": ({**_METADATA, "name": (str,), "uid": (str,), "managedFields": [_LISTED_WRITER]},),
    "spec": {},
    "status": {},
}
_LISTED_POD: Final[Shape] = {**_POD, "metadata": _LISTED["metadata"]}
_EVIDENCE: Final[Shape] = {"object": (_OBJECT,), "pods": [_POD], "owners": [_OBJECT], "made": {...: bool}}

# What is read of every object, beside what the definition reads.
_DESCRIBED: Final = (
    *IDENTITY,
    *(f"metadata.{name}" for name in ("uid", "generateName", "ownerReferences", *TIMES)),
    *(f"metadata.managedFields[].{name}" for name in ("manager", "operation", "subresource", "time")),
)
_READ_OF_PODS: Final = (
    "status.phase",
    *(f"status.conditions[].{name}" for name in ("type", "status", "lastTransitionTime")),
    *(f"status.{name}[].state" for name in ("containerStatuses", "initContainerStatuses")),
)

YOUNG: Final = 60
"""Seconds. A controller may still be at work on younger objects and pods."""
LASTING: Final = 300
"""Seconds. A state that lasts longer is not a passing one."""
# The most objects between a workload and a pod.
_LONGEST_CHAIN: Final = 8


def listed_object(gvk: GVK, value: JSON, *, is_reference: bool) -> Object:
    """Return a value of a list as an object of its kind, perhaps one that definitions look up.

    Raises ValueError for what no API server gives.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{with_article(gvk.kind)} is no object: it is not judged")  # noqa: TRY004 - as `check_shape`
    if value.get("kind", gvk.kind) != gvk.kind:
        raise ValueError(f"{with_article(value['kind'])} is in the list of {gvk.kind}: it is not judged")
    named = f"{gvk.kind} {name_of(value)}".rstrip()
    try:
        check_shape(named, value, _REFERENCE if is_reference else _LISTED_POD if gvk == _PODS else _LISTED)
        content = orjson.dumps(value)
    except ValueError as error:
        raise ValueError(f"{error}: it is not judged") from error
    except orjson.JSONEncodeError as error:
        raise ValueError(f"{named}: it is nested too deeply to be judged") from error
    if mentions_secrets(content):
        if is_reference and holds_secret(value):
            raise ValueError(f"{named} holds a Secret: it is not looked up")
        value = without_secrets(content)
    return {**value, **gvk.type_meta}


@dataclass(frozen=True)
class Evidence:
    """A workload and its pods in a member at the time ``now``, in seconds since 1970.

    ``owners`` are the objects between the workload and its pods. ``made`` has the ConfigMaps, claims and
    ServiceAccounts of the namespace by ``kind/name``, and whether a controller has made them. ``scaled`` is the
    autoscaler of one of the owners, "" without one. ``unread`` says why pods may be missing. ``reader`` knows other
    objects that the definition reads. ``looked_up`` has those that it reads pods from.
    """

    object: Object
    pods: tuple[Object, ...] = ()
    owners: tuple[Object, ...] = ()
    made: Mapping[str, bool] = field(default_factory=dict)
    scaled: str = ""
    unread: str = ""
    now: float = 0
    reader: ReferenceReader | None = None
    looked_up: tuple[JSON, ...] = ()

    @classmethod
    def of(cls, value: JSON, now: float, reader: ReferenceReader | None) -> Self:
        """Read the evidence of a saved folder. Raises ValueError for what no API server gives."""
        check_shape("workload", value, _EVIDENCE)
        (obj,) = objects_in([value["object"]])
        pods, owners = (tuple(objects_in(value.get(name))) for name in ("pods", "owners"))
        scaled, unread = (str(value.get(name) or "") for name in ("scaled", "unread"))
        return cls(obj, pods, owners, value.get("made") or {}, scaled, unread, now, reader)

    @cached_property
    def active(self) -> tuple[Object, ...]:
        """The pods that have not ended, and that nobody deletes."""
        return tuple(pod for pod in self.pods if is_active(pod))

    @property
    def own(self) -> tuple[Object, ...]:
        """The pods below controllers of the workload. Without any, all pods, since some operators name no controller.

        An object that names the workload as its owner only to be deleted with it may have separate pods.
        """
        uid, own = get(self.object, ("metadata", "uid")), []
        for pod in self.pods:
            *_, top = pod, *self.owners_of(pod)
            if uid in (get(top, ("metadata", "uid")), *_controllers(top)):
                own.append(pod)
        return tuple(own) or self.pods

    def owner_of(self, obj: Object) -> Object | None:
        """Return the pod or object between that controls a pod or an object between, None if the workload does."""
        for uid in _controllers(obj):
            if uid in self._owners_by_uid:
                return self._owners_by_uid[uid]
        return None

    def owners_of(self, pod: Object) -> list[Object]:
        """Return the objects between a pod and the workload, the nearest first."""
        owners: list[Object] = []
        while len(owners) < _LONGEST_CHAIN and (owner := self.owner_of(owners[-1] if owners else pod)) is not None:
            owners.append(owner)
        return owners

    def is_outdated(self, pod: Object) -> bool:
        """Return whether a pod may be of an earlier template: it was there when somebody last wrote to the spec."""
        return _created(pod) <= self.edited

    @cached_property
    def edited(self) -> float:
        """The time of the last write to the spec, 0 for none after the object was created."""
        if generation(self.object) == 1:
            return 0
        entries = objects_in(get(self.object, ("metadata", "managedFields")))
        return max((time_of(entry.get("time")) for entry in entries if get(entry, ("fieldsV1", "f:spec"))), default=0)

    @cached_property
    def is_growing(self) -> bool:
        """Whether an object between has fewer pods than it is to have."""
        for owner in self.owners:
            desired, number = get(owner, ("spec", "replicas")), get(owner, ("status", "replicas"), 0)
            if isinstance(desired, int) and isinstance(number, int) and number < desired:
                return True
        return False

    @cached_property
    def container_names(self) -> frozenset[JSON]:
        """The names of everything that looks like a container in the workload's spec and in looked-up objects."""
        names = set()
        for _, value in parts_within([self.object.get("spec"), *self.looked_up]):
            if isinstance(value, dict) and ("image" in value or "resources" in value):
                name = value.get("name")
                if isinstance(name, str):
                    names.add(name)
        return frozenset(names)

    @cached_property
    def _owners_by_uid(self) -> Mapping[JSON, Object]:
        # Pods control objects as well, such as the StatefulSet with the workers of a leader.
        return {get(owner, ("metadata", "uid")): owner for owner in (*self.pods, *self.owners)}


def reads_of_evidence(definition: Definition) -> Projection:
    """Return what `verify` reads of the evidence about an object of the definition's kind, as JSON."""
    whole, obj = Projection(), reads_of_karta(definition)
    whole.fields["object"] = obj
    whole.take("scaled", "unread")
    obj.take("status")
    template_reads(definition, obj, "restartPolicy")
    pod, owner = whole.at("pods").each(), whole.at("owners").each()
    for described in (obj, pod, owner):
        described.take(*_DESCRIBED)
    pod.take(*_READ_OF_PODS)
    pod.at("metadata", "annotations", "kubernetes.io/limit-ranger").mark()
    for spec in (pod.at("spec"), owner.at("spec", "template", "spec")):
        spec.take(*REQUIREMENTS_READ, *DEPENDENCIES_READ, "restartPolicy")
        for containers in CONTAINER_LISTS:
            spec.at(containers).each().take("name")
    for leaf in definition.leaves:
        selector = leaf.selector
        if selector.component_type:
            for name in selector.component_type.labels:
                pod.at("metadata", "labels", name).mark()
            if selector.component_type.key:
                take_outputs(pod, selector.component_type.key.query)
        if selector.instance_id:
            take_outputs(pod, selector.instance_id.query)
    return whole


def _controllers(obj: Object) -> list[JSON]:
    return [owner.get("uid") for owner in owner_references(obj) if owner.get("controller")]


def _created(obj: Object) -> float:
    return time_of(get(obj, ("metadata", "creationTimestamp")))


def owner_references(obj: Object) -> list[Object]:
    """Return the owners that an object names."""
    return objects_in(get(obj, ("metadata", "ownerReferences")))


def unsettled(definition: Definition, evidence: Evidence) -> str:
    """Return why the object may still change by itself, or ""."""
    obj, own = evidence.object, get(evidence.object, ("metadata", "namespace"))
    deletion = "metadata", "deletionTimestamp"
    namespaces = {str(get(pod, ("metadata", "namespace")) or own) for pod in evidence.pods} - {own}
    if own and namespaces:
        return f"pods are in namespace {', '.join(sorted(namespaces))}, and the object is in {own}"
    kind, name = (obj.get("apiVersion"), obj.get("kind")), get(obj, ("metadata", "name"))
    for pod in evidence.pods:
        for owner in owner_references(pod):
            if (owner.get("apiVersion"), owner.get("kind")) == kind and owner.get("name", name) != name:
                return f"pod {get(pod, ('metadata', 'name'))} is owned by {kind[1]} {owner.get('name')}, not {name}"
    if get(obj, deletion):
        return "the object is being deleted"
    if evidence.unread:
        return evidence.unread
    if definition.shows_generation and is_behind(obj):
        return f"its controller has not seen generation {generation(obj)} yet"
    if any(evidence.now - _created(created) < YOUNG for created in (obj, *evidence.pods)):
        return "the object or one of its pods is younger than a minute"
    if any(get(pod, deletion) and not is_ended(pod) for pod in evidence.pods):
        return "one of its pods is being deleted"
    return ""


def time_of(text: JSON) -> float:
    """Return a time of Kubernetes in seconds since 1970, 0 for none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0


def is_ready(pod: Object, until: float, *, ready: bool = True) -> bool:
    """Return whether a pod has been ready, or else not ready, since before a time."""
    conditions = objects_in(get(pod, ("status", "conditions")))
    condition: Object = next((item for item in conditions if item.get("type") == "Ready"), {})
    since = time_of(condition.get("lastTransitionTime")) or _created(pod)
    return (condition.get("status") == "True") == ready and since <= until


def failure_of(pod: Object) -> str:
    """Return why a container of a pod cannot run, or ""."""
    for name in ("initContainerStatuses", "containerStatuses"):
        for container in objects_in(get(pod, ("status", name))):
            reason = get(container, ("state", "waiting", "reason"))
            if reason not in STARTING:
                return str(reason)
    return ""
