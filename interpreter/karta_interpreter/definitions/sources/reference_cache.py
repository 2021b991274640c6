"""The objects of an API server that definitions refer to, kept in step with the server.

The cache holds every object of each such kind, so that no answer waits for a request. It holds a kind only once the
server has a kind of workload that refers to it, because there may be very many Deployments. If the server does not have
a kind, or forbids it, the cache asks again from time to time. Until then its objects cannot be looked up.

A large object is kept as bytes, and decoded when it is looked up: 45 MB of JSON can take 1.1 GB as Python objects, and
garbage collection visits them all.

All objects together have a bound, with the names that definitions give them. Those of a kind cannot be looked up if one
of them has no room: an answer without it would be wrong.
"""

import asyncio
import marshal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from karta_interpreter.base.errors import ClusterError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s import GVK, Object, edit, grouped
from karta_interpreter.definitions.karta import ObjectNames, ReferenceReader
from karta_interpreter.definitions.sources.api_server import ApiServer, by_kind
from karta_interpreter.definitions.sources.budget import Budget, weight_of
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.languages.jq import Query

_LARGE = 2**16  # the size in bytes of the smallest object that is kept as bytes
_VALUE_BYTES = 64  # estimated for each value of an object that is kept decoded


@dataclass(slots=True)
class _Names:
    """The names of ``objects`` by an expression. Those of the objects that are ``left`` are not computed yet."""

    objects: Mapping[str, Object | bytes]
    left: list[Object | bytes]
    names: ObjectNames
    weight: int = 0


