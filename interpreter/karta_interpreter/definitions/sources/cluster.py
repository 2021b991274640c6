"""The Kartas of a cluster, kept in step with its API server (`karta_interpreter.definitions.sources.informer`).

A new or changed Karta is served as soon as the watch has it, and compiled only if its spec or annotations differ. A
broken Karta is quarantined, and its last good version stays. If a Karta is deleted or was never good, folders and
catalogue serve its kind. If two Kartas define one kind, the older is served, and the other is a conflict and not
Ready. Kartas stay while the API server is away. Kartas for which the budget has no room are quarantined, the newest
first.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta.schema import kartas_path, name_of
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.background import keep_running
from karta_interpreter.definitions.sources.budget import Budget, weight_of
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.definitions.sources.snapshot import Quarantined, ServedDefinition, SourceDefinitions
from karta_interpreter.definitions.sources.status_writer import StatusWriter

ORIGIN = "cluster"
"""The origin of every entry that comes from a cluster."""

_logger = logging.getLogger(__name__)


class Cluster:
    """The Kartas of a cluster as the first layer of a `Store`, and the objects that definitions refer to.

    Only a server ``reports``: it writes the status of the Kartas.
    """

    def __init__(
        self, api: ApiServer, *, pace: Pace | None = None, reports: bool = True, budget: Budget | None = None
    ) -> None:
        self._pace = pace = pace or Pace()
        self.budget = budget or Budget()
        self._collection = Informer(api, kartas_path(), dict, pace, self.budget, weight_of)
        self._reporter = StatusWriter(api, pace) if reports else None
        self.referenced = ReferenceCache(api, pace, self.budget.most)
        self._moved = asyncio.Event()
        self.kartas: Mapping[str, ClusterKarta] = {}
        """All Kartas as they were last seen, by their sources. The mapping is replaced, never changed."""
        self.layer = SourceDefinitions()
        """The definitions of the cluster, the oldest Karta first."""
        self.synced = False
        """Whether `layer` was published with all Kartas that may be read."""

    @property
    def stale_for(self) -> float:
        """The seconds since the Kartas were known to match the API server.

        Without failures it stays below `Pace.watch`: a watch without events is silent until its end.
        """
        return self._collection.stale_for

    async def run(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Keep in step until cancelled. ``changed`` is awaited after each change of `layer`."""
        moved, settled = self._moved, asyncio.Event()
        works: list[Callable[[], Awaitable[None]]] = [
            partial(self._collection.follow, moved.set),
            partial(self._load, moved, settled, changed),
            self.referenced.run,
        ]
        if self._reporter:
            works.append(partial(self._reporter.run, self._oldest_first, settled))
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(keep_running("reads the Kartas of the cluster", work, self._pace.longest))

    def has_room(self, obj: Object) -> bool:
        """Return whether the budget has room for a Karta."""
        return self.budget.has_room((self._collection.path, name_of(obj)), weight_of(obj))

    def take(self, obj: Object) -> None:
        """Take a Karta from an answer of the API server, before the watch reports it."""
        self._collection.put(obj)
        self._moved.set()

    async def _load(self, moved: asyncio.Event, settled: asyncio.Event, changed: Callable[[], Awaitable[None]]) -> None:
        while True:
            await moved.wait()
            moved.clear()
            # Before reading: a collection that becomes known meanwhile sets `moved` again.
            is_known = self._collection.known
            # Compiling takes milliseconds, and would block all calls.
            self.kartas = await asyncio.to_thread(self._read)
            layer = await asyncio.to_thread(self._new_layer)
            if layer != self.layer:
                self.layer = layer
                await changed()
            self.synced = self.synced or is_known
            settled.set()

    def _read(self) -> Mapping[str, ClusterKarta]:
        read, collection = {}, self._collection
        objects, left_out = collection.objects, collection.left_out
        for name, obj in {**objects, **left_out}.items():
            source, path = f"{collection.name}/{name}", f"{collection.path}/{name}"
            before = self.kartas.get(source)
            if name not in left_out:
                read[source] = before.seen_again(obj) if before else ClusterKarta.first_seen(source, path, obj)
                if before and obj is not before.obj and not read[source].last_good:
                    collection.settle(name, obj)
            elif before and name in objects:
                read[source] = before.without_room(obj, self.budget.reason)
            else:
                read[source] = ClusterKarta.left_out(source, path, obj, self.budget.reason)
        return read

    def _oldest_first(self) -> list[ClusterKarta]:
        return sorted(self.kartas.values(), key=lambda karta: karta.age)

    def _new_layer(self) -> SourceDefinitions:
        layer, problem = layer_of_kartas(self._oldest_first()), self._collection.problem
        if problem is None:
            return layer
        name = self._collection.name
        findings = (Finding(Severity.ERROR, "cluster", (), str(problem), source=name),)
        outdated = Quarantined(name, findings, serving_last_good=bool(self._collection.objects))
        return SourceDefinitions(layer.entries, (outdated, *layer.quarantined))


def layer_of_kartas(kartas: Iterable[ClusterKarta]) -> SourceDefinitions:
    """Return the definitions of Kartas, in their order, and those that are broken."""
    entries, quarantined = list[ServedDefinition](), list[Quarantined]()
    for karta in kartas:
        if karta.served and karta.served.definition:
            entries.append(ServedDefinition(karta.served.definition, ORIGIN))
        if not karta.loaded.definition:
            loaded, kept = karta.loaded, karta.last_good is not None
            quarantined.append(
                Quarantined(loaded.source, loaded.findings, loaded.name, loaded.gvk, serving_last_good=kept)
            )
    return SourceDefinitions(tuple(entries), tuple(quarantined))
