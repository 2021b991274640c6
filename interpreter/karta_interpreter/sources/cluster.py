"""The Kartas of a cluster, kept in step with its API server.

How the connection is kept: `karta_interpreter.sources.informer`. What becomes of one object:

====================================  =================================================================================
What happens                          What is served
====================================  =================================================================================
a new or changed Karta                its definition, as soon as the watch has it
a change of its status or labels      what was served before, compiled only once
a change that breaks it               its last good version; the object is quarantined, its conditions have the reason
a broken Karta when a server starts   nothing of it: a definition in a folder or in the catalogue, if there is one
a deleted Karta                       nothing of it any more
two Kartas for one kind               the older one; the other one is a conflict, and not Ready
the API server goes away              what was served before, for as long as it takes
the API server is away from the start nothing of it: folders and catalogue serve until it comes
====================================  =================================================================================

Kartas are looked for as ``kartas.run.ai`` and as the older ``resourceinterfaces.optimization.nvidia.com``, each
where its CRD exists.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from http import HTTPStatus

from karta_interpreter.errors import ClusterError
from karta_interpreter.findings import Finding, Severity
from karta_interpreter.sources.api_server import ApiServer
from karta_interpreter.sources.cluster_karta import ClusterKarta
from karta_interpreter.sources.informer import Informer, Pace
from karta_interpreter.sources.reference_cache import ReferenceCache
from karta_interpreter.sources.snapshot import Entry, Layer, Quarantined
from karta_interpreter.sources.status_writer import StatusWriter

ORIGIN = "cluster"
"""The origin of every entry that comes from a cluster."""

KARTAS = "/apis/run.ai/v1alpha1/kartas"
RESOURCE_INTERFACES = "/apis/optimization.nvidia.com/v1alpha1/resourceinterfaces"

_USUAL = Pace()

_logger = logging.getLogger(__name__)


class Cluster:
    """The Kartas of a cluster as the strongest layer of a `Store`, and the objects that definitions refer to."""

    def __init__(self, api: ApiServer, *, pace: Pace = _USUAL) -> None:
        self._pace = pace
        self._current = Informer(api, KARTAS, dict, pace)
        self._older = Informer(api, RESOURCE_INTERFACES, dict, pace)
        self._reporter = StatusWriter(api, pace)
        self.referenced = ReferenceCache(api, pace)
        self._kartas: Mapping[str, ClusterKarta] = {}
        self._layer = Layer()
        self._synced = False

    def layer(self) -> Layer:
        """What the cluster offers, the oldest Karta first."""
        return self._layer

    @property
    def synced(self) -> bool:
        """Whether `layer` has once held all Kartas that may be seen, and was published."""
        return self._synced

    @property
    def stale_for(self) -> float:
        """The seconds since the Kartas were known to be those of the API server.

        Below `Pace.watch` while all is well: a watch in which nothing happens may be silent until its end. Where
        there is no collection of the older kind, it is looked for ever less often, without a report.
        """
        seen = (self._current,) if self._older.absent else (self._current, self._older)
        return max(collection.stale_for for collection in seen)

    async def run(self, changed: Callable[[], None]) -> None:
        """Keep in step until cancelled; ``changed`` is called when `layer` has become another one."""
        moved, settled = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for collection in (self._current, self._older):
                self._keep(group, partial(collection.follow, moved.set))
            self._keep(group, partial(self._load, moved, settled, changed))
            self._keep(group, partial(self._reporter.run, self._oldest_first, settled))
            self._keep(group, self.referenced.run)

    def _keep(self, group: asyncio.TaskGroup, work: Callable[[], Awaitable[None]]) -> None:
        async def keep() -> None:
            while True:
                try:
                    await work()
                except Exception:
                    _logger.exception("the Kartas of the cluster: a mistake in this program; going on")
                await asyncio.sleep(self._pace.longest)

        group.create_task(keep())

    async def _load(self, moved: asyncio.Event, settled: asyncio.Event, changed: Callable[[], None]) -> None:
        while True:
            await moved.wait()
            moved.clear()
            known = self._current.known and self._older.known
            # Compiling takes milliseconds, in which no call would be answered.
            self._kartas = await asyncio.to_thread(self._read)
            layer = Layer(tuple(self._entries()), (*self._problems(), *self._broken()))
            if layer != self._layer:
                self._layer = layer
                changed()
            self._synced = self._synced or known
            settled.set()

    def _read(self) -> Mapping[str, ClusterKarta]:
        read = {}
        for collection in (self._current, self._older):
            for name, obj in collection.objects.items():
                source = f"{collection.name}/{name}"
                before = self._kartas.get(source)
                path = f"{collection.path}/{name}"
                read[source] = before.seen_again(obj) if before else ClusterKarta.first_seen(source, path, obj)
        return read

    def _oldest_first(self) -> list[ClusterKarta]:
        return sorted(self._kartas.values(), key=lambda karta: karta.age)

    def _entries(self) -> Iterator[Entry]:
        for karta in self._oldest_first():
            if karta.served and karta.served.definition:
                yield Entry(karta.served.definition, ORIGIN)

    def _broken(self) -> Iterator[Quarantined]:
        for karta in self._oldest_first():
            loaded = karta.loaded
            if not loaded.definition:
                kept = karta.last_good is not None
                yield Quarantined(loaded.source, loaded.findings, loaded.name, loaded.gvk, serving_last_good=kept)

    def _problems(self) -> Iterator[Quarantined]:
        for collection in (self._current, self._older):
            problem = collection.problem
            if problem is None or (collection is self._older and self._goes_without_saying(problem)):
                continue
            finding = Finding(Severity.ERROR, "cluster", (), str(problem), source=collection.name)
            yield Quarantined(collection.name, (finding,), serving_last_good=bool(collection.objects))

    def _goes_without_saying(self, problem: ClusterError) -> bool:
        """Whether there is nothing to mend for the older kind alone."""
        if problem.status == HTTPStatus.FORBIDDEN:
            return False
        return problem.status == HTTPStatus.NOT_FOUND or self._current.problem is not None
