"""The values that a definition extracts per instance (`pkg/resource/accessor.go` and `component.go` of Karta)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karta_interpreter.base.k8s import JSON, NewObject, Object, Path, get
from karta_interpreter.definitions.karta import ComponentRules, Fragments, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation import (
    OBJECT_TYPES,
    PIECE_TYPES,
    Scale,
    instance_ids,
    instance_templates,
    read_pods,
    scales,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentedPodSpec:
    """The pieces of a pod (`FragmentedPodSpec` of Karta's library).

    On reading, None stands for a missing piece. On writing, None leaves a piece as it is, and an empty value clears it.
    Of a whole template or pod spec, `container`, `image` and `resources` are those of its only container.
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


PIECES: Mapping[str, str] = {
    field: re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", field.removesuffix("Path"))
    for field in PIECE_TYPES
}
"""The name of the piece for each path field of the schema."""

_CONTAINER: Path = ("containers", 0)
PLACES: Mapping[str, Path] = {
    "schedulerNamePath": ("schedulerName",),
    "priorityClassNamePath": ("priorityClassName",),
    "imagePath": (*_CONTAINER, "image"),
    "labelsPath": ("labels",),
    "annotationsPath": ("annotations",),
    "resourcesPath": (*_CONTAINER, "resources"),
    "podAffinityPath": ("affinity", "podAffinity"),
    "nodeAffinityPath": ("affinity", "nodeAffinity"),
    "containerPath": _CONTAINER,
    "resourceClaimsPath": ("resourceClaims",),
    "containersPath": ("containers",),
}
"""The place of each piece in a pod spec, or in its metadata, in the order in which Karta's library writes them."""
OF_METADATA = ("labelsPath", "annotationsPath")

Ids = tuple[str, ...]


@dataclass(frozen=True)
class Instance:
    """One instance of a component (`ExtractedInstance` of Karta's library).

    A pod field is set only if the definition has a path for it and the object has a value there.
    """

    id: str
    """"" if the definition has no `instanceIdPath`."""
    has_pods: bool
    """Whether the object describes pods of this instance."""
    replicas: int
    """The units of this instance in the whole workload: its replicas, else its minimum, else 1. 0 if the definition
    describes pods that the object does not have.
    """
    scale: Scale | None = None
    """None if the definition has no scale, or the object has no pods of the component at all."""
    pod_template: Object | None = None
    pod_spec: Object | None = None
    pod_metadata: Object | None = None
    fragmented_pod_spec: FragmentedPodSpec | None = None


def extract_pods(field: str, component: ComponentRules, obj: Object, ids: Ids) -> list[Object | None]:
    """Return the object that a field's expression gives for each instance, or an empty list without an expression."""
    query = component.pod_queries.get(field)
    return [] if query is None else read_pods(component, field, query, obj, ids)


def extract_fragments(component: ComponentRules, obj: Object, ids: Ids) -> list[FragmentedPodSpec]:
    """Return the pieces of each instance's pods, or an empty list without `fragmentedPodSpecDefinition`."""
    if not isinstance(component.pods, Fragments):
        return []
    columns = {PIECES[field]: read_pods(component, field, query, obj, ids) for field, query in component.pods.queries}
    return [FragmentedPodSpec(**{piece: column[at] for piece, column in columns.items()}) for at in range(len(ids))]


def pieces_place(field: str, component: ComponentRules) -> tuple[str, Path] | None:
    """Return the field of a whole pod that has a piece, and the place there. None if the definition has no such field.

    For `podTemplateSpecPath` the metadata is in the template, for `podSpecPath` at `metadataPath`.
    """
    in_metadata = field in OF_METADATA
    match component.pods:
        case PodTemplate():
            return "podTemplateSpecPath", ("metadata" if in_metadata else "spec", *PLACES[field])
        case PodSpec(_, metadata) if in_metadata:
            return None if metadata is None else ("metadataPath", PLACES[field])
        case PodSpec():
            return "podSpecPath", PLACES[field]
        case _:
            return None


def has_one_container(field: str, place: Path, whole: JSON) -> bool:
    """Return whether a whole pod has exactly one container. True for a piece that belongs to no single container."""
    if PLACES[field][:2] != _CONTAINER:
        return True
    containers = get(whole, place[: place.index(0)])
    return isinstance(containers, list) and len(containers) == 1


def extract_pieces(component: ComponentRules, obj: Object, ids: Ids) -> list[FragmentedPodSpec]:
    """Return the pieces of each instance's pods in any form, or an empty list without pods."""
    if component.pods is None or isinstance(component.pods, Fragments):
        return extract_fragments(component, obj, ids)
    columns = {field: extract_pods(field, component, obj, ids) for field in component.pod_queries}
    specs: list[FragmentedPodSpec] = []
    for position in range(len(ids)):
        pieces: NewObject = {}
        for field, piece in PIECES.items():
            found = pieces_place(field, component)
            if found is not None:
                whole = columns[found[0]][position]
                pieces[piece] = get(whole, found[1]) if has_one_container(field, found[1], whole) else None
        specs.append(FragmentedPodSpec(**pieces))
    return specs


def has_scale(component: ComponentRules) -> bool:
    """Return whether a component has a `scaleDefinition` with a path."""
    return any((component.replicas, component.min_replicas, component.max_replicas))


def extract_scales(component: ComponentRules, obj: Object, ids: Ids) -> list[Scale]:
    """Return the counts of each instance, or an empty list without a `scaleDefinition` that has a path."""
    return scales(component, obj, ids) if has_scale(component) else []


def extract_instances(component: ComponentRules, obj: Object) -> Mapping[str, Instance]:
    """Return every instance with all its fields, by id and in the order of the object."""
    ids, has_pods = instance_ids(component, obj), component.pods is not None
    pods = [None] * len(ids) if component.pods is None else instance_templates(component, component.pods, obj, ids)
    # Counts are read only if pods exist: `.worker.replicas // 1` would count a worker that does not exist.
    columns: list[list[Any]] = [extract_scales(component, obj, ids) if any(pods) or not has_pods else []]
    columns += (extract_pods(field, component, obj, ids) for field in OBJECT_TYPES)
    columns.append(extract_fragments(component, obj, ids))
    rows = zip(ids, pods, *(column or [None] * len(ids) for column in columns), strict=True)
    instances: dict[str, Instance] = {}
    for name, template, scale, *values in rows:
        replicas = 1 if scale is None else scale.effective
        if has_pods and template is None:
            replicas = 0
        instances[name] = Instance(name, template is not None, replicas, scale, *values)
    return instances
