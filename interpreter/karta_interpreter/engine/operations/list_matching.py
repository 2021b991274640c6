"""Matches the parts of a template with the parts of the member's object, and combines their values."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, zip_longest
from operator import itemgetter
from typing import TypeAlias, TypeVar

from karta_interpreter.base.errors import (
    InterpretationError,
    QuantityError,
    is_of_object,
)
from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, Projection, Quantity, get, grouped
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodTemplate
from karta_interpreter.languages.jq import Query, take_outputs

T = TypeVar("T")
_Names: TypeAlias = dict[Path, Mapping[str, int]]
"""The places of elements by their names, for each list."""

_NAME = "name"
# A list, a component, and the id of the component's instance at an element of the list.
_Instance = tuple[Path, str, str]
# A list, the id of an instance, and the index of its element in the list.
_Element = tuple[Path, str, int]


def unless_broken(read: Callable[..., T], *arguments: object) -> T | None:
    """Return a value read from a member's object, or None if reading fails, so that an update can repair the object.

    Too many results, an evaluation that was stopped and one that lacks a reference stay errors. Karmada then sends no
    update, shows the reason in the Work and asks again. An update without what the member owns would take it away.
    """
    try:
        return read(*arguments)
    except InterpretationError as error:
        if not is_of_object(error):
            raise
        return None


class Correspondence:
    """Maps places of an observed object to places of a template.

    If the instances in a list have ids, elements with equal ids correspond: a template may have gained a worker group,
    or lists them in another order. In other lists, elements with equal names correspond, or equal indices if the
    template has no name there. In objects, fields with equal keys correspond.
    """

    def __init__(self, definition: Definition, desired: Object, observed: Object) -> None:
        self._definition = definition
        self._desired = desired
        self._observed = observed

    def of_retained(self, retained: Object, template: Object) -> "Correspondence":
        """Return what maps places of a template to places of the object that was retained from it."""
        return Correspondence(self._definition, retained, {**template, "status": self._observed.get("status")})

    def values(self, query: Query, template: Object) -> Sequence[JSON]:
        """Return the values that an expression gives for the template."""
        return self._read(query.evaluate, template)

    def shared(
        self,
        query: Query,
        template: Object,
        absent: JSON = None,
        *,
        drops: bool = False,
        strict: bool = True,
        is_kept: Callable[[JSON], bool] | None = None,
    ) -> Iterable[tuple[Path, JSON]]:
        """Return the template's place and the observed value of everything that an expression names in both objects.

        Places that the template has dropped are not named in it: neither entries of a map or a list, nor places that a
        condition selects. A value that the observed object lacks stays the template's. However, if the template has a
        value there, it becomes ``absent``, or None if ``drops`` is set. Computed values in the template have no place,
        which is an error if ``strict``. Nothing is returned if ``is_kept`` accepts none of the values.
        """
        values = unless_broken(query.evaluate, self._observed) or []
        # The usual case, at half of the cost: the member has nothing to be kept.
        if not values or (absent is None and not drops and not _is_any_kept(values, is_kept)):
            return ()
        if fixed := query.fixed_paths:
            return _differing(fixed, values, self.values(query, template), absent, drops=drops)
        paths: Callable[[Object], Sequence[Path | None]] = query.paths if strict else query.known_paths
        return self._shared(paths, values, template, absent, drops=drops)

    def _shared(
        self,
        paths: Callable[[Object], Sequence[Path | None]],
        values: Sequence[JSON],
        template: Object,
        absent: JSON,
        *,
        drops: bool,
    ) -> Iterator[tuple[Path, JSON]]:
        ours, names = frozenset(self._read(paths, template)), _Names()
        # Either both fail or neither does, except for computed values: their places are then unknown.
        for path, value in zip(unless_broken(paths, self._observed) or [], values, strict=False):
            merged = absent if value is None else value
            target = None if path is None or (merged is None and not drops) else self.moved(path, template, names)
            if target is None or target not in ours:
                continue
            if (value is not None or get(template, target) is not None) and _has_elements(template, target):
                yield target, merged

    def _read(self, read: Callable[[Object], Sequence[T]], template: Object) -> Sequence[T]:
        """Return the values of an expression for the template, or none if values kept from the member make it fail.

        Templates come without a status, so conditions about the status use the observed object's.
        """
        outputs = unless_broken(read, {**template, "status": self._observed.get("status")})
        if outputs is None:
            read(self._desired)  # an error in the template itself is raised
        return outputs or []

    def moved(self, path: Path, template: Object, names: _Names | None = None) -> Path | None:
        """Return the path with the template's indices, or None for an element that the template lacks.

        ``names`` caches the names in the template's lists from one path to the next.
        """
        if int not in map(type, path):
            return path
        names = {} if names is None else names
        target: Path = ()
        for depth, step in enumerate(path):
            ours: str | int | None = step
            if isinstance(step, int):
                ours = self._index(path[:depth], step, template, target, names)
            if ours is None:
                return None
            target = (*target, ours)
        return target

    def _index(self, elements: Path, index: int, template: Object, target: Path, names: _Names) -> int | None:
        """Return the template's index for the observed object's, or None for an id that the template lacks."""
        ids, ours, taken = self._ids
        # The template's element at this index may have an id. Then it does not correspond to the observed one without
        # that id.
        if (elements, index) in ids or (target, index) in taken:
            # Several components may have their ids in one list. The component that knows the instance decides.
            instances = ((target, *instance) for instance in ids.get((elements, index), ()))
            return next((ours[instance] for instance in instances if instance in ours), None)
        name = get(self._observed, (*elements, index, _NAME))
        if not isinstance(name, str) or not name:
            return index
        if target not in names:
            listed = get(template, target)
            given = [get(element, (_NAME,)) for element in (listed if isinstance(listed, list) else ())]
            names[target] = {own: at for at, own in enumerate(given) if isinstance(own, str) and own}
        # It may correspond to the element without a name at the same index.
        return names[target].get(name, None if get(template, (*target, index, _NAME)) else index)

    @cached_property
    def _ids(
        self,
    ) -> tuple[Mapping[tuple[Path, int], list[tuple[str, str]]], Mapping[_Instance, int], set[tuple[Path, int]]]:
        """Return the observed object's ids by list and index, the template's indices by id, and all these indices."""
        ids: dict[tuple[Path, int], list[tuple[str, str]]] = {}
        ours: dict[_Instance, int] = {}
        for component in reversed(self._definition.components):
            for elements, name, index in unless_broken(list[_Element], _elements(component, self._desired)) or ():
                ours[elements, component.name, name] = index
            for elements, name, index in unless_broken(list[_Element], _elements(component, self._observed)) or ():
                ids.setdefault((elements, index), []).append((component.name, name))
        return ids, ours, {(elements, index) for (elements, _, _), index in ours.items()}


def _differing(
    paths: Sequence[Path], values: Sequence[JSON], ours: Sequence[JSON], absent: JSON, *, drops: bool
) -> Iterator[tuple[Path, JSON]]:
    """Yield the places with different values. The template has no values if it cannot be read.

    A status is the member's among the values of both.
    """
    for path, value, our in zip(paths, values, ours, strict=False):
        if value is None and our is not None and (absent is not None or drops):
            yield path, absent
        elif value is not None and (value != our or path[:1] == ("status",)):
            yield path, value


def _is_any_kept(values: Sequence[JSON], is_kept: Callable[[JSON], bool] | None) -> bool:
    return any(value is not None and (is_kept is None or is_kept(value)) for value in values)


def _has_elements(template: Object, path: Path) -> bool:
    """Return whether a template has the list elements of a path. A field can be created there, but no element."""
    for depth, step in enumerate(path, start=1):
        if type(step) is int and get(template, path[:depth], NOTHING) is NOTHING:
            return False
    return True


def _elements(component: ComponentRules, obj: Object) -> Iterator[_Element]:
    query = component.instance_ids
    if query is None:
        return
    places = query.locate_each(obj)
    if None in places and isinstance(component.pods, PodTemplate):  # a computed id belongs to the pods next to it
        places = [location or pods for location, pods in zip_longest(places, component.pods.query.locate_each(obj))]
    # Not strict, because templates may have more places than there are ids.
    for name, location in zip(query.evaluate(obj), places, strict=False):
        if location is None or not isinstance(name, str):
            continue
        for depth, step in reversed(list(enumerate(location.path))):
            if isinstance(step, int):
                yield location.path[:depth], name, step
                break


def matching_reads(definition: Definition, projection: Projection) -> None:
    """Mark what `Correspondence` reads to match the elements of all marked lists: their ids and names."""
    take_outputs(projection, *(component.instance_ids for component in definition.components))
    pending = [projection]
    while pending:
        current = pending.pop()
        pending += current.fields.values()
        if current.elements is not None:
            current.elements.take(_NAME)
            pending.append(current.elements)


def filled(ours: JSON, theirs: JSON) -> JSON:
    """Return the template's value, completed by the member's if the template has none, also inside objects.

    >>> filled({"disk": "nvme", "pool": None}, {"disk": "hdd", "pool": "a100"})
    {'disk': 'nvme', 'pool': 'a100'}
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**theirs, **{key: filled(value, theirs.get(key)) for key, value in ours.items()}}
    return theirs if ours is None else ours


