"""Which fields Kubernetes has in a pod, as far as a change must know them.

Custom resources put fields of their own beside those of a pod template, its metadata, its spec or a container. A
new value replaces the fields that Kubernetes has and leaves the others; below these objects it
replaces everything. Source: `core/v1/types.go` and `meta/v1/types.go` of Kubernetes 1.37.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


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