class ReferenceCache(ReferenceReader):
    """Objects of a cluster: it holds the kinds that are wanted."""

    def __init__(self, api: ApiServer, pace: Pace, most: int = sys.maxsize) -> None:
        self._api = api
        self._budget = Budget(most, "objects that definitions refer to")
        self._pace = pace
        self._wanted: Mapping[GVK, set[GVK]] = {}
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Informer[Object | bytes]] = {}
        self._problems: Mapping[GVK, ClusterError] = {}
        self._names: dict[tuple[GVK, Query], _Names] = {}
        self._unknown: set[GVK] = set()  # kinds that the server has said it does not have

    def want(self, references: Iterable[tuple[GVK, GVK]]) -> None:
        """Hold only the kinds in these references: pairs of a kind of workload and a kind that it refers to."""
        workloads = {gvk: set(kinds) for gvk, kinds in grouped((gvk, kind) for kind, gvk in references).items()}
        # Without the collections of removed definitions.
        for source in self._names:
            self._budget.forget(source)
        self._names = {}
        if self._wanted != workloads:
            self._wanted = workloads
            self._moved.set()

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name, or None. Raise QueryReferenceError if the kind is not known."""
        objects = self._objects(gvk)
        # A name has no slash. With one it would be the key of an object in another namespace.
        if "/" in name:
            return None
        # The key of a cluster-scoped object is only its name.
        stored = objects.get(f"{namespace}/{name}") or objects.get(name)
        return _decoded(stored) if stored else None

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        """Return the objects of a kind. Raise QueryReferenceError if they are not known."""
        return [
            _decoded(obj)
            for key, obj in self._objects(gvk).items()
            if namespace is None or key.rpartition("/")[0] in ("", namespace)
        ]

    def names(self, gvk: GVK, namespace: str, expression: Query) -> ObjectNames:  # noqa: ARG002 - those of all
        """Return the names of the objects of a kind. They are computed once for each state of its objects."""
        objects, source = self._objects(gvk), (gvk, expression)
        computed = self._names.get(source)
        if computed is None or computed.objects is not objects:
            self._budget.forget(source)
            computed = self._names[source] = _Names(objects, list(objects.values()), ObjectNames(expression))
        while computed.left:  # a call that takes long is interrupted, and the next one goes on
            weight = computed.weight + weight_of(computed.names.add(_decoded(computed.left[-1])), _VALUE_BYTES)
            if self._budget.take(source, weight) is None:
                raise QueryAbsentError(self._budget.reason)
            computed.weight = weight
            computed.left.pop()
        return computed.names

    def problem(self, gvk: GVK) -> str:
        """Return why the objects of a kind are not known, empty if they are."""
        collection = self._collections.get(gvk)
        if collection and collection.listed and not collection.absent:
            return self._budget.reason if collection.left_out else ""
        problem = collection.problem if collection else self._problems.get(gvk)
        return str(problem) if problem else "it has not been listed yet"

    async def run(self) -> None:
        """Keep in step until cancelled."""
        followed: dict[GVK, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                for gvk in followed.keys() - self._wanted.keys():
                    followed.pop(gvk).cancel()
                    self._problems = {other: value for other, value in self._problems.items() if other != gvk}
                for gvk in self._wanted.keys() - followed.keys():
                    followed[gvk] = group.create_task(self._follow(gvk))
                await self._moved.wait()
                self._moved.clear()

    async def _follow(self, gvk: GVK) -> None:
        await self._find(gvk, lambda: self._wanted.get(gvk, ()))
        path = await self._find(gvk, lambda: (gvk,))
        collection = Informer(self._api, path, partial(_view, gvk), self._pace, self._budget, _weigh)
        self._collections = {**self._collections, gvk: collection}
        try:
            await collection.follow(lambda: None)
        finally:
            # Also after an error in this program: without its objects the collection would say that there are none.
            self._collections = {other: value for other, value in self._collections.items() if value is not collection}
            collection.clear()

    async def _find(self, gvk: GVK, kinds: Callable[[], Iterable[GVK]]) -> str:
        """Return the collection path of one of the kinds once the server knows one. ``gvk`` waits for it."""
        failures = 0
        while True:
            for kind in tuple(kinds()):
                try:
                    return await self._path(kind)
                except ClusterError as error:
                    self._problems = {**self._problems, gvk: error}
                    # Until the kind of workload is found, the kind that it refers to may be there, too.
                    if kind == gvk and (error.reason == "NotFound" or error.status == HTTPStatus.NOT_FOUND):
                        self._unknown.add(gvk)
            failures += 1
            await asyncio.sleep(self._pace.pause(failures))

    async def _path(self, gvk: GVK) -> str:
        """Return the path of a kind's collection. Raise ClusterError if the server does not have the kind."""
        if resource := by_kind(await self._api.resources(gvk.api_version)).get(gvk.kind):
            return f"{'/apis' if gvk.group else '/api'}/{gvk.api_version}/{resource['name']}"
        raise ClusterError(f"the API server has no {gvk}", reason="NotFound")

    def _objects(self, gvk: GVK) -> Mapping[str, Object | bytes]:
        if problem := self.problem(gvk):
            collection = self._collections.get(gvk)
            is_lasting = (
                collection.is_refused or collection.absent or collection.left_out
                if collection
                else gvk in self._unknown
            )
            # After other errors Karmada asks again, and has the right answer a moment later.
            raise (QueryAbsentError if is_lasting else QueryReferenceError)(problem)
        return self._collections[gvk].objects


def _view(gvk: GVK, obj: Object) -> Object | bytes:
    """Return an object of a list without its managed fields, and with its kind, which may be only in the list."""
    view = {**gvk.type_meta, **edit.remove(obj, ("metadata", "managedFields"))}
    # Not JSON: orjson reads deeper nested objects than it writes.
    content = marshal.dumps(view)
    return content if len(content) > _LARGE else view


def _weigh(stored: Object | bytes) -> int:
    return len(stored) if isinstance(stored, bytes) else weight_of(stored, _VALUE_BYTES)


def _decoded(stored: Object | bytes) -> Object:
    return marshal.loads(stored) if isinstance(stored, bytes) else stored  # noqa: S302 - our own
