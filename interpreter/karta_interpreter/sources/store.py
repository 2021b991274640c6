"""The snapshot in use, kept in step with its sources."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from karta_interpreter.karta.reference_resolver import Reader
from karta_interpreter.sources.files import Folder, load_catalogue
from karta_interpreter.sources.overrides import OverrideFolder, Overrides
from karta_interpreter.sources.precedence import EVERYTHING, Selection, combine
from karta_interpreter.sources.snapshot import Layer, Snapshot

if TYPE_CHECKING:
    from karta_interpreter.sources.cluster import Cluster

Subscriber = Callable[[Snapshot], None]


_logger = logging.getLogger(__name__)


class Store:
    """Holds the one snapshot that everybody uses, and publishes the next one.

    Strongest first: the cluster, the folders in the order given, the catalogue; over all of them the scripts of the
    ``overrides``; of all of them the kinds of the ``selection``. Readers take ``snapshot`` once per request and keep
    it: it never changes, it is replaced.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        *,
        catalogue: bool = True,
        cluster: "Cluster | None" = None,
        overrides: Sequence[Path] = (),
        selection: Selection = EVERYTHING,
    ) -> None:
        self._folders = tuple(map(Folder, folders))
        self._overrides = tuple(map(OverrideFolder, overrides))
        self._catalogue = catalogue
        self._cluster = cluster
        self._selection = selection
        self._snapshot = Snapshot()
        self._subscribers: list[Subscriber] = []

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot in use; an empty one of generation 0 before the first `load`."""
        return self._snapshot

    @property
    def reader(self) -> Reader | None:
        """What looks up the objects that definitions refer to; None without a cluster."""
        return self._cluster.referenced if self._cluster else None

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber`` with every snapshot from now on; the function returned ends that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def load(self) -> Snapshot:
        """Read the folders and the catalogue now, and publish what all sources hold."""
        self._folders, self._overrides = self._read()
        self._publish()
        return self._snapshot

    async def watch(self, *, rescan: float = 60.0) -> None:
        """Keep the snapshot in step with folders and cluster until cancelled; ``rescan`` is in seconds.

        Files are read in a thread. A reload that fails unexpectedly is logged and leaves the
        snapshot as it is.
        """
        async with asyncio.TaskGroup() as group:
            if self._roots:
                group.create_task(self._watch_folders(rescan))
            if self._cluster:
                group.create_task(self._cluster.run(self._publish))

    async def _watch_folders(self, rescan: float) -> None:
        # What watches folders takes 1.5 MB, which a server without folders never needs.
        from karta_interpreter.sources.watching import changes  # noqa: PLC0415

        async with aclosing(changes(self._roots, rescan=rescan)) as turns:
            async for _ in turns:
                await self._reload()

    async def _reload(self) -> None:
        try:
            self._folders, self._overrides = await asyncio.to_thread(self._read)
            self._publish()
        except Exception:
            _logger.exception("definitions could not be read again; the ones in use stay")

    @property
    def _roots(self) -> list[Path]:
        return [*(each.root for each in self._folders), *(each.root for each in self._overrides)]

    def _read(self) -> tuple[tuple[Folder, ...], tuple[OverrideFolder, ...]]:
        folders = tuple(folder.read() for folder in self._folders)
        return folders, tuple(folder.read() for folder in self._overrides)

    def _layers(self) -> Iterator[Layer]:
        if self._cluster:
            yield self._cluster.layer()
        yield from (folder.layer() for folder in self._folders)
        if self._catalogue:
            yield load_catalogue()

    def _combined(self) -> Snapshot:
        layers, overrides = list(self._layers()), Overrides.of(self._overrides)
        taken = combine(map(self._selection.layer, layers), self._selection.overrides(overrides))
        known = {entry.definition.gvk for layer in layers for entry in layer.entries} | overrides.scripts.keys()
        return replace(taken, findings=(*taken.findings, *self._selection.findings(known)))

    def _publish(self) -> None:
        snapshot = self._combined()
        if snapshot == self._snapshot and self._snapshot.generation:
            return
        self._snapshot = snapshot.numbered(self._snapshot.generation + 1)
        if self._cluster:
            definitions = (entry.definition for entry in snapshot.entries.values())
            self._cluster.referenced.want(
                (definition.gvk, each.gvk) for definition in definitions for each in definition.references
            )
        for subscriber in tuple(self._subscribers):
            subscriber(self._snapshot)
