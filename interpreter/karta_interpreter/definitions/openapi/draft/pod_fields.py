"""Finds the pods of a kind, the parts of its schema with the shape of a pod's definition, and their counts."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from karta_interpreter.base.k8s import COUNTS, JSON, Object
from karta_interpreter.definitions.openapi.schema import (
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

    @property
    def owner(self) -> SchemaPath:
        """The part whose numbers count these pods: the one with the template, or the pieces themselves."""
        return SchemaPath(self.place.steps[:-1]) if self.form is Form.TEMPLATE else self.place


class _Found(Struct):
    """The pods of a schema by their shape, by a name alone, and by pieces."""

    shaped: list[PodsField] = field(default_factory=list)
    named: list[PodsField] = field(default_factory=list)
    pieced: list[PodsField] = field(default_factory=list)


def find_pods(schema: Object) -> list[PodsField]:
    """Return the places with the shape of pods, or else those with only their name, and the pieces that are counted.

    Without any such place all pieces of pods count.
    """
    found = _Found()
    for name, spec in fields(schema):
        if name == "spec":
            _walk(SchemaPath((name,)), spec, (), found)
    whole, pieced = found.shaped or found.named, _without_containers(found.pieced)
    if whole:
        owners = {pods.owner for pods in whole}
        pieced = [pods for pods in pieced if pods.place not in owners and _counts(pods.around[-1])]
    return _with_own_counts([*whole, *pieced])


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
    pods = list[PodsField]()
    for part in pieced:  # outer parts come first
        outer = next((each for each in reversed(pods) if _is_within(part.place, each.place)), None)
        if outer is None or any(map(_counts, part.around[len(outer.around) :])):
            pods.append(part)
        else:
            pods[pods.index(outer)] = replace(outer, containers=(*outer.containers, part.place))
    return pods


def _is_within(path: SchemaPath, outer: SchemaPath) -> bool:
    return path.steps[: len(outer.steps)] == outer.steps


def _counts(part: Around) -> bool:
    return any(_COUNT.fullmatch(number.name) for number in part.numbers)


def _walk(path: SchemaPath, schema: Object, around: tuple[Around, ...], found: _Found) -> None:
    """Add the pods in a part. Lists of containers belong to the pods around them."""
    if is_container(entries(schema, "items") or {}):
        return
    if is_pod_template(schema):
        found.shaped.append(PodsField(path, Form.TEMPLATE, around))
        return
    # A bare pod spec may have counts next to its containers, as in KServe.
    inner, above = schema, (*around, _around(path, schema))
    if is_pod_spec(schema):
        found.shaped.append(PodsField(path, Form.SPEC, above))
        inner = {"properties": {name: part for name, part in fields(schema) if name not in POD_FIELDS}}
    elif _is_opaque(path, schema):
        form = Form.SPEC if path.steps[-1] == "podSpec" else Form.TEMPLATE
        found.named.append(PodsField(path, form, around, is_guess=True))
    elif pieces := _pieces(path, schema):
        found.pieced.append(PodsField(path, Form.FRAGMENTS, above, pieces, is_guess=True))
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
    is_open = schema.get("type") == "object" and not any(fields(schema)) and not schema.get("additionalProperties")
    return is_open and path.steps[-1] in _OPAQUE


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


def switch_of(pods: PodsField) -> SchemaPath | None:
    """Return the flag that turns pods on: `enabled` in a part, or `enableProxy` or `proxyEnabled` beside `proxy`."""
    for outer, part in pairwise((Around(SchemaPath(), (), (), ()), *pods.around)):
        name = str(part.path.steps[-1]).lower()
        for flags, names in ((part.flags, ("enabled",)), (outer.flags, (f"enable{name}", f"{name}enabled"))):
            found = next((flag for flag in flags if flag.names[-1].lower() in names), None)
            if found:
                return found
    return None


def claims_of(pods: PodsField) -> list[SchemaPath]:
    """Return the volume claims of which each pod has its own: those beside a count of the pods.

    >>> claim = {"properties": {"spec": {"properties": {"accessModes": {}}}}}
    >>> described = {"replicas": {"type": "integer"}, "claims": {"items": claim}, "template": {"type": "object"}}
    >>> spec = {"properties": described}
    >>> [path.jq for pods in find_pods({"properties": {"spec": spec}}) for path in claims_of(pods)]
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
