"""What a component's definition extracts from an object, one value per instance.

Source: `pkg/resource/accessor.go` and `component.go` of the Karta project; what is different here is in
docs/compatibility.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karta_interpreter.errors import QueryError
from karta_interpreter.jq import Query
from karta_interpreter.k8s.values import JSON, Object, field_path, type_name
from karta_interpreter.karta.definition import Component, Fragments, PodSpec, PodTemplate
from karta_interpreter.karta.evaluation import aligned, aligned_or_absent, failure, instance_ids
from karta_interpreter.karta.scale import Scale, scales
from karta_interpreter.karta.templates import templates


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


Ids = tuple[str, ...]

_WHOLE = ("podTemplateSpecPath", "podSpecPath")
"""Fields that must say something of every named instance; the others may say nothing at all."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a component (`ExtractedInstance` of Karta's library).

    ``id`` is "" where the definition has no `instanceIdPath`. Of the pod fields only those are set whose paths the
    definition has and for which the object has a value; ``scale`` is None where the definition has none, and where
    the object has no pods of the whole component. ``has_pods``: the object describes pods of
    this instance; ``replicas`` is how many units of it there are in the whole workload: its replicas, else its
    minimum, else 1, and 0 where the definition knows its pods and the object does not.
    """

    id: str
    has_pods: bool
    replicas: int
    scale: Scale | None = None
    pod_template: Object | None = None
    pod_spec: Object | None = None
    pod_metadata: Object | None = None
    fragmented_pod_spec: FragmentedPodSpec | None = None


def extract_pod_templates(component: Component, obj: Object, ids: Ids) -> list[Object | None]:
    """The pod template of each instance; nothing without `podTemplateSpecPath`."""
    if not isinstance(component.pods, PodTemplate):
        return []
    return _read(component, "podTemplateSpecPath", component.pods.query, obj, ids, dict)


def extract_pod_specs(component: Component, obj: Object, ids: Ids) -> list[Object | None]:
    """The pod spec of each instance; nothing without `podSpecPath`."""
    if not isinstance(component.pods, PodSpec):
        return []
    return _read(component, "podSpecPath", component.pods.query, obj, ids, dict)


def extract_pod_metadata(component: Component, obj: Object, ids: Ids) -> list[Object | None]:
    """The metadata of each instance's pods; nothing without `metadataPath`."""
    if not isinstance(component.pods, PodSpec) or component.pods.metadata is None:
        return []
    return _read(component, "metadataPath", component.pods.metadata, obj, ids, dict)


def extract_fragments(component: Component, obj: Object, ids: Ids) -> list[FragmentedPodSpec]:
    """The pieces of each instance's pods; nothing without `fragmentedPodSpecDefinition`."""
    if not isinstance(component.pods, Fragments):
        return []
    found: list[dict[str, JSON]] = [{} for _ in ids]
    for field, query in component.pods.queries:
        piece = SCHEMA_FIELDS[field]
        for pieces, value in zip(found, _read(component, field, query, obj, ids, TYPES[piece]), strict=True):
            pieces[piece] = value
    return [FragmentedPodSpec(**pieces) for pieces in found]


def extract_scales(component: Component, obj: Object, ids: Ids) -> list[Scale]:
    """The counts of each instance; nothing without a `scaleDefinition` that has a path."""
    if component.replicas is component.min_replicas is component.max_replicas is None:
        return []
    return scales(component, obj, ids)


def extract_instances(component: Component, obj: Object) -> Mapping[str, Instance]:
    """Every instance with everything, by id and in the order of the object."""
    ids = instance_ids(component, obj)
    pods = [None] * len(ids) if component.pods is None else templates(component, component.pods, obj, ids)
    # Counts are read only where pods exist: `.worker.replicas // 1` counts a worker that is not there.
    counts = extract_scales(component, obj, ids) if component.pods is None or any(pods) else []
    columns: tuple[list[Any], ...] = (
        counts,
        extract_pod_templates(component, obj, ids),
        extract_pod_specs(component, obj, ids),
        extract_pod_metadata(component, obj, ids),
        extract_fragments(component, obj, ids),
    )
    rows = zip(*(column or [None] * len(ids) for column in columns), strict=True)
    return {
        name: Instance(name, template is not None, _replicas(component, template, row[0]), *row)
        for name, template, row in zip(ids, pods, rows, strict=True)
    }


def _replicas(component: Component, template: Object | None, scale: Scale | None) -> int:
    if component.pods is not None and template is None:
        return 0
    return 1 if scale is None else scale.effective


def _read(component: Component, field: str, query: Query, obj: Object, ids: Ids, expected: type) -> list[JSON]:
    read = aligned if component.instance_ids is not None and field in _WHOLE else aligned_or_absent
    values = read(component, field, query, obj, ids)
    for index, value in enumerate(values):
        if value is not None and type(value) is not expected:
            found, needed = type_name(value), type_name(expected())
            raise failure(component, field, query, f"gives {found} where {needed} belongs{_at(query, obj, index)}")
    return values


def _at(query: Query, obj: Object, index: int) -> str:
    """The place of an output in the object, None for a computed one."""
    try:
        location = query.locate_each(obj)[index]
    except QueryError:
        return ""
    return "" if location is None else f" (at {field_path(location.path)})"
