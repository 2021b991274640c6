"""The parts of a kind's schema that answers depend on, as far as their names and shapes tell."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.draft.pod_fields import FACTORS, OPAQUE
from karta_interpreter.definitions.openapi.schema import (
    Entries,
    SchemaPath,
    below,
    entries,
    fields,
    is_pod_spec,
    is_pod_template,
    parts_below,
)


class Sort(StrEnum):
    """What a part is, in words."""

    PODS = "pods"
    RESOURCES = "resources"
    COUNT = "a count"
    CLAIMS = "claims"
    SWITCH = "a switch that suspends"
    NODES = "a selection of nodes"


@dataclass(frozen=True, slots=True)
class RelevantPart:
    """A part of a schema that answers depend on."""

    path: SchemaPath
    sort: Sort
    key: SchemaPath
    """The field that is read of the part: the containers of pods, else the part itself."""
    pods: SchemaPath = SchemaPath()  # noqa: RUF009 - it is frozen
    """The pods that have the part next to their own fields, empty outside of pods."""


_COUNT: Final = re.compile(rf"{'|'.join(FACTORS)}|(?!max)\w*(Replicas|ReplicaCount|Instances|Workers|Nodes)")
_SIZE: Final = re.compile("count|size|workers|nodes")
"""Names of counts in an object with pods or resources."""
_SWITCH: Final = re.compile(r"(?i)suspend(ed)?|paused?|stop(ped)?|hibernat\w*|running")
_NODES: Final = ("nodeSelector", "nodeAffinity", "tolerations")
_AFFINITY: Final = {"nodeAffinity", "podAffinity"}
_OF_PODS: Final = frozenset(
    {"containers", "initContainers", "ephemeralContainers", "volumes", "overhead", "resources", "resourceClaims"}
) | {"affinity", "topologySpreadConstraints", "nodeSelector", "tolerations", "metadata", "status"}
"""The fields of pods and their templates with parts that answers depend on."""


def relevant(schema: Object, scale_path: str = "") -> Iterator[RelevantPart]:
    """Yield the parts of a kind's spec that answers depend on: in a pod only fields that no pod has.

    ``scale_path`` is the count of the scale subresource, as the CRD writes it.

    >>> group = {"properties": {"size": {"type": "integer"}, "template": {"type": "object"}, "name": {}}}
    >>> schema = {"properties": {"spec": {"properties": {"groups": {"items": group}}}}}
    >>> [(part.path.jq, part.sort.value) for part in relevant(schema)]
    [('.spec.groups[].size', 'a count'), ('.spec.groups[].template', 'pods')]
    """
    parts = {part.path: part for part in _parts(SchemaPath(("spec",)), below(schema, "spec"))}
    scale = _place(schema, scale_path.split(".")[1:])
    yield from parts.values()
    if scale.steps and scale not in parts:
        yield RelevantPart(scale, Sort.COUNT, scale)


def _place(schema: Object, names: Sequence[str]) -> SchemaPath:
    """Return a path of names as a walk through the schema writes it, where all keys of a map are one step."""
    path = SchemaPath()
    for name in names:
        inner = dict(fields(schema)).get(name)
        path /= Entries(is_map=True) if inner is None else name
        schema = entries(schema, "additionalProperties") or {} if inner is None else inner
    return path


def _parts(path: SchemaPath, schema: Object, pods: SchemaPath = SchemaPath()) -> Iterator[RelevantPart]:  # noqa: B008
    sorted_parts = [(at, field_schema, _sort(at, field_schema)) for at, field_schema in parts_below(path, schema)]
    has_pods = any(sort in (Sort.PODS, Sort.RESOURCES) for _, _, sort in sorted_parts)
    for at, field_schema, sort in sorted_parts:
        inside, own = at, field_schema
        if at.steps[-1] == "status" or "accessModes" in dict(fields(field_schema)):  # the size of a claim
            continue
        if sort is Sort.PODS:
            if is_pod_template(field_schema):
                inside, own = at / "spec", below(field_schema, "spec")
            more = {"properties": {name: part for name, part in fields(own) if name not in _OF_PODS}}
            yield RelevantPart(at, sort, inside / "containers" if is_pod_spec(own) else at, pods)
            yield from _parts(inside, more, at)
        elif sort or (has_pods and _is_number(field_schema) and _SIZE.fullmatch(at.names[-1])):
            yield RelevantPart(at, sort or Sort.COUNT, at, pods)
        else:
            yield from _parts(at, field_schema, pods)


def _sort(path: SchemaPath, schema: Object) -> Sort | None:
    """Return the sort of a part, None if no answer depends on it as a whole."""
    name, names, kind = path.steps[-1], dict(fields(schema)).keys(), schema.get("type")
    is_open = kind in (None, "object") and not (names or schema.get("additionalProperties"))
    if is_pod_template(schema) or is_pod_spec(schema) or (is_open and name in OPAQUE):
        return Sort.PODS
    is_claim = "accessModes" in dict(fields(below(schema, "spec"))) and name != "volumeClaimTemplate"
    if is_claim or {"resourceClaimName", "resourceClaimTemplateName"} & names:
        return Sort.CLAIMS
    is_size = {"cpu", "memory"} <= names and "resources" not in names
    if {"limits", "requests"} <= names or is_size or (is_open and name == "resources"):
        return Sort.RESOURCES
    if not isinstance(name, str):
        return None
    if _is_number(schema) and _COUNT.fullmatch(name):
        return Sort.COUNT
    if kind == "boolean" and _SWITCH.fullmatch(name):
        return Sort.SWITCH
    return Sort.NODES if name in _NODES or names >= _AFFINITY else None


def _is_number(schema: Object) -> bool:
    return schema.get("type") == "integer" or schema.get("x-kubernetes-int-or-string") is True
