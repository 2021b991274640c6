"""The memory that objects of an API server may take together, shared by the namespaces that they are in.

What one namespace has too much of leaves no other one without room. So nobody who may create objects in a namespace
decides which objects of another one are known.
"""

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

_MIB: Final = 2**20
_CLUSTER_SCOPED: Final = ""
_LEAST_ORDER: Final = 1000  # entries of the heap below which it is not made anew

Source: TypeAlias = tuple[Hashable, str]
"""What is counted: the path of a collection, and the key of an object in it (``namespace/name``, or only a name).

What is computed of the objects of a namespace has another value than a path, and the key ``namespace/``.
"""

Place: TypeAlias = tuple[str, str]
"""The path of a collection, and a namespace, which is empty for cluster-scoped objects."""


class Shares:
    """Counts the memory of objects, in bytes.

    Cluster-scoped objects have a quarter, and all namespaces share the rest. While there is no room, objects of the
    namespace that has most give way to others, the latest first. So of N namespaces each has an N-th part for certain.

    ``give_way`` is called with an object that has lost its room. ``report`` is called with a place and True when the
    first of its objects has no room, and with False when all have room again.

    >>> shares = Shares(400, print)
    >>> [shares.take(("halls", name), 100) for name in ("a/1", "a/2", "a/3")]
    [(), (), ()]
    >>> shares.take(("halls", "b/1"), 100)
    ('halls', 'a/3')
    ()
    >>> shares.left_out
    {('halls', 'a'): 100}
    """

    keeps_previous: Final = False

    def __init__(
        self,
        most: int = sys.maxsize,
        give_way: Callable[[Source], None] = lambda _: None,
        report: Callable[[Place, bool], None] = lambda *_: None,
    ) -> None:
        self.most = most
        self.refused: Final[dict[Source, int]] = {}
        """Always empty: objects without room are not remembered, but their places are."""
        self.left_out: dict[Place, int] = {}
        """The places with an object that has no room, and the size of the smallest one, 0 if it may be gone."""
        self._give_way = give_way
        self._report = report
        self._sizes: dict[str, dict[Source, int]] = {}
        self._held: dict[str, int] = {}
        self._order: list[tuple[int, str]] = []  # a heap, the namespace that has most first. Some entries are outdated
        self._shared = 0
        self._listed: dict[str, set[Place]] = {}

    @property
    def held(self) -> int:
        """The bytes of all objects."""
        return self._shared + self.held_by(_CLUSTER_SCOPED)

    def held_by(self, namespace: str) -> int:
        """Return the bytes of the objects of a namespace."""
        return self._held.get(namespace, 0)

    def why_left_out(self, place: Place) -> str:
        """Return why objects of a place have no room and what to do, empty if all have room."""
        if place not in self.left_out:
            return ""
        return f"not all objects of {_owner(place[1])} have room: {self.advice(place[1])}"

    def advice(self, namespace: str) -> str:
        """Return what to do when objects of a namespace have no room."""
        return (
            f"the server keeps {self.held_by(namespace) // _MIB} MiB of objects of {_owner(namespace)} to which "
            "definitions refer; remove some, or give the container more memory"
        )

    def take(self, source: Source, size: int, giving_way: Iterable[Source] = ()) -> Sequence[Source] | None:
        """Count an object in place of its last version. Return None if it has no room: then neither version counts.

        The informer's own choice of objects that are ``giving_way`` is not taken.
        """
        del giving_way
        if self.count(source, size):
            return ()
        self._uncount(source)
        self._leave_out(source, size)
        return None

    def count(self, source: Source, size: int) -> bool:
        """Count as `take` does. Return whether there is room. If not, the last version still counts."""
        namespace = _namespace(source)
        wanted = self.held_by(namespace) - self._sizes.get(namespace, {}).get(source, 0) + size
        while not self._fits(namespace, wanted):
            if not self._make_room(namespace, wanted):
                return False
        self._uncount(source)
        self._set(namespace, wanted)
        self._sizes.setdefault(namespace, {})[source] = size
        return True

    def forget(self, source: Source) -> None:
        """Stop counting an object that is gone."""
        place = _place(source)
        if not self._uncount(source) and place in self.left_out:
            self.left_out[place] = 0

    def has_room_again(self, collection: str) -> bool:
        """Return whether there may be room for an object of a collection that had none."""
        return any(self._may_take(place[1], size) for place, size in self.left_out.items() if place[0] == collection)

    def begin_list(self, collection: str) -> None:
        """Note that all objects of a collection are going to be taken."""
        self._listed[collection] = set()

    def end_list(self, collection: str) -> None:
        """Note that all objects of a collection were taken: only those without room since its begin have none."""
        left_out = self._listed.pop(collection, set())
        for place in [place for place in self.left_out if place[0] == collection and place not in left_out]:
            del self.left_out[place]
            self._report(place, False)

    def _fits(self, namespace: str, wanted: int) -> bool:
        if namespace == _CLUSTER_SCOPED:
            return wanted <= self.most // 4
        return self._shared - self.held_by(namespace) + wanted <= self.most - self.most // 4

    def _may_take(self, namespace: str, size: int) -> bool:
        wanted = self.held_by(namespace) + size
        return self._fits(namespace, wanted) or self._is_above(namespace, wanted)

    def _is_above(self, namespace: str, wanted: int) -> bool:
        """Return whether another namespace has more than this one would have."""
        largest = self._largest()
        return namespace != _CLUSTER_SCOPED and bool(largest) and self.held_by(largest) > wanted

    def _make_room(self, namespace: str, wanted: int) -> bool:
        """Let an object of the namespace that has most give way. Return whether there is one."""
        if not self._is_above(namespace, wanted):
            return False
        sizes = self._sizes[self._largest()]
        source = next(reversed(sizes))
        self._leave_out(source, sizes[source])
        self._uncount(source)
        self._give_way(source)
        return True

    def _largest(self) -> str:
        """Return the namespace that has most, or "" without any."""
        while self._order:
            held, namespace = self._order[0]
            if self.held_by(namespace) == -held:
                return namespace
            heappop(self._order)
        return _CLUSTER_SCOPED

    def _leave_out(self, source: Source, size: int) -> None:
        place = _place(source)
        if place is None:  # it is computed again when it is needed
            return
        is_new = place not in self.left_out
        self.left_out[place] = min(size, self.left_out.get(place, size))
        if place[0] in self._listed:
            self._listed[place[0]].add(place)
        if is_new:
            self._report(place, True)

    def _uncount(self, source: Source) -> bool:
        """Stop counting an object. Return whether it was counted."""
        namespace = _namespace(source)
        sizes = self._sizes.get(namespace, {})
        if source not in sizes:
            return False
        self._set(namespace, self.held_by(namespace) - sizes.pop(source))
        if not sizes:
            del self._sizes[namespace]
        return True

    def _set(self, namespace: str, held: int) -> None:
        if namespace != _CLUSTER_SCOPED:
            self._shared += held - self.held_by(namespace)
            heappush(self._order, (-held, namespace))
        self._held[namespace] = held
        if not held:
            del self._held[namespace]
        if len(self._order) > max(4 * len(self._held), _LEAST_ORDER):
            self._order = [(-held, namespace) for namespace, held in self._held.items() if namespace]
            heapify(self._order)


def _owner(namespace: str) -> str:
    return f"the namespace {namespace}" if namespace else "no namespace"


def _namespace(source: Source) -> str:
    return source[1].rpartition("/")[0]


def _place(source: Source) -> Place | None:
    return (source[0], _namespace(source)) if isinstance(source[0], str) else None
