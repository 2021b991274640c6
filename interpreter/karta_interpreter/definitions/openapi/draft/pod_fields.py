"""Finds the pods of a kind, the parts of its schema with the shape of a pod's definition, and their counts."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from karta_interpreter.base.k8s import COUNTS, JSON, Object
from karta_interpreter.definitions.openapi.schema import (
    OPEN,
    POD_FIELDS,
    Entries,
    SchemaPath,
    below,
    entries,
    fields,
    is_container,
    is_pod_spec,
    is_pod_template,
    is_text,
    parts_below,
)

# The most lists within lists that are searched.
_DEEPEST: Final = 4

# The fields of an object that are no parts of a workload.
_NOT_WORKLOAD: Final = ("apiVersion", "kind", "metadata", "status")
# Words in names of fields that change the pods of another part.
_CHANGES: Final = {"override", "overrides", "overlay", "overlays", "patch", "patches"}
# Names of containers that stand beside those of the pods.
_SIDECAR: Final = re.compile(r"(?i).*side_?cars?|init_?(containers?|helpers?)?")
# Fields of a pod spec that an object with containers for other pods has, too.
_OF_HOLDERS: Final = {"containers", "initContainers", "ephemeralContainers", "imagePullSecrets", "resources", "volumes"}
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
# Names of pod definitions if the schema leaves out their fields.
_OPAQUE: Final = ("template", "podTemplate", "podTemplateSpec", "podSpec")

# The usual fields for the pieces of a pod, in an object without a pod template. The first existing one counts.
_PIECES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
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

_TEXTS: Final = ("schedulerNamePath", "priorityClassNamePath", "imagePath")
# Fields of a volume claim, and of the sections that operators write instead of one.
_OF_CLAIMS: Final = {"accessModes", "storageClassName", "storageClass"}
_VOLUME: Final = re.compile(r"(?i).*(storage|volume|persistence|disk)")


class Form(StrEnum):
    """How a pod is given. The values are fields of `specDefinition`."""

    TEMPLATE = "podTemplateSpecPath"
    SPEC = "podSpecPath"
    FRAGMENTS = "fragmentedPodSpecDefinition"


class NumberField(Struct, frozen=True):
    """A field with a number on the way to pods. Without it an API server takes ``default``, or refuses the object."""

    parent: SchemaPath
    name: str
    default: JSON = None
    is_required: bool = False

    @property
    def place(self) -> SchemaPath:
        """The path of the field."""
        return self.parent / self.name

    @property
    def text(self) -> str:
        """The expression of the number, with the default of the schema."""
        return f"{self.place.jq} // {self.default}" if type(self.default) is int else self.place.jq

    @property
    def is_there(self) -> bool:
        """Whether each object has the number."""
        return self.is_required or type(self.default) is int


class Around(NamedTuple):
    """A part on the way to pods: its numbers, the volume claims beside them, and its flags."""

    path: SchemaPath
    numbers: tuple[NumberField, ...]
    claims: tuple[SchemaPath, ...]
    flags: tuple[SchemaPath, ...]


class PodsField(Struct, frozen=True):
    """A path with pods."""

    place: SchemaPath
    form: Form
    around: tuple[Around, ...]
    """The parts on the way, outermost first. A template of pods has no counts of its own."""
    pieces: Mapping[str, SchemaPath] = field(default_factory=dict)
    """The fields of a `fragmentedPodSpecDefinition`."""
    is_guess: bool = False
    """Whether only the name indicates pods."""
    containers: tuple[SchemaPath, ...] = ()
    """The parts that have pieces of a pod and no count of their own: containers beside the one of the pieces."""

    may_be_containers: bool = False
    """Whether nothing but a count shows that there are pods: the fields are those of containers, or hold some."""

    @property
    def is_counted(self) -> bool:
        """Whether the pods have a count of their own."""
        nearest = self.around[-1:]
        return any(_counts(part) or any(number.name in _BOUNDS for number in part.numbers) for part in nearest)

    @property
    def owner(self) -> SchemaPath:
        """The part whose numbers count these pods: the one with the template, or the pieces themselves."""
        return SchemaPath(self.place.steps[:-1]) if self.form is Form.TEMPLATE else self.place


class _Found(Struct):
    """The pods of a schema by their shape, by a name alone, and by pieces, and the parts that change others' pods."""

    shaped: list[PodsField] = field(default_factory=list)
    named: list[PodsField] = field(default_factory=list)
    pieced: list[PodsField] = field(default_factory=list)
    changes: list[SchemaPath] = field(default_factory=list)
    numbers: list[NumberField] = field(default_factory=list)


