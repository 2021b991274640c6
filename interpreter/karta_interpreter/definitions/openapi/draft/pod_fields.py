"""Finds the pods of a kind, which are the parts of its schema that look like a pod's definition, and their counts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from karta_interpreter.base.k8s import COUNTS, JSON, Object
from karta_interpreter.definitions.openapi.schema import (
    Entries,
    SchemaPath,
    below,
    fields,
    is_pod_spec,
    is_pod_template,
    is_text,
    parts_below,
)

# The most lists within lists that are searched.
_DEEPEST = 4

OPAQUE = ("template", "podTemplate", "podTemplateSpec", "podSpec")
"""Names of pod definitions if the schema leaves out their fields."""

# The usual fields for the pieces of a pod, in an object without a pod template. The first existing one counts.
_PIECES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "schedulerNamePath": (("schedulerName",),),
    "labelsPath": (("podLabels",), ("labels",)),
    "annotationsPath": (("podAnnotations",), ("annotations",)),
    "resourcesPath": (("resources",),),
    "resourceClaimsPath": (("resourceClaims",),),
    "podAffinityPath": (("affinity", "podAffinity"),),
    "nodeAffinityPath": (("affinity", "nodeAffinity"),),
    "priorityClassNamePath": (("priorityClassName",),),
    "imagePath": (("image",),),
}

_TEXTS = ("schedulerNamePath", "priorityClassNamePath", "imagePath")
_OF_CLAIMS = {"accessModes", "storageClassName"}


class Form(StrEnum):
    """How a pod is given. The values are fields of `specDefinition`."""

    TEMPLATE = "podTemplateSpecPath"
    SPEC = "podSpecPath"
    FRAGMENTS = "fragmentedPodSpecDefinition"


@dataclass(frozen=True, slots=True)
class PodsField:
    """A path with pods, and its schema."""

    place: SchemaPath
    schema: Object
    form: Form
    ancestors: tuple[tuple[SchemaPath, Object], ...]
    """Path and schema of everything on the way, outermost first."""
    pieces: Mapping[str, SchemaPath] = field(default_factory=dict)
    """The fields of a `fragmentedPodSpecDefinition`."""
    is_guess: bool = False
    """Whether only the name indicates pods."""


def find_pods(schema: Object) -> list[PodsField]:
    """Return every place that looks like a pod's definition. Pieces of pods only count without a whole one."""
    start = [(SchemaPath((name,)), spec) for name, spec in fields(schema) if name == "spec"]
    pieces = [piece for path, field_schema in start for piece in _walk(path, field_schema, ())]
    whole = [pods for piece in pieces for pods in _whole(*piece)]
    certain = [pods for pods in whole if not pods.is_guess]
    return certain or whole or [pods for piece in pieces for pods in _fragments(*piece)]


def _walk(
    path: SchemaPath, schema: Object, ancestors: tuple[tuple[SchemaPath, Object], ...]
) -> Iterator[tuple[SchemaPath, Object, tuple[tuple[SchemaPath, Object], ...]]]:
    """Yield a part and the parts below it, but not the parts of a pod template."""
    yield path, schema, ancestors
    above = (*ancestors, (path, schema))
    inner = below(schema, "spec") if is_pod_template(schema) else schema
    is_deepest = sum(isinstance(step, Entries) for step in path.steps) == _DEEPEST
    for at, field_schema in parts_below(path, inner):
        if not (is_deepest and isinstance(at.steps[-1], Entries)):
            yield from _walk(at, field_schema, above)


def _whole(path: SchemaPath, schema: Object, ancestors: tuple[tuple[SchemaPath, Object], ...]) -> Iterator[PodsField]:
    if is_pod_template(schema):
        yield PodsField(path, schema, Form.TEMPLATE, ancestors)
    elif is_pod_spec(schema) and not (ancestors and is_pod_template(ancestors[-1][1])):
        yield PodsField(path, schema, Form.SPEC, ancestors)
    elif path.steps[-1] in OPAQUE and schema.get("type") == "object":
        form = Form.SPEC if path.steps[-1] == "podSpec" else Form.TEMPLATE
        if not any(fields(schema)) and not schema.get("additionalProperties"):
            yield PodsField(path, schema, form, ancestors, is_guess=True)


