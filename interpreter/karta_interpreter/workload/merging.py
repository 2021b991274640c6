"""How a new value becomes part of what an object has, without loss of what the new value cannot know."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from karta_interpreter.jq.inprocess.values import equal
from karta_interpreter.k8s.values import JSON


@dataclass(frozen=True, slots=True)
class Struct:
    """An object; ``fields`` are those that Kubernetes has, each with its shape."""

    fields: "Mapping[str, Shape]"


@dataclass(frozen=True, slots=True)
class Named:
    """A list of objects with ``name`` as their key."""

    element: Struct


Shape: TypeAlias = Struct | Named | None
"""None is a value that belongs to its writer as a whole."""


def _struct(fields: str, **shapes: Shape) -> Struct:
    return Struct({**dict.fromkeys(fields.split()), **shapes})


METADATA = _struct(
    "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation "
    "labels managedFields name namespace ownerReferences resourceVersion selfLink uid"
)
RESOURCES = _struct("claims limits requests")
CONTAINER = _struct(
    "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy "
    "restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce targetContainerName "
    "terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
    resources=RESOURCES,
)
CONTAINERS = Named(CONTAINER)
AFFINITY_TERMS = _struct(
    "preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution"
)
"""Pod affinity and node affinity alike."""
RESOURCE_CLAIMS = Named(_struct("name resourceClaimName resourceClaimTemplateName"))
POD_SPEC = _struct(
    "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks evictionResponders "
    "hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets nodeName "
    "nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates restartPolicy "
    "runtimeClassName schedulerName schedulingGates schedulingGroup securityContext serviceAccount "
    "serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations "
    "topologySpreadConstraints volumes workloadRef",
    affinity=_struct("podAntiAffinity", podAffinity=AFFINITY_TERMS, nodeAffinity=AFFINITY_TERMS),
    containers=CONTAINERS,
    initContainers=CONTAINERS,
    ephemeralContainers=CONTAINERS,
    resourceClaims=RESOURCE_CLAIMS,
    resources=RESOURCES,
)
POD_TEMPLATE = Struct({"metadata": METADATA, "spec": POD_SPEC})
SHAPES: Mapping[str, Shape] = {
    "podTemplateSpecPath": POD_TEMPLATE,
    "podSpecPath": POD_SPEC,
    "metadataPath": METADATA,
    "resourcesPath": RESOURCES,
    "resourceClaimsPath": RESOURCE_CLAIMS,
    "podAffinityPath": AFFINITY_TERMS,
    "nodeAffinityPath": AFFINITY_TERMS,
    "containersPath": CONTAINERS,
    "containerPath": CONTAINER,
}
"""The shape of what each field of the schema gives; what is not here is written as a whole."""


def merge(old: JSON, new: JSON, shape: Shape) -> JSON:
    """The new value with the fields of the old one that ``shape`` does not know; the same where nothing changes.

    A null in the new value removes its field, also one that ``shape`` does not know. Named elements are merged with
    the old ones of their name, in the new order.

    >>> from karta_interpreter.workload.merging import CONTAINER
    >>> merge({"name": "main", "image": "a", "tty": True, "gpus": 1}, {"name": "main", "image": "b"}, CONTAINER)
    {'name': 'main', 'image': 'b', 'gpus': 1}
    """
    if equal(old, new):
        return old
    merged = _merged(old, new, shape)
    return old if equal(old, merged) else merged


def patch(old: JSON, change: JSON) -> JSON:
    """The old value with a change applied as RFC 7386 has it: objects are merged, null removes.

    >>> patch({"image": "a", "env": {"A": "1", "B": "2"}}, {"env": {"A": None, "C": "3"}})
    {'image': 'a', 'env': {'B': '2', 'C': '3'}}
    """
    if not isinstance(change, Mapping):
        return change
    base = old if isinstance(old, dict) else {}
    patched = {**base, **{field: patch(base.get(field), value) for field, value in change.items()}}
    return {field: value for field, value in patched.items() if field not in change or change[field] is not None}


def _merged(old: JSON, new: JSON, shape: Shape) -> JSON:
    if isinstance(shape, Struct) and isinstance(new, dict):
        return _merged_fields(old if isinstance(old, dict) else {}, new, shape)
    if isinstance(shape, Named) and isinstance(new, list):
        known = {name_of(element): element for element in old} if isinstance(old, list) else {}
        known.pop(None, None)
        return [merge(known.get(name_of(element)), element, shape.element) for element in new]
    return new


def _merged_fields(old: Mapping[str, JSON], new: Mapping[str, JSON], shape: Struct) -> dict[str, JSON]:
    merged: dict[str, JSON] = {}
    for field in {**old, **new}:
        if new.get(field) is not None:
            merged[field] = merge(old.get(field), new[field], shape.fields.get(field))
        elif field in old and (old[field] is None or not (field in new or field in shape.fields)):
            merged[field] = old[field]
    return merged


def name_of(element: JSON) -> str | None:
    """The name of a list's element, None for one without."""
    name = element.get("name") if isinstance(element, dict) else None
    return name if isinstance(name, str) else None
