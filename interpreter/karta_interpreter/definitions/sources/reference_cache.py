"""The objects of an API server that definitions refer to, kept in step with the server.

The cache holds every object of each such kind, so that no answer waits for a request. It holds a kind only once the
server has a kind of workload that refers to it, because there may be very many Deployments. If the server does not have
a kind, or forbids it, the cache asks again from time to time. Until then its objects cannot be looked up.

A large object is kept as bytes, and decoded when it is looked up: 45 MB of JSON can take 1.1 GB as Python objects, and
garbage collection visits them all.

All objects together have a bound. Those of a kind cannot be looked up if one of them has no room: an answer without it
would be wrong.
"""

import asyncio
import marshal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus

from karta_interpreter.base.errors import ClusterError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s import GVK, Object, edit
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget, weight_of
from karta_interpreter.definitions.sources.informer import Informer, Pace

_LARGE = 2**16  # the size in bytes of the smallest object that is kept as bytes
_VALUE_BYTES = 64  # estimated for each value of an object that is kept decoded


class ReferenceCache:
    """Objects of a cluster: a `reference_resolver.ReferenceReader` that holds the kinds that are wanted."""

    def __init__(self, api: ApiServer, pace: Pace, most: int = sys.maxsize) -> None:
        self._api = api
        self._budget = Budget(most, "objects that definitions refer to")
        self._pace = pace
        self._wanted: Mapping[GVK, set[GVK]] = {}
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Informer[Object | bytes]] = {}
        self._problems: Mapping[GVK, ClusterError] = {}
        self._unknown: set[GVK] = set()  # kinds that the server has said it does not have

    def want(self, references: Iterable[tuple[GVK, GVK]]) -> None:
        """Hold only the kinds in these references: pairs of a kind of workload and a kind that it refers to."""
        wanted: dict[GVK, set[GVK]] = defaultdict(set)
        for workload, gvk in references:
            wanted[gvk].add(workload)
        if self._wanted != wanted:
            self._wanted = wanted
            self._moved.set()

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name, or None. Raise QueryReferenceError if the kind is not known."""
        objects = self._objects(gvk)
        # A name has no slash. With one it would be the key of an object in another namespace.
        if "/" in name:
            return None
        # The key of a cluster-scoped object is only its name.
        kept = objects.get(f"{namespace}/{name}") or objects.get(name)
        return _decoded(kept) if kept else None

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        """Return the objects of a kind. Raise QueryReferenceError if they are not known."""
        named_objects = self._objects(gvk).items()
        return [
            _decoded(obj)
            for key, obj in named_objects
            if namespace is None or key.rpartition("/")[0] in ("", namespace)
        ]

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
                    self._collections = {other: value for other, value in self._collections.items() if other != gvk}
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
        for resource in await self._api.resources(gvk.api_version):
            name = resource.get("name")
            if resource.get("kind") == gvk.kind and isinstance(name, str) and "/" not in name:
                return f"{'/apis' if gvk.group else '/api'}/{gvk.api_version}/{name}"
        raise ClusterError(f"the API server has no {gvk}", reason="NotFound")

    def _objects(self, gvk: GVK) -> Mapping[str, Object | bytes]:
        """Return the objects of a kind by namespace (if any) and name."""
        if problem := self.problem(gvk):
            # After other errors Karmada asks again, and has the right answer a moment later.
            error = QueryAbsentError if self._is_absent(gvk) else QueryReferenceError
            raise error(f"{gvk} cannot be looked up: {problem}")
        return self._collections[gvk].objects

    def _is_absent(self, gvk: GVK) -> bool:
        """Return whether the server does not have a kind or forbids it, or its objects have no room."""
        collection = self._collections.get(gvk)
        if collection is None:
            return gvk in self._unknown
        return collection.is_refused or collection.absent or bool(collection.left_out)


def _view(gvk: GVK, obj: Object) -> Object | bytes:
    """Return an object of a list without its managed fields, and with its kind, which may be only in the list."""
    seen = {**gvk.type_meta, **edit.remove(obj, ("metadata", "managedFields"))}
    # Not JSON: orjson reads deeper nested objects than it writes.
    content = marshal.dumps(seen)
    return content if len(content) > _LARGE else seen


def _weigh(kept: Object | bytes) -> int:
    return len(kept) if isinstance(kept, bytes) else weight_of(kept, _VALUE_BYTES)


def _decoded(kept: Object | bytes) -> Object:
    return marshal.loads(kept) if isinstance(kept, bytes) else kept  # noqa: S302 - our own