class FoundPods(NamedTuple):
    """The places with pods, and the parts that a person has to decide on."""

    pods: list[PodsField]
    uncounted: list[SchemaPath]
    """Parts without a count beside pods: they may be containers of these, or have pods of their own."""
    changes: list[SchemaPath]
    """Parts that change pods of other parts."""
    counts: list[SchemaPath]
    """All fields that have the name of a count."""


def workload_fields(schema: Object) -> Iterator[tuple[str, Object]]:
    """Yield the fields of an object that describe its workload. Some kinds have them beside a spec, or without one."""
    return ((name, part) for name, part in fields(schema) if name not in _NOT_WORKLOAD)


def find_pods(schema: Object) -> FoundPods:
    """Return the places with the shape of pods, or else those with only their name, and the pieces that are counted.

    Without any such place all pieces of pods count.
    """
    found = _Found()
    for name, part in workload_fields(schema):
        _walk(SchemaPath((name,)), part, (), found)
    whole, pieced = found.shaped or found.named, _without_containers(found.pieced)
    owners, places = {pods.owner for pods in whole}, {pods.place for pods in whole}
    own = [pods for pods in pieced if pods.place not in owners and (pods.is_counted or not _around_of(pods, places))]
    every = [*whole, *own]
    certain = [pods for pods in every if pods.is_counted or not pods.may_be_containers]
    likely = [pods for pods in every if not _is_sidecar(pods.place)]
    pods = certain or [pods for pods in likely if pods.form is Form.SPEC] or likely or every
    shown = {part.place for part in pods}
    uncounted = [part.place for part in every if part.place not in shown]
    counted = [number.place for number in found.numbers if number.name in _FACTORS or _COUNT.fullmatch(number.name)]
    return FoundPods(_with_own_counts(pods), uncounted, found.changes, counted)


def _is_sidecar(path: SchemaPath) -> bool:
    return _SIDECAR.fullmatch(path.names[-1]) is not None


def _around_of(pods: PodsField, places: Container[SchemaPath]) -> SchemaPath | None:
    """Return the nearest of some places that pods are within."""
    steps = pods.place.steps
    outer = (SchemaPath(steps[:length]) for length in range(len(steps) - 1, 0, -1))
    return next((place for place in outer if place in places), None)


def _with_own_counts(found: Sequence[PodsField]) -> list[PodsField]:
    """Return the pods without the numbers that count other pods: those of a part with pods, for a part with a count."""
    owners = {pods.owner for pods in found}
    own = list[PodsField]()
    for pods in found:
        around, has_count = list[Around](), False
        for part in reversed(pods.around):
            is_of_others = has_count and part.path != pods.owner and part.path in owners
            around.append(part._replace(numbers=()) if is_of_others else part)
            has_count = has_count or _counts(part)
        own.append(replace(pods, around=tuple(reversed(around))))
    return own


def _without_containers(pieced: Sequence[PodsField]) -> list[PodsField]:
    """Return the pieces that are pods. Those within others are containers of these, unless they have a count."""
    pods: dict[SchemaPath, PodsField] = {}
    for part in pieced:  # outer parts come first
        place = _around_of(part, pods)
        outer = pods[place] if place else part
        if place is None or any(map(_counts, part.around[len(outer.around) :])):
            pods[part.place] = part
        else:
            pods[place] = replace(outer, containers=(*outer.containers, part.place))
    return list(pods.values())


def _counts(part: Around) -> bool:
    return any(_COUNT.fullmatch(number.name) for number in part.numbers)


