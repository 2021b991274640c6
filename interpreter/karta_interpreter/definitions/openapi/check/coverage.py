"""The parts of a kind's schema that answers depend on, by names and shapes, and the parts that no expression reads."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import COUNT_NAME, COUNTS, Object
from karta_interpreter.definitions.openapi.check.shape import Shape, Shapes
from karta_interpreter.definitions.openapi.draft.pod_fields import FACTOR, OPAQUE, find_pods, numbers_around
from karta_interpreter.definitions.openapi.schema import (
    Entries,
    SchemaPath,
    below,
    entries,
    fields,
    is_pod_spec,
    is_pod_template,
    is_text,
    parts_below,
)


class Sort(StrEnum):
    """What a part is, in words."""

    PODS = "pods"
    RESOURCES = "resources"
    COUNT = "a count"
    FACTOR = "a factor of a count"
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


_COUNT: Final = re.compile(f"(?i)(?!max){COUNTS}")
_SWITCH: Final = re.compile(r"(?i)suspend(ed)?|paused?|stop(ped)?|halt(ed)?|hibernat\w*|running")
_NODES: Final = ("nodeSelector", "nodeAffinity", "tolerations")
_AFFINITY: Final = {"nodeAffinity", "podAffinity"}
# The fields of pods and their templates with parts that answers depend on.
_OF_PODS: Final = frozenset(
    {"containers", "initContainers", "ephemeralContainers", "volumes", "overhead", "resources", "resourceClaims"}
) | {"affinity", "topologySpreadConstraints", "nodeSelector", "tolerations", "metadata", "status"}


def relevant(schema: Object, scale_path: str = "") -> Iterator[RelevantPart]:
    """Yield the parts of a kind's spec that answers depend on: in a pod only fields that no pod has.

    ``scale_path`` is the count of the scale subresource, as the CRD writes it.

    >>> group = {"properties": {"size": {"type": "integer"}, "template": {"type": "object"}, "name": {}}}
    >>> schema = {"properties": {"spec": {"properties": {"groups": {"items": group}}}}}
    >>> [(part.path.jq, part.sort.value) for part in relevant(schema)]
    [('.spec.groups[].size', 'a count'), ('.spec.groups[].template', 'pods')]
    """
    by_path = {part.path: part for part in _relevant_parts(SchemaPath(("spec",)), below(schema, "spec"))}
    scale, part = SchemaPath(), schema
    for name in scale_path.split(".")[1:]:  # all keys of a map are one step, as in the walk through the schema
        inner = dict(fields(part)).get(name)
        scale /= Entries(is_map=True) if inner is None else name
        part = entries(part, "additionalProperties") or {} if inner is None else inner
    yield from by_path.values()
    places = dict.fromkeys(number.place for pods in find_pods(schema) for number in numbers_around(pods))
    yield from (
        RelevantPart(place, Sort.FACTOR, place)
        for place in places
        if place not in by_path and place != scale and FACTOR.fullmatch(place.names[-1])
    )
    if scale.steps and scale not in by_path:
        yield RelevantPart(scale, Sort.COUNT, scale)


def _relevant_parts(path: SchemaPath, schema: Object, pods: SchemaPath = SchemaPath()) -> Iterator[RelevantPart]:  # noqa: B008
    sorted_parts = [(at, field_schema, _sort(at, field_schema)) for at, field_schema in parts_below(path, schema)]
    has_pods = is_text(below(schema, "image")) or any(
        sort in (Sort.PODS, Sort.RESOURCES) for _, _, sort in sorted_parts
    )
    for at, field_schema, sort in sorted_parts:
        inside, pod_schema = at, field_schema
        if at.steps[-1] == "status" or "accessModes" in dict(fields(field_schema)):  # the size of a claim
            continue
        if sort is Sort.PODS:
            if is_pod_template(field_schema):
                inside, pod_schema = at / "spec", below(field_schema, "spec")
            more = {"properties": {name: part for name, part in fields(pod_schema) if name not in _OF_PODS}}
            yield RelevantPart(at, sort, inside / "containers" if is_pod_spec(pod_schema) else at, pods)
            yield from _relevant_parts(inside, more, at)
        elif sort or (has_pods and _is_number(field_schema) and COUNT_NAME.fullmatch(at.names[-1])):
            yield RelevantPart(at, sort or Sort.COUNT, at, pods)
        else:
            yield from _relevant_parts(at, field_schema, pods)


def _sort(path: SchemaPath, schema: Object) -> Sort | None:
    """Return the sort of a part, None if no answer depends on it as a whole."""
    step, names, kind = path.steps[-1], dict(fields(schema)).keys(), schema.get("type")
    name = step if isinstance(step, str) else ""
    is_open = kind in (None, "object") and not (names or schema.get("additionalProperties"))
    is_claim = "accessModes" in dict(fields(below(schema, "spec"))) and name != "volumeClaimTemplate"
    is_size = {"cpu", "memory"} <= names and "resources" not in names
    holds = {
        Sort.PODS: is_pod_template(schema) or is_pod_spec(schema) or (is_open and name in OPAQUE),
        Sort.CLAIMS: is_claim or {"resourceClaimName", "resourceClaimTemplateName"} & names,
        Sort.RESOURCES: {"limits", "requests"} <= names or is_size or (is_open and name == "resources"),
        Sort.COUNT: _is_number(schema) and _COUNT.fullmatch(name),
        Sort.SWITCH: kind == "boolean" and _SWITCH.fullmatch(name),
        Sort.NODES: name in _NODES or (name and names >= _AFFINITY),
    }
    return next((sort for sort, is_it in holds.items() if is_it), None)


def _is_number(schema: Object) -> bool:
    return schema.get("type") == "integer" or schema.get("x-kubernetes-int-or-string") is True


# The steps to a field of the spec, the largest group.
_TOP: Final = 2


@dataclass(frozen=True, slots=True)
class Coverage:
    """The places that expressions read. What they give is read with everything below it."""

    given: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    """The places on the way to a value or to a given object, and all places above them."""
    omitted: set[str] = field(default_factory=set)
    """The places that are left out on purpose, each with everything below it."""

    def add(self, outputs: Shapes, visited: Iterable[Shape]) -> None:
        """Add what an expression gives, and the places on its way."""
        self.given.update(shape.place for shape in parts(outputs))
        for shape in visited:
            self.reached.add(shape.place)
            # The places above are the beginnings of its text that end before a step.
            self.reached.update(shape.place[:at] for at, char in enumerate(shape.place) if char in ".[")

    def unread(self, schema: Object, scale_path: str) -> Iterator[tuple[SchemaPath, list[RelevantPart]]]:
        """Yield groups of parts that answers look like depending on, and that no expression reads."""
        unread = {}
        for part in relevant(schema, scale_path):
            texts = [f"${SchemaPath(part.key.steps[:length]).jq}" for length in range(1, len(part.key.steps) + 1)]
            # Pods that are given are read by the names of a pod's fields, which parts next to them do not have.
            is_given = not self.given.isdisjoint(texts[len(part.pods.steps) :])
            if not (is_given or self.omitted.intersection(texts) or self._reaches(part.key)):
                unread[part.path] = part
        yield from ((group, [unread[path] for path in paths]) for group, paths in self.grouped(unread).items())

    def grouped(self, unread: Iterable[SchemaPath]) -> Mapping[SchemaPath, list[SchemaPath]]:
        """Return paths in groups, by the shortest beginning of a path that nothing read is below."""
        groups: dict[SchemaPath, list[SchemaPath]] = {}
        for path in unread:
            prefixes = (SchemaPath(path.steps[:length]) for length in range(_TOP, len(path.steps)))
            groups.setdefault(next((at for at in prefixes if not self._reaches(at)), path), []).append(path)
        return groups

    def _reaches(self, path: SchemaPath) -> bool:
        return f"${path.jq}" in self.reached


def parts(shapes: Shapes) -> Iterator[Shape]:
    """Yield shapes, and the shapes in values that an expression makes."""
    for shape in shapes:
        yield shape
        for inner in (shape.inner or (), *(shape.members or {}).values()):
            yield from parts(inner)


def unread_text(group: SchemaPath, unread_parts: Sequence[RelevantPart]) -> str:
    """Return the looks of a group in words.

    >>> canary = SchemaPath(("spec", "canary"))
    >>> unread_text(canary, [RelevantPart(canary / "size", Sort.COUNT, canary / "size")])
    '.spec.canary, which has a count (.size)'
    """
    sorts = [sort for sort in Sort if sort in {part.sort for part in unread_parts}]
    words = " and ".join(filter(None, (", ".join(sorts[:-1]), sorts[-1])))
    paths = [part.path for part in unread_parts]
    if paths == [group]:
        return f"{group.jq}, which looks like {words}"
    return f"{group.jq}, which has {words} ({names_below(group, paths)})"


def names_below(group: SchemaPath, paths: Iterable[SchemaPath]) -> str:
    """Return paths in words, relative to their group."""
    return listed(path.jq.removeprefix(group.jq) or "itself" for path in paths)


def in_yaml(path: SchemaPath) -> str:
    r"""Return the expression of a path as a value in a mapping of YAML, where brackets need quotes.

    >>> in_yaml(SchemaPath(("spec", "size"))), in_yaml(SchemaPath(("spec", "pod-size")))
    ('.spec.size', '\'.spec["pod-size"]\'')
    """
    return f"'{path.jq}'" if "[" in path.jq else path.jq
