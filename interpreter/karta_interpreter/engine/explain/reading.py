"""Traces the reads of an expression in an object: each output with the places that it comes from.

Values and writable places come from the evaluator (`Query.evaluate`, `Query.locate_each`). The other places come from
the analysis of an expression's reads.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from textwrap import shorten
from typing import NamedTuple

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s import (
    JSON,
    NOTHING,
    Object,
    Path,
    Projection,
    field_path,
    get,
    grouped,
    json_pointer,
    parts_of,
)
from karta_interpreter.definitions.karta import ComponentRules, Definition, Fragments, annotation_path
from karta_interpreter.engine.explain.explanation import OBJECT, Fact, Place
from karta_interpreter.languages.jq import Location, Query, take_outputs, truthy

_MOST_PLACES = 12
MOST_NAMED = 2  # places in a message
_LONGEST = 60
# The most expressions with a cached analysis: about thirty definitions.
_EXPRESSIONS = 1024


class Reading(NamedTuple):
    """One output of an expression. ``location`` is the place to write it back to, None if it is computed.

    An expression that runs in another process is not traced.
    """

    value: JSON
    places: tuple[Place, ...]
    location: Location | None
    is_traced: bool = True

    @property
    def writes(self) -> tuple[str, ...]:
        """The JSON Pointer at which another value is written."""
        return () if self.location is None else (json_pointer(self.location.path),)

    @property
    def source(self) -> str:
        """The origin of the value in words: a field, a default, or a computation."""
        if self.location is None:
            if not self.is_traced:
                return "computed in another process, which is not traced"
            return "computed" if self.places else "a constant of the definition"
        where = field_path(self.location.path)
        parts = [where]
        if self.location.default is not None and self.places and not truthy(self.places[0].value):
            parts = [f"{where} is not set, so the default {self.location.default} steps in"]
        if self.location.factor != 1:
            parts.append(f"times {self.location.factor}")
        if self.location.floor is not None:
            parts.append(f"at least {self.location.floor}")
        if self.location.cap is not None:
            parts.append(f"at most {self.location.cap}")
        return ", ".join(parts)


def readings(query: Query | None, obj: Object) -> list[Reading]:
    """Return each output of an expression with its places. Raises QueryError if the expression fails."""
    if query is None:
        return []
    values = query.evaluate(obj)
    # Expressions that cannot be traced, such as a recursive function, still have values to show.
    try:
        locations = query.locate_each(obj)
    except QueryError:
        locations = [None] * len(values)
    # Bounded, because an expression may read each of thousands of elements for one output.
    read = islice(paths_read(query, obj), _MOST_PLACES * max(len(values), 1))
    others = grouped((_element(path), path) for path in read)
    return [
        Reading(value, tuple(_places(location, others, obj)), location, query.is_plain)
        for value, location in zip(values, locations, strict=True)
    ]


def place_at(path: Path, obj: Object, source: str = OBJECT) -> Place:
    """Return a place of an object with its value."""
    value = get(obj, path, NOTHING)
    return Place(path, None if value is NOTHING else value, value is not NOTHING, source)


def _places(location: Location | None, paths: Mapping[Path, list[Path]], obj: Object) -> Iterator[Place]:
    """Yield the place of an output and the places read next to it, in the same list element or outside of lists."""
    own = () if location is None else location.path
    if location is not None:
        yield place_at(own, obj)
    element = _element(own)
    groups = (paths.get(element, ()), paths.get((), ())) if element else paths.values()
    others = (path for path in chain.from_iterable(groups) if path != own and _is_beside(path, own))
    yield from (place_at(path, obj) for path in islice(others, _MOST_PLACES))


def _is_beside(path: Path, other: Path) -> bool:
    """Return whether a path may belong to the same elements of lists as another one."""
    for ours, theirs in zip(path, other, strict=False):
        if ours != theirs and (isinstance(ours, int) or isinstance(theirs, int)):
            return False
    return True


def _element(path: Path) -> Path:
    """Return the path up to the first index of a list."""
    return next((path[: depth + 1] for depth, step in enumerate(path) if isinstance(step, int)), ())


def paths_read(query: Query, obj: Object) -> Iterator[Path]:
    """Yield the paths of all reads of an expression, or nothing if it may read the whole object."""
    if not (projection := _projection(query)).is_whole:
        yield from _leaves(projection, (), obj)


@lru_cache(_EXPRESSIONS)
def _projection(query: Query) -> Projection:
    """Return the analysis of an expression. It is the same for all objects and takes longer than `_leaves`."""
    projection = Projection()
    take_outputs(projection, query)
    return projection


def _leaves(projection: Projection, path: Path, value: JSON) -> Iterator[Path]:
    if projection.is_whole or not (projection.fields or projection.elements):
        yield path
        return
    for name, below in projection.fields.items():
        yield from _leaves(below, (*path, name), value.get(name) if isinstance(value, dict) else None)
    if projection.elements is not None:
        if not value:
            yield path
        for key, element in parts_of(value):
            yield from _leaves(projection.elements, (*path, key), element)


def shown(text: str) -> str:
    """Return the beginning of a text of an object or an expression, for a message."""
    return shorten(text, _LONGEST, placeholder=" …")


_STRUCTURE = "spec.structureDefinition"


def field_of(definition: Definition, component: str, field: str) -> str:
    """Return the path of a field of a component in its definition.

    The components of a definition are the root and then the children, in written order.
    """
    index = [candidate.name for candidate in definition.components].index(component)
    component_field = "rootComponent" if index == 0 else f"childComponents[{index - 1}]"
    return f"{_STRUCTURE}.{component_field}.{field}"


def annotation_field(name: str) -> str:
    """Return the path of an annotation in its definition."""
    return field_path(annotation_path(name))


def pod_queries(component: ComponentRules) -> dict[str, Query]:
    """Return the expressions for a component's pods by the paths of their fields, the one for whole pods first."""
    parent = "specDefinition.fragmentedPodSpecDefinition" if isinstance(component.pods, Fragments) else "specDefinition"
    return {f"{parent}.{field}": query for field, query in component.pod_queries.items()}


def about(
    definition: Definition,
    component: ComponentRules,
    field: str,
    query: Query | None,
    rule: str,
    note: str = "",
    **fact: JSON,
) -> Fact:
    """Return a fact about an expression of a component."""
    text, where = "" if query is None else query.text, field_of(definition, component.name, field)
    return Fact(rule, note, component=component.name, field=where, expression=text, **fact)