def _fragments(
    path: SchemaPath, schema: Object, ancestors: tuple[tuple[SchemaPath, Object], ...]
) -> Iterator[PodsField]:
    field_names = dict(fields(schema)).keys()
    # The spec of a PersistentVolumeClaim has resources as well.
    if not {"limits", "requests"} <= dict(fields(below(schema, "resources"))).keys() or field_names & _OF_CLAIMS:
        return
    pieces: dict[str, SchemaPath] = {}
    for piece, paths in _PIECES.items():
        for steps in paths:
            piece_schema = below(schema, *steps)
            # A field of the other type only has the name of the piece.
            if piece_schema and is_text(piece_schema) == (piece in _TEXTS):
                pieces.setdefault(piece, SchemaPath((*path.steps, *steps)))
    yield PodsField(path, schema, Form.FRAGMENTS, (*ancestors, (path, schema)), pieces, is_guess=True)


FACTORS = ("replicas", "parallelism", "hosts", "numOfHosts", "numHosts", "nodeCount", "numNodes", "instances")
"""Usual names of fields that multiply the pods of the object that has them."""

# Names of a count if no field has one of `FACTORS`: `count` of ECK's node sets.
_COUNT = re.compile(rf"(?i)(?!min|max)(?:{COUNTS}|count|size)")
# Names of fields for stateful replicas: separate claims, as in a StatefulSet, or a leading replica.
_STORAGE = re.compile(r"(volumeClaim|pvc)Templates?|storage|persistence|primary[A-Z]\w*")
_STORAGE_FIELDS = {"storageClass", "storageClassName", "volumeClaimTemplate", "persistentVolumeClaim", "pvcTemplate"}
_BOUNDS = ("minReplicas", "maxReplicas")  # the least and the most replicas
_SCALERS = ("autoscaling", "autoscaler", "hpa")  # objects that have them, next to a count
_MAY_COUNT = re.compile(r"(?i)replicas|count|size|num|hosts|nodes|workers|completions")
FACTOR = re.compile(
    r"(?!(?i:min|max|.*(?:seconds|minutes|hours|days|ms|millis|retries|attempts|restarts|failures|revisions|limits|ports"
    r"|cores|cpus|gpus|threads|tasks|slots|bytes|tokens|[su]s)(?:$|per)))(?:.*[a-z]s|.*sPer[A-Z]\w{0,32}"
    r"|(?i:.{0,32}(?:amount|quantity|concurrency|capacity|scale))|num(?:ber)?(?:Of)?[A-Z]\w{0,32})"
)
"""Names of numbers that may multiply pods: amounts and plurals, but not of time, of tries or of what one pod has."""
_MOST = 4


@dataclass(frozen=True, slots=True)
class NumberField:
    """A field with a number on the way to pods. The API server sets it to ``default``."""

    parent: SchemaPath
    name: str
    default: JSON = None
    is_length: bool = False
    """Whether the field is a list or a map, whose entries count."""
    switch: str = ""
    """The boolean `enabled` next to it."""

    @property
    def place(self) -> SchemaPath:
        """The path of the field."""
        return self.parent / self.name

    @property
    def text(self) -> str:
        """The expression of the number."""
        if self.is_length:
            return f"{self.place.jq} // [] | length"
        return f"{self.place.jq} // {self.default if type(self.default) is int else 1}"


def counts(pods: PodsField, scale_path: str) -> tuple[dict[str, str], list[str]]:
    """Return the fields of a `scaleDefinition`, and the doubts about them.

    The count is the product of every count on the way to pods, by default the count of the scale subresource. Counts of
    a Karta are for the whole workload, so counts of the objects around a part are factors.
    """
    numbers = list(numbers_around(pods))
    factors = [number for number in numbers if number.name in FACTORS]
    guessed: list[NumberField] = []
    if not (factors or scale_path or _bounds([], numbers)):
        guessed = [number for number in numbers if _COUNT.fullmatch(number.name)][-1:]
        factors = guessed
    bounds = {f"{number.name}Path": number.place.jq for number in _bounds(factors, numbers)}
    paths = bounds
    if factors:
        paths = {"replicasPath": product(pods.place, factors), **bounds}
    elif scale_path and not (bounds or pods.place.has_instances):
        paths = {"replicasPath": f"{scale_path} // 1"}
    may_count = (
        number.place.jq
        for number in numbers
        if number not in factors and (_MAY_COUNT.search(number.name) or FACTOR.fullmatch(number.name))
    )
    others = [path for path in may_count if path not in bounds.values()][:_MOST]
    doubts = (
        (
            any(number.switch and number.place.jq in bounds.values() for number in numbers),
            "do these bounds hold while the autoscaler is not `enabled`?",
        ),
        (bool(guessed), "only its name says that this counts pods."),
        (len(factors) > 1, "are these multiplied? A count is for the whole workload."),
        (bool(others), f"does one of these count pods{' as well' * bool(paths)}? {', '.join(others)}"),
    )
    return paths, [doubt for holds, doubt in doubts if holds]


