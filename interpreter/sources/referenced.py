"""The objects of an API server that definitions refer to, kept in step with it.

Every object of each such kind is held, so that a workload can be answered without asking anybody. A kind that the
server does not know, or does not show us, is looked for again from time to time; until then it cannot be looked up.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from interpreter.errors import ClusterError, QueryReferenceError
from interpreter.k8s import edit
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import Object
from interpreter.sources.api_server import ApiServer
from interpreter.sources.collection import Collection
from interpreter.sources.pace import Pace


class Referenced:
    """The reader of a cluster (`interpreter.karta.resolution.Reader`), which knows the kinds that are wanted."""

    def __init__(self, api: ApiServer, pace: Pace) -> None:
        self._api = api
        self._pace = pace
        self._wanted: frozenset[GVK] = frozenset()
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Collection[Object]] = {}
        self._problems: Mapping[GVK, ClusterError] = {}

    def want(self, kinds: Iterable[GVK]) -> None:
        """Know these kinds from now on, and no others."""
        if self._wanted != (wanted := frozenset(kinds)):
            self._wanted = wanted
            self._moved.set()

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """The object of that name, None when there is none; raises QueryReferenceError where that is not known."""
        objects = self._known(gvk)
        return objects.get(f"{namespace}/{name}") or objects.get(name)

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        """The objects of a kind; raises QueryReferenceError where they are not known."""
        objects = self._known(gvk)
        return [obj for key, obj in objects.items() if namespace is None or _is_in(namespace, key)]

    async def run(self) -> None:
        """Keep in step until cancelled."""
        followed: dict[GVK, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                for gvk in followed.keys() - self._wanted:
                    followed.pop(gvk).cancel()
                    self._forget(gvk)
                for gvk in self._wanted - followed.keys():
                    followed[gvk] = group.create_task(self._follow(gvk))
                await self._moved.wait()
                self._moved.clear()

    async def _follow(self, gvk: GVK) -> None:
        collection = Collection(self._api, await self._find(gvk), partial(_view, gvk), self._pace)
        self._collections = {**self._collections, gvk: collection}
        await collection.follow(lambda: None)

    async def _find(self, gvk: GVK) -> str:
        """The path of the collection of a kind, as soon as the server knows it."""
        failures = 0
        while True:
            try:
                path = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.version}"
                return f"{path}/{_resource(gvk, await self._api.get(path))}"
            except ClusterError as error:
                failures += 1
                self._problems = {**self._problems, gvk: error}
                await asyncio.sleep(self._pace.pause(failures))

    def _known(self, gvk: GVK) -> Mapping[str, Object]:
        collection = self._collections.get(gvk)
        if collection and collection.listed and not collection.absent:
            return collection.objects
        problem = collection.problem if collection else self._problems.get(gvk)
        raise QueryReferenceError(f"{gvk} cannot be looked up: {problem or 'it has not been listed yet'}")

    def _forget(self, gvk: GVK) -> None:
        self._collections = {other: value for other, value in self._collections.items() if other != gvk}
        self._problems = {other: value for other, value in self._problems.items() if other != gvk}


def _resource(gvk: GVK, resources: Object) -> str:
    """The name of a kind's collection; raises ClusterError when the group has no such kind."""
    for resource in resources.get("resources") or ():
        name = edit.get(resource, ("name",))
        if edit.get(resource, ("kind",)) == gvk.kind and isinstance(name, str) and "/" not in name:
            return name
    raise ClusterError(f"the API server has no {gvk}", reason="NotFound")


def _is_in(namespace: str, key: str) -> bool:
    found, slash, _ = key.rpartition("/")
    return not slash or found == namespace


def _view(gvk: GVK, obj: Object) -> Object:
    """An object of a list, which may leave its kind to the list, without the bookkeeping that fills most of it."""
    seen: Object = edit.remove(obj, ("metadata", "managedFields"))
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, **seen}