def united(ours: JSON, theirs: JSON, by: Query | None = None, is_kept: Callable[[JSON], bool] = lambda _: True) -> JSON:
    """Return the elements of both lists, with equal keys filled, in the template's order.

    ``by`` gives the key of an element, else the element is its own key. What only the member has comes behind the
    element before it, so that a list to which the member has added stays as it is. Elements of the member that are not
    kept appear only if the template has them.

    >>> united([{"key": "new"}, {"key": "gpu"}], [{"key": "spot"}, {"key": "gpu"}, {"key": "own"}])
    [{'key': 'spot'}, {'key': 'new'}, {'key': 'gpu'}, {'key': 'own'}]
    """
    if ours == theirs:
        return ours
    if not isinstance(theirs, list) or not isinstance(ours, list | None):
        return filled(ours, theirs)

    def key(element: JSON) -> str:
        return json.dumps(element if by is None else by.evaluate(element), sort_keys=True)

    # Reversed, so that `pop` takes the first: thousands of elements may share a key.
    waiting = grouped((key(element), (index, element)) for index, element in reversed(list(enumerate(ours or ()))))
    joined: list[tuple[int, JSON]] = []
    place = -1
    for element in theirs:
        name = unless_broken(key, element)
        same = waiting.get(name or "")
        place, our = same.pop() if same else (place, None)
        if name is not None and is_kept(element):
            joined.append((place, filled(our, element)))
        elif our is not None:
            joined.append((place, our))
    joined += chain.from_iterable(waiting.values())
    return [element for _, element in sorted(joined, key=itemgetter(0))]


def respelled(ours: JSON, theirs: JSON) -> JSON:
    """Return the template's value with the member's spelling of quantities that are equal.

    >>> respelled({"cpu": 1, "memory": "2Gi"}, {"cpu": "1", "memory": "1Gi"})
    {'cpu': '1', 'memory': '2Gi'}
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: respelled(value, theirs.get(key)) for key, value in ours.items()}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*map(respelled, ours, theirs), *ours[len(theirs) :]]
    if {type(ours), type(theirs)} <= {str, int, float}:
        with suppress(QuantityError):
            return theirs if Quantity.parse(ours) == Quantity.parse(theirs) else ours
    return ours
