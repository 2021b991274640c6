"""Where the pods of a kind are: the parts of its schema that look like a pod's definition."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.drafting.place import Entries, Place
from karta_interpreter.karta.drafting.shapes import (
    OPAQUE,
    below,
    entries,
    fields,
    is_claim,
    is_pod_spec,
    is_pod_template,
    is_resources,
    is_text,
    is_unsaid,
    key_of,
)

_DEEPEST = 4
"""Lists within lists within lists are looked into so far."""

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
"""Where the pieces of a pod use to be in an object that has no whole pod: the first place that there is."""

_TEXTS = ("schedulerNamePath", "priorityClassNamePath", "imagePath")


class Form(StrEnum):
    """How a pod is given; the values are fields of `specDefinition`."""

    TEMPLATE = "podTemplateSpecPath"
    SPEC = "podSpecPath"
    FRAGMENTS = "fragmentedPodSpecDefinition"


@dataclass(frozen=True, slots=True)
class Pods:
    """A place that has pods, and its schema; ``ancestors`` are the same of everything on the way, outermost first.

    ``pieces`` are the fields of a `fragmentedPodSpecDefinition`; ``is_guess`` tells that only its name speaks for it.
    """

    place: Place
    schema: Object
    form: Form
    ancestors: tuple[tuple[Place, Object], ...]
    pieces: Mapping[str, Place] = field(default_factory=dict)
    is_guess: bool = False


def find_pods(schema: Object) -> list[Pods]:
    """Every place of an object that looks like a pod's definition; pieces of pods only where there is no whole one."""
    start = [(Place((name,)), part) for name, part in fields(schema) if name == "spec"]
    parts = [part for place, field_schema in start for part in _walk(place, field_schema, ())]
    whole = [pods for part in parts for pods in _whole(*part)]
    known = [pods for pods in whole if not pods.is_guess]
    return known or whole or [pods for part in parts for pods in _fragments(*part)]


_Part = tuple[Place, Object, tuple[tuple[Place, Object], ...]]


def _walk(place: Place, schema: Object, ancestors: tuple[tuple[Place, Object], ...]) -> Iterator[_Part]:
    """A part and the parts below it, but not what a pod template is made of."""
    yield place, schema, ancestors
    above = (*ancestors, (place, schema))
    inner = below(schema, "spec") if is_pod_template(schema) else schema
    for name, part in fields(inner):
        yield from _walk(place / name, part, above)
    if sum(isinstance(step, Entries) for step in place.steps) == _DEEPEST:
        return
    items = entries(schema, "items")
    if items is not None:
        yield from _walk(place / Entries(key=key_of(schema, items)), items, above)
    values = entries(schema, "additionalProperties")
    if values is not None:
        yield from _walk(place / Entries(is_map=True), values, above)


def _whole(place: Place, schema: Object, ancestors: tuple[tuple[Place, Object], ...]) -> Iterator[Pods]:
    if is_pod_template(schema):
        yield Pods(place, schema, Form.TEMPLATE, ancestors)
    elif is_pod_spec(schema) and not (ancestors and is_pod_template(ancestors[-1][1])):
        yield Pods(place, schema, Form.SPEC, ancestors)
    elif is_unsaid(schema) and place.steps[-1] in OPAQUE:
        form = Form.SPEC if place.steps[-1] == "podSpec" else Form.TEMPLATE
        yield Pods(place, schema, form, ancestors, is_guess=True)


def _fragments(place: Place, schema: Object, ancestors: tuple[tuple[Place, Object], ...]) -> Iterator[Pods]:
    if not is_resources(below(schema, "resources")) or is_claim(schema):
        return
    pieces = {piece: Place((*place.steps, *way)) for piece in _PIECES for way in _ways(schema, piece)[:1]}
    yield Pods(place, schema, Form.FRAGMENTS, (*ancestors, (place, schema)), pieces, is_guess=True)


def _ways(schema: Object, piece: str) -> list[tuple[str, ...]]:
    """The places of a piece that the schema has, with what belongs there."""
    found = [(way, below(schema, *way)) for way in _PIECES[piece]]
    return [way for way, part in found if part and is_text(part) == (piece in _TEXTS)]
