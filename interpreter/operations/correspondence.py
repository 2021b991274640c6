"""Which place of a template is which place of the member's object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interpreter.k8s.edit import get
from interpreter.k8s.values import Object, Path
from interpreter.karta.definition import Definition
from interpreter.query import Query


@dataclass(frozen=True, slots=True)
class Correspondence:
    """The places of ``desired`` for places of an observed object.

    Elements of a list whose instances have ids are the same when their ids are: a template may have gained a worker
    group, or lists them in another order. Elements of other lists are the same when their indices are. What the
    template does not have has no place in it. ``moves`` maps the path of a list with ids to its indices, the
    observed object's to the template's.
    """

    desired: Object
    moves: Mapping[Path, Mapping[int, int]]

    @classmethod
    def of(cls, definition: Definition, desired: Object, observed: Object) -> "Correspondence":
        """Match the instances of all components of a definition."""
        moves: dict[Path, dict[int, int]] = {}
        for query in (component.instance_ids for component in definition.components):
            if query is None:
                continue
            ours = {(elements, name): index for elements, index, name in _named_elements(query, desired)}
            for elements, index, name in _named_elements(query, observed):
                found = moves.setdefault(elements, {})
                if (elements, name) in ours:
                    found[index] = ours[elements, name]
        return cls(desired, moves)

    def place(self, path: Path) -> Path | None:
        """Return the template's place for one of the observed object, None when it has none."""
        place: Path = ()
        for depth, step in enumerate(path):
            if isinstance(step, int):
                index = self.moves.get(path[:depth], {step: step}).get(step)
                if index is None or index >= self._length(place):
                    return None
                place = (*place, index)
            else:
                place = (*place, step)
        return place

    def _length(self, place: Path) -> int:
        elements = get(self.desired, place)
        return len(elements) if isinstance(elements, list) else 0


def _named_elements(query: Query, obj: Object) -> Iterator[tuple[Path, int, str]]:
    """Yield the list, the index in it and the id of every instance that is an element of a list."""
    for name, location in zip(query.evaluate(obj), query.locate_each(obj), strict=True):
        if location is None or not isinstance(name, str):
            continue
        for depth, step in reversed(list(enumerate(location.path))):
            if isinstance(step, int):
                yield location.path[:depth], step, name
                break