def _walk(path: SchemaPath, schema: Object, around: tuple[Around, ...], found: _Found) -> None:
    """Add the pods in a part. Lists of containers belong to the pods around them."""
    if is_container(entries(schema, "items") or {}):
        return
    if _CHANGES & {word.lower() for word in _WORDS.findall(str(path.steps[-1]))}:
        if _has_pods(path, schema):
            found.changes.append(path)
        return
    if is_pod_template(schema):
        found.shaped.append(PodsField(path, Form.TEMPLATE, around))
        return
    # A bare pod spec may have counts next to its containers, as in KServe.
    inner, above = schema, (*around, _around(path, schema))
    found.numbers += above[-1].numbers
    if is_pod_spec(schema):
        is_holder = not (dict(fields(schema)).keys() & POD_FIELDS) - _OF_HOLDERS or _is_sidecar(path)
        pods = PodsField(path, Form.SPEC, above, may_be_containers=is_holder)
        (found.pieced if is_holder else found.shaped).append(pods)
        inner = {"properties": {name: part for name, part in fields(schema) if name not in POD_FIELDS}}
    elif _is_opaque(path, schema):
        form = Form.SPEC if path.steps[-1] == "podSpec" else Form.TEMPLATE
        found.named.append(PodsField(path, form, around, is_guess=True))
    elif pieces := _pieces(path, schema):
        pods = PodsField(path, Form.FRAGMENTS, above, pieces, is_guess=True, may_be_containers=True)
        found.pieced.append(pods)
    is_deepest = sum(isinstance(step, Entries) for step in path.steps) == _DEEPEST
    for at, part in parts_below(path, inner):
        if not (is_deepest and isinstance(at.steps[-1], Entries)):
            _walk(at, part, above, found)


def _around(path: SchemaPath, schema: Object) -> Around:
    numbers, claims, flags = list[NumberField](), list[SchemaPath](), list[SchemaPath]()
    required = schema.get("required")
    for name, part in fields(schema):
        if part.get("type") == "integer" or part.get("x-kubernetes-int-or-string") is True:
            is_required = isinstance(required, list) and name in required
            numbers.append(NumberField(path, name, part.get("default"), is_required))
        elif part.get("type") == "boolean":
            flags.append(path / name)
        elif _is_claim(name, part):
            claims.append(path / name)
    return Around(path, tuple(numbers), tuple(claims), tuple(flags))


def _is_claim(name: str, schema: Object) -> bool:
    """Return whether a field describes a volume claim, or has a size and the name of a volume."""
    part = entries(schema, "items") or schema
    if not any(fields(part)) or is_pod_template(part) or is_pod_spec(part):
        return False
    for described in (part, *(inner for _, inner in fields(part))):
        names = dict(fields(described)).keys() | dict(fields(below(described, "spec"))).keys()
        if names & _OF_CLAIMS:
            return True
    return bool(_VOLUME.fullmatch(name)) and "size" in dict(fields(part))


def _is_opaque(path: SchemaPath, schema: Object) -> bool:
    is_untyped = "type" not in schema and schema.get(OPEN) is True
    is_object = is_untyped or schema.get("type") == "object"
    is_open = is_object and not any(fields(schema)) and not schema.get("additionalProperties")
    return is_open and path.steps[-1] in _OPAQUE


def _has_pods(path: SchemaPath, schema: Object) -> bool:
    inner = _Found()
    for at, part in parts_below(path, schema):
        _walk(at, part, (), inner)
    return bool(inner.shaped or inner.named or inner.pieced) or is_pod_template(schema) or is_pod_spec(schema)


def _pieces(path: SchemaPath, schema: Object) -> dict[str, SchemaPath]:
    """Return the pieces of a pod in an object with the resources of a container, none in another one."""
    resources = dict(fields(below(schema, "resources"))).keys()
    # The spec of a PersistentVolumeClaim has resources as well.
    if not resources >= {"limits", "requests"} or dict(fields(schema)).keys() & _OF_CLAIMS:
        return {}
    pieces: dict[str, SchemaPath] = {}
    for piece, paths in _PIECES.items():
        for steps in paths:
            piece_schema = below(schema, *steps)
            # A field of the other type only has the name of the piece.
            if piece_schema and is_text(piece_schema) == (piece in _TEXTS):
                pieces.setdefault(piece, SchemaPath((*path.steps, *steps)))
    return pieces


# Usual names of fields that multiply the pods of the object that has them.
_FACTORS: Final = ("replicas", "parallelism", "hosts", "numOfHosts", "numHosts", "nodeCount", "numNodes", "instances")
# Names of counts, these among them. Others count pods if no field has one of these: `count` of ECK's node sets.
_COUNT: Final = re.compile(rf"(?i)(?!min|max)(?:{COUNTS}|count|size|servers)")
_BOUNDS: Final = ("minReplicas", "maxReplicas")
_VERBS: Final = ("enable", "disable")