def have_state(pods: PodsField) -> bool:
    """Return whether each pod seems to have its own data: storage or a primary is next to a count of the pods.

    >>> spec = {"properties": {"instances": {"type": "integer"}, "storage": {"type": "object"}}}
    >>> have_state(PodsField(SchemaPath(("spec",)), spec, Form.FRAGMENTS, ((SchemaPath(("spec",)), spec),)))
    True
    """
    counting = {
        number.parent for number in numbers_around(pods) if number.name in FACTORS or _COUNT.fullmatch(number.name)
    }
    around = (schema for path, schema in pods.ancestors if path in counting)
    return any(
        _STORAGE.fullmatch(name) or not _STORAGE_FIELDS.isdisjoint(dict(fields(field_schema)))
        for schema in around
        for name, field_schema in fields(schema)
    )


def numbers_around(pods: PodsField) -> Iterator[NumberField]:
    """Yield the numbers of the parts on the way to pods."""
    # A bare pod spec may have counts next to its containers, as in KServe. A template is Kubernetes' own type.
    pod_fields = ((pods.place, pods.schema),) if pods.form is Form.SPEC else ()
    yield from (
        NumberField(path, name, field_schema.get("default"))
        for path, schema in (*pods.ancestors, *pod_fields)
        for name, field_schema in fields(schema)
        if field_schema.get("type") == "integer" or field_schema.get("x-kubernetes-int-or-string") is True
    )
    yield from (
        NumberField(
            path / scaler, name, switch=f"{(path / scaler).jq}.enabled" if below(schema, scaler, "enabled") else ""
        )
        for path, schema in pods.ancestors
        for scaler in _SCALERS
        for name in _BOUNDS
        if below(schema, scaler, name).get("type") == "integer"
    )


def _bounds(factors: Sequence[NumberField], numbers: Sequence[NumberField]) -> list[NumberField]:
    """Return the least and the largest count, if nothing else has to be multiplied in."""
    if [factor.name for factor in factors] not in ([], ["replicas"]):
        return []
    bounds = [number for name in _BOUNDS for number in numbers if number.name == name]
    parent = next((number.parent for number in (*factors, *reversed(bounds))), None)
    return [number for number in bounds if number.parent in (parent, *(parent / name for name in _SCALERS if parent))]


def product(path: SchemaPath, factors: Sequence[NumberField]) -> str:
    """Return one count for each instance of the pods at a place.

    >>> groups = SchemaPath(("spec", "groups", Entries(key="name")))
    >>> product(groups / "template", [NumberField(groups, "replicas"), NumberField(groups, "numOfHosts", 2)])
    '.spec.groups[] | (.replicas // 1) * (.numOfHosts // 2)'
    >>> product(groups / "template", [NumberField(SchemaPath(("spec",)), "replicas")])
    '(.spec.replicas // 1) * (.spec.groups[] | 1)'
    """
    shared_factors = [factor for factor in factors if not factor.parent.has_instances]
    deeper = [replace(factor, parent=factor.parent.after_first) for factor in factors if factor.parent.has_instances]
    parts = [number.text for number in shared_factors]
    if not path.has_instances:
        return _times(parts)
    return _times([*parts, f"{path.to_first.jq} | {product(path.after_first, deeper)}"])


def _times(factors: Sequence[str]) -> str:
    return " * ".join(f"({factor})" for factor in factors) if len(factors) > 1 else "".join(factors) or "1"
