"""Builds the pod template of each instance of a component: whole, from a pod spec, or from its fragments."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s import ADDED_LISTS, JSON, NewObject, Object, field_path, type_name
from karta_interpreter.definitions.karta import (
    AddedContainers,
    ComponentRules,
    Definition,
    Fragments,
    PodDefinition,
    PodSpec,
    PodTemplate,
)
from karta_interpreter.engine.evaluation.container_groups import ungrouped
from karta_interpreter.engine.evaluation.evaluation import aligned
from karta_interpreter.languages.jq import Query

OBJECT_TYPES: Final[Mapping[str, str]] = {
    "podTemplateSpecPath": "PodTemplateSpec",
    "podSpecPath": "PodSpec",
    "metadataPath": "ObjectMeta",
}
PIECE_TYPES: Final[Mapping[str, str]] = {
    "schedulerNamePath": "string",
    "labelsPath": "map[string]string",
    "annotationsPath": "map[string]string",
    "resourcesPath": "ResourceRequirements",
    "resourceClaimsPath": "[]PodResourceClaim",
    "podAffinityPath": "PodAffinity",
    "nodeAffinityPath": "NodeAffinity",
    "containersPath": "[]Container",
    "containerPath": "Container",
    "priorityClassNamePath": "string",
    "imagePath": "string",
}
"""The Go types of the values of pod fields, for whole pods and for pieces."""


def _json_type(go_type: str) -> type:
    if go_type == "string":
        return str
    return list if go_type.startswith("[]") else dict


JSON_TYPES: Final[Mapping[str, type]] = {
    field: _json_type(go_type) for field, go_type in {**OBJECT_TYPES, **PIECE_TYPES}.items()
}

# Fields that must yield something for every named instance. The others may yield nothing at all.
_WHOLE = ("podTemplateSpecPath", "podSpecPath")


def instance_templates(
    component: ComponentRules, pods: PodDefinition, obj: Object, ids: tuple[str, ...]
) -> list[Object | None]:
    """Return one pod template per instance, None for an instance without pods.

    A template that is null, or has no `spec`, does not describe pods. So a workload without its worker section has no
    worker, whatever its replicas path gives.
    """
    match pods:
        case PodTemplate():
            outputs = read_pods(component, "podTemplateSpecPath", pods.query, obj, ids)
            whole: list[Object | None] = []
            for template in outputs:
                spec = None if template is None else template.get("spec")
                if spec is not None and type(spec) is not dict:
                    reason = f"gives a template whose spec is {type_name(spec)}"
                    raise pods.query.unusable(reason)
                whole.append(None if spec is None else template)
            return whole
        case PodSpec():
            specs = read_pods(component, "podSpecPath", pods.query, obj, ids)
            if pods.metadata is None:
                return [None if spec is None else {"spec": spec} for spec in specs]
            outputs = read_pods(component, "metadataPath", pods.metadata, obj, ids)
            pairs = zip(specs, outputs, strict=True)
            return [None if spec is None else _present(metadata=metadata) | {"spec": spec} for spec, metadata in pairs]
        case Fragments():
            return _assembled(component, pods, obj, ids)


def read_pods(component: ComponentRules, field: str, query: Query, obj: Object, ids: tuple[str, ...]) -> list[JSON]:
    """Return the value of a pod field for each instance, null without one. Raises InterpretationError."""
    # If there is one unnamed instance without a template, the workload leaves it out: `.spec.worker | select(.)`.
    may_lack = component.instance_ids is None or field not in _WHOLE
    values = aligned(component, query, obj, ids, may_lack=may_lack)
    expected = JSON_TYPES[field]
    for value in values:
        if value is not None and type(value) is not expected:
            reason = f"gives {type_name(value)} where {type_name(expected())} belongs"
            with suppress(QueryError):
                index = next(index for index, output in enumerate(values) if output is value)
                location = query.locate_each(obj)[index]
                reason += "" if location is None else f" (at {field_path(location.path)})"
            raise query.unusable(reason)
    return values


def with_added(
    definition: Definition, component: ComponentRules, obj: Object, templates: Sequence[Object | None]
) -> Sequence[Object | None]:
    """Return the pod templates with the operator's added containers. Raises InterpretationError."""
    for added in definition.annotations.added_containers:
        if added.component == component.name:
            return _with_containers(added, component, obj, templates)
    return templates


