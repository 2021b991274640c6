"""Which place of a template is which place of the member's object."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from karta_interpreter.jq import Query
from karta_interpreter.jq.inprocess.reads import take_outputs
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta import Component, Definition, PodTemplate

_NOTHING = object()
_NAME = "name"


class Correspondence:
    """The places of a template for places of an observed object.

    Elements of a list whose instances have ids are the same when their ids are: a template may have gained a worker
    group, or lists them in another order. Elements of other lists are the same when their names are, or their indices
    where the template has given no name, and fields of an object when their keys are.
    """

    def __init__(self, definition: Definition, desired: Object, observed: Object) -> None:
        self._definition = definition
        self._desired = desired
        self._observed = observed

    def values(self, query: Query, template: Object) -> list[JSON]:
        """Return what an expression gives for the template."""
        return query.evaluate(self._asked(template))

    def shared(
        self, query: Query, template: Object, absent: JSON = None, *, drops: bool = False, strict: bool = True
    ) -> Iterator[tuple[Path, JSON]]:
        """Yield the template's place and the observed value for what an expression names in both objects.

        What the template has dropped is not named in it: neither the entry of a map or a list, nor what a condition
        selects. What the observed object does not have stays the template's; where the template has a value, it
        becomes ``absent``, or None if it ``drops`` that. What is computed has no place: an error if ``strict``.
        """
        paths = query.paths if strict else query.known_paths
        values = query.evaluate(self._observed)
        if absent is None and not drops and all(value is None for value in values):
            return
        ours, names = frozenset(paths(self._asked(template))), _Names(template)
        for path, value in zip(paths(self._observed), values, strict=True):
            found = absent if value is None else value
            place = None if path is None or (found is None and not drops) else self._moved(path, names)
            if place is None or place not in ours or not _has_elements(template, place):
                continue
            if value is not None or get(template, place) is not None:
                yield place, found

    def _asked(self, template: Object) -> Object:
        """Templates come without a status, so conditions about it are asked of the observed object's."""
        return {**template, "status": self._observed.get("status")}

    def _moved(self, path: Path, names: "_Names") -> Path | None:
        """Return the path with the template's indices; None for an element that the template does not have."""
        place: Path = ()
        for depth, step in enumerate(path):
            ours = self._index(path[:depth], step, names, place) if isinstance(step, int) else step
            if ours is None:
                return None
            place = (*place, ours)
        return place

    def _index(self, elements: Path, index: int, names: "_Names", place: Path) -> int | None:
        """Return the template's index for the observed object's; an element with an id is none without one."""
        if (elements, index) in self._moves:
            return self._moves[elements, index]
        if (elements, index) in self._taken:
            return None
        name = get(self._observed, (*elements, index, _NAME))
        return names.index(place, name, index) if isinstance(name, str) and name else index

    @cached_property
    def _taken(self) -> frozenset[tuple[Path, int]]:
        """The lists of the template and the indices in them that have an id."""
        return frozenset((elements, index) for named in self._named for (elements, _), index in named.ours.items())

    @cached_property
    def _moves(self) -> Mapping[tuple[Path, int], int | None]:
        """The lists of the observed object and the indices in them that have an id, and those of the template."""
        moves: dict[tuple[Path, int], int | None] = {}
        for named in self._named:
            for (elements, name), index in named.theirs.items():
                found = named.ours.get((elements, name))
                if found is not None or (elements, index) not in moves:
                    moves[elements, index] = found
        return moves

    @cached_property
    def _named(self) -> Sequence["_Named"]:
        return [
            _Named(dict(_named_elements(component, self._desired)), dict(_named_elements(component, self._observed)))
            for component in self._definition.components
            if component.instance_ids
        ]


class _Names:
    """The named elements of a template's lists."""

    def __init__(self, template: Object) -> None:
        self._template = template
        self._lists: dict[Path, Mapping[JSON, int]] = {}

    def index(self, elements: Path, name: str, index: int) -> int | None:
        """Return which element has a name; it may be the one at an index that has none."""
        if elements not in self._lists:
            self._lists[elements] = self._named(elements)
        found = self._lists[elements].get(name)
        has_other = found is None and bool(get(self._template, (*elements, index, _NAME)))
        return None if has_other else index if found is None else found

    def _named(self, elements: Path) -> Mapping[JSON, int]:
        listed = get(self._template, elements)
        names = ((get(each, (_NAME,)), index) for index, each in enumerate(listed if isinstance(listed, list) else ()))
        return {name: index for name, index in names if isinstance(name, str) and name}


class _Named(NamedTuple):
    """The elements of a component's instances in the template and in the observed object, by list and id."""

    ours: Mapping[tuple[Path, str], int]
    theirs: Mapping[tuple[Path, str], int]


def _has_elements(obj: Object, place: Path) -> bool:
    """Return whether all elements of lists on the way to a place are there: only the last of fields can be made."""
    return all(
        get(obj, place[: depth + 1], _NOTHING) is not _NOTHING
        for depth, step in enumerate(place)
        if isinstance(step, int)
    )


def _named_elements(component: Component, obj: Object) -> Iterator[tuple[tuple[Path, str], int]]:
    """Yield list, id and index of every instance that is an element of a list."""
    query = component.instance_ids
    if query is None:
        return
    places = query.locate_each(obj)
    if None in places and isinstance(component.pods, PodTemplate):  # a computed id is that of the pods beside it
        places = [place or pods for place, pods in zip_longest(places, component.pods.query.locate_each(obj))]
    for name, place in zip(query.evaluate(obj), places, strict=False):
        if place is None or not isinstance(name, str):
            continue
        for depth, step in reversed(list(enumerate(place.path))):
            if isinstance(step, int):
                yield (place.path[:depth], name), step
                break


def matching_reads(definition: Definition, projection: Projection) -> None:
    """Mark what `Correspondence` reads to match the elements of all lists that are marked: their ids and names."""
    take_outputs(projection, *(component.instance_ids for component in definition.components))
    _take_names(projection)


def _take_names(projection: Projection) -> None:
    below = list(projection.fields.values())
    if projection.elements is not None:
        projection.elements.take(_NAME)
        below.append(projection.elements)
    for part in below:
        _take_names(part)
