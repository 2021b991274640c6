"""The objects of an API server that definitions refer to, kept in step with it.

Every object of each such kind is held, so that a workload can be answered without asking anybody. A kind that the
server does not know, or does not show us, is looked for again from time to time; until then it cannot be looked up.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from interpreter.errors import ClusterError
from interpreter.k8s import edit
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import Object
from interpreter.sources.api_server import ApiServer
from interpreter.sources.collection import Collection
from interpreter.sources.lookup import NOT_YET, Holding, Lookup
from interpreter.sources.pace import Pace


class Referenced(Lookup):
    """The reader of a cluster, which holds the kinds that are wanted.

    ``holdings`` are what it holds at this moment; whoever subscribes is called when that may have changed.
    """

    def __init__(self, api: ApiServer, pace: Pace) -> None:
        self._api = api
        self._pace = pace
        self._wanted: frozenset[GVK] = frozenset()
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Collection[Object]] = {}
        self._problems: Mapping[GVK, ClusterError] = {}
        self._subscribers: list[Callable[[], None]] = []

    def subscribe(self, subscriber: Callable[[], None]) -> None:
        """Call ``subscriber`` from now on."""
        self._subscribers.append(subscriber)

    def want(self, kinds: Iterable[GVK]) -> None:
        """Know these kinds from now on, and no others."""
        if self._wanted != (wanted := frozenset(kinds)):
            self._wanted = wanted
            self._moved.set()

    @property
    def holdings(self) -> Mapping[GVK, Holding]:
        """What is held of each kind that is wanted."""
        return {gvk: self.holding(gvk) for gvk in self._wanted}

    def holding(self, gvk: GVK) -> Holding:
        """What is held of a kind."""
        collection = self._collections.get(gvk)
        if collection and collection.listed and not collection.absent:
            return Holding(collection.objects)
        problem = collection.problem if collection else self._problems.get(gvk)
        return Holding(problem=str(problem)) if problem else NOT_YET

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
        await collection.follow(self._changed)

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
                self._changed()
                await asyncio.sleep(self._pace.pause(failures))

    def _forget(self, gvk: GVK) -> None:
        self._collections = {other: value for other, value in self._collections.items() if other != gvk}
        self._problems = {other: value for other, value in self._problems.items() if other != gvk}
        self._changed()

    def _changed(self) -> None:
        for subscriber in self._subscribers:
            subscriber()


def _resource(gvk: GVK, resources: Object) -> str:
    """The name of a kind's collection; raises ClusterError when the group has no such kind."""
    for resource in resources.get("resources") or ():
        name = edit.get(resource, ("name",))
        if edit.get(resource, ("kind",)) == gvk.kind and isinstance(name, str) and "/" not in name:
            return name
    raise ClusterError(f"the API server has no {gvk}", reason="NotFound")


def _view(gvk: GVK, obj: Object) -> Object:
    """An object of a list, which may leave its kind to the list, without the bookkeeping that fills most of it."""
    seen: Object = edit.remove(obj, ("metadata", "managedFields"))
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, **seen}