def _with_containers(
    added: AddedContainers, component: ComponentRules, obj: Object, templates: Sequence[Object | None]
) -> Sequence[Object | None]:
    # An expression that cannot choose among the instances applies to all of them.
    ids = ("",) * (len(templates) if added.each else 1)
    outputs = aligned(component, added.query, obj, ids, may_lack=True)
    lists = list[dict[str, list[JSON]]]()
    for value in outputs:
        lists.append({})
        for field, containers in (value or {}).items():
            if field not in ADDED_LISTS or type(containers) not in (list, type(None)):
                raise added.query.unusable(
                    f"gives {field} as {type_name(containers)}; "
                    f"there are the lists {', '.join(ADDED_LISTS)}, each written [{{…}}]"
                )
            if containers:
                lists[-1][field] = ungrouped(field, containers)
    pairs = zip(templates, lists if added.each else lists * len(templates), strict=True)
    return [_extended(template, more) if template and more else template for template, more in pairs]


def _extended(template: Object, lists: Mapping[str, list[JSON]]) -> Object:
    spec = {**template["spec"]}
    for name, added in lists.items():
        field = ADDED_LISTS[name]
        containers = spec.get(field)
        if containers is None or type(containers) is list:  # other values are reported by the reader of containers
            own = containers or []
            spec[field] = [*own, *added] if name == field else [*added, *own]
    return {**template, "spec": spec}


Pieces = dict[str, JSON]
"""The existing pieces of one instance, by the name of their schema field."""


def _assembled(
    component: ComponentRules, fragments: Fragments, obj: Object, ids: tuple[str, ...]
) -> list[Object | None]:
    """Return one pod template per instance. An instance with an id, and the root, exist even without a piece."""
    assembled: list[Pieces] = [{} for _ in ids]
    for field, query in fragments.queries:
        for pieces, value in zip(assembled, read_pods(component, field, query, obj, ids), strict=True):
            if value is not None:
                pieces[field] = value
    is_there = component.needs_no_piece
    return [_template(component.name, pieces) if pieces or is_there else None for pieces in assembled]


def _template(name: str, pieces: Pieces) -> Object:
    spec = {
        "containers": _containers(name, pieces),
        "affinity": _present(podAffinity=pieces.get("podAffinityPath"), nodeAffinity=pieces.get("nodeAffinityPath")),
        "schedulerName": pieces.get("schedulerNamePath"),
        "priorityClassName": pieces.get("priorityClassNamePath"),
        "resourceClaims": pieces.get("resourceClaimsPath"),
    }
    metadata = _present(labels=pieces.get("labelsPath"), annotations=pieces.get("annotationsPath"))
    return _present(metadata=metadata) | {"spec": _present(**spec)}


def _containers(name: str, pieces: Pieces) -> list[JSON]:
    """Return the listed containers and the single one, which image and resources complete or create under this name."""
    listed: list[JSON] = pieces.get("containersPath", [])
    additions = _present(image=pieces.get("imagePath"), resources=pieces.get("resourcesPath"))
    single = pieces.get("containerPath")
    if single is None:
        return listed if listed or not additions else [{"name": name, **additions}]
    if single in listed:  # both paths lead to the same container, which must not count twice
        return listed
    gaps = {field: value for field, value in additions.items() if single.get(field) is None}
    return [*listed, {**single, **gaps}]


def _present(**fields: JSON) -> NewObject:
    """Return the fields without null and empty values."""
    return {name: value for name, value in fields.items() if value}
