"""A cluster source that runs against the scripted API server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from tests.definitions.sources.scripted_api import ScriptedApi, serving, write_kubeconfig
from tests.support.waiting import HANG

FAST = Pace(first=0.005, longest=0.02, absent=0.05, report=0.05)


class RunningCluster:
    """A store whose cluster is watched."""

    def __init__(self, api: ScriptedApi, cluster: Cluster, store: Store) -> None:
        self.api = api
        self.cluster = cluster
        self.store = store
        self.published = 0
        self._moved = asyncio.Event()
        store.subscribe(self._take)

    def _take(self, _: Snapshot) -> None:
        self.published += 1
        self._moved.set()

    async def until(self, says: Callable[[Snapshot], bool]) -> Snapshot:
        """The snapshot once it says something."""
        async with asyncio.timeout(HANG):
            while not says(self.store.snapshot):
                self._moved.clear()
                await self._moved.wait()
        return self.store.snapshot

    async def is_synced(self) -> None:
        """Return at the moment in which everything has been seen."""
        async with asyncio.timeout(HANG):
            while not self.cluster.synced:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)

    async def serves(self, **replicas: str) -> Snapshot:
        """The snapshot once it serves just these kinds, with these expressions."""
        return await self.until(lambda snapshot: expressions(snapshot) == replicas)


def expressions(snapshot: Snapshot) -> dict[str, str]:
    roots = {gvk.kind: entry.definition.root for gvk, entry in snapshot.entries.items()}
    return {kind: root.replicas.text for kind, root in roots.items() if root.replicas}


def quarantined(snapshot: Snapshot) -> dict[str, bool]:
    return {broken.source: broken.serving_last_good for broken in snapshot.quarantined}


@asynccontextmanager
async def running_cluster(
    tmp_path: Path,
    api: ScriptedApi | None = None,
    *,
    folders: tuple[Path, ...] = (),
    pace: Pace = FAST,
    url: str = "",
    budget: Budget | None = None,
    looked_up: Sequence[GVK] = (),
) -> AsyncIterator[RunningCluster]:
    async with serving(api or ScriptedApi()) as scripted:
        kubeconfig = write_kubeconfig(tmp_path / "config", url or scripted.url)
        async with ApiServer.of(kubeconfig) as server:
            cluster = Cluster(server, pace=pace, budget=budget)
            store = Store(folders, catalogue=False, cluster=cluster, budget=cluster.budget, looked_up=looked_up)
            store.load()
            running = RunningCluster(scripted, cluster, store)
            task = asyncio.create_task(store.watch())
            try:
                yield running
            finally:
                task.cancel()
                await asyncio.wait({task})
