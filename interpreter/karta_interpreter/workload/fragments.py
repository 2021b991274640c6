"""Pods given in pieces: Karta's fragmented pod spec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karta_interpreter.k8s.values import JSON, Object


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentedPodSpec:
    """The pieces of a pod that a `fragmentedPodSpecDefinition` names (`FragmentedPodSpec` of Karta's library).

    Read, None is a piece that is not there; written, None leaves a piece as it is and an empty value clears it.
    """

    scheduler_name: str | None = None
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None
    resources: Object | None = None
    resource_claims: Sequence[JSON] | None = None
    pod_affinity: Object | None = None
    node_affinity: Object | None = None
    containers: Sequence[JSON] | None = None
    container: Object | None = None
    priority_class_name: str | None = None
    image: str | None = None


SCHEMA_FIELDS: Mapping[str, str] = {
    "schedulerNamePath": "scheduler_name",
    "labelsPath": "labels",
    "annotationsPath": "annotations",
    "resourcesPath": "resources",
    "resourceClaimsPath": "resource_claims",
    "podAffinityPath": "pod_affinity",
    "nodeAffinityPath": "node_affinity",
    "containersPath": "containers",
    "containerPath": "container",
    "priorityClassNamePath": "priority_class_name",
    "imagePath": "image",
}
"""Which field of the schema says where each piece is."""

TYPES: Mapping[str, type] = {
    "scheduler_name": str,
    "labels": dict,
    "annotations": dict,
    "resources": dict,
    "resource_claims": list,
    "pod_affinity": dict,
    "node_affinity": dict,
    "containers": list,
    "container": dict,
    "priority_class_name": str,
    "image": str,
}
"""The JSON type of each piece."""