def counts(pods: PodsField, scale_path: str) -> tuple[dict[str, str], list[str]]:
    """Return the fields of a `scaleDefinition`, and the doubts about them.

    The count is the product of every count on the way to pods, by default the count of the scale subresource. Counts of
    a Karta are for the whole workload, so counts of the objects around a part are factors.
    """
    numbers, doubts = [number for part in pods.around for number in part.numbers], list[str]()
    factors = [number for number in numbers if number.name in _FACTORS]
    bounds = _bounds(factors, numbers)
    if not (factors or bounds or scale_path):
        factors = [number for number in numbers if _COUNT.fullmatch(number.name)][-1:]
        if factors:
            doubts.append("only its name says that this counts pods.")
    scale = {f"{bound.name}Path": bound.place.jq for bound in bounds}
    without_default = [factor.place.jq for factor in factors if not factor.is_there]
    if factors:
        scale = {"replicasPath": product(pods.place, factors), **scale}
    elif scale_path and not (bounds or pods.place.has_instances):
        scale = {"replicasPath": scale_path}
        without_default = [scale_path]
    if without_default:
        doubts.append(f"how many pods has an object without {' or '.join(without_default)}? The schema has no default.")
    if len(factors) > 1:
        doubts.append("are these multiplied? A count is for the whole workload.")
    return scale, doubts


def switches_of(pods: PodsField) -> Iterator[SchemaPath]:
    """Yield flags that turn pods on or off: `enabled` in a part, or `enableProxy` or `proxyEnabled` beside `proxy`."""
    for outer, part in pairwise((Around(SchemaPath(), (), (), ()), *pods.around)):
        name = str(part.path.steps[-1]).lower()
        for flags, subject in ((part.flags, ""), (outer.flags, name)):
            names = {f"{verb}{subject}" for verb in _VERBS} | {f"{subject}{verb}d" for verb in _VERBS}
            yield from (flag for flag in flags if flag.names[-1].lower() in names)


def claims_of(pods: PodsField) -> list[SchemaPath]:
    """Return the volume claims of which each pod has its own: those beside a count of the pods.

    >>> claim = {"properties": {"spec": {"properties": {"accessModes": {}}}}}
    >>> described = {"replicas": {"type": "integer"}, "claims": {"items": claim}, "template": {"type": "object"}}
    >>> spec = {"properties": described}
    >>> [path.jq for pods in find_pods({"properties": {"spec": spec}}).pods for path in claims_of(pods)]
    ['.spec.claims']
    """
    return [claim for part in pods.around if _counts(part) for claim in part.claims]


def _bounds(factors: Sequence[NumberField], numbers: Sequence[NumberField]) -> list[NumberField]:
    """Return the least and the largest count, if nothing else has to be multiplied in."""
    if [factor.name for factor in factors] not in ([], ["replicas"]):
        return []
    bounds = [number for name in _BOUNDS for number in numbers if number.name == name]
    parent = next((number.parent for number in (*factors, *reversed(bounds))), None)
    return [number for number in bounds if number.parent == parent]


def product(path: SchemaPath, factors: Sequence[NumberField]) -> str:
    """Return one count for each instance of the pods at a place.

    >>> groups = SchemaPath(("spec", "groups", Entries(key="name")))
    >>> product(groups / "template", [NumberField(groups, "replicas"), NumberField(groups, "numOfHosts", 2)])
    '.spec.groups[] | .replicas * (.numOfHosts // 2)'
    >>> product(groups / "template", [NumberField(SchemaPath(("spec",)), "replicas", 1)])
    '(.spec.replicas // 1) * (.spec.groups[] | 1)'
    """
    parts, deeper = list[str](), list[NumberField]()
    for factor in factors:
        if factor.parent.has_instances:
            deeper.append(replace(factor, parent=factor.parent.after_first))
        else:
            parts.append(factor.text)
    if path.has_instances:
        each = product(path.after_first, deeper)
        is_path = " " not in each and re.match(r"\.\w", each)
        parts.append(f"{path.to_first.jq}{'' if is_path else ' | '}{each}")
    if len(parts) < 2:  # noqa: PLR2004 - a product has two factors
        return parts[0] if parts else "1"
    return " * ".join(f"({part})" if " " in part else part for part in parts)
