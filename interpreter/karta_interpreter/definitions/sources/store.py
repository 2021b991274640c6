"""The snapshot in use, kept in step with its sources."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from karta_interpreter.base.k8s import CLAIMS, COMPUTE_DOMAIN, GVK
from karta_interpreter.definitions.karta import ReferenceReader
from karta_interpreter.definitions.sources.background import keep_running
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.file_scan import changes
from karta_interpreter.definitions.sources.files import (
    DefinitionFile,
    Folder,
    OverrideFile,
    layer_of,
    load_catalogue,
    overrides_of,
)
from karta_interpreter.definitions.sources.snapshot import (
    EVERYTHING,
    Selection,
    ServedDefinition,
    Snapshot,
    combine,
)

if TYPE_CHECKING:
    from karta_interpreter.definitions.sources.cluster import Cluster

Subscriber = Callable[[Snapshot], None]
_Folders = tuple[Folder[DefinitionFile], ...]
_Overrides = tuple[Folder[OverrideFile], ...]

_logger = logging.getLogger(__name__)


class Store:
    """Holds the snapshot in use, and publishes the next one.

    Precedence, highest first: the scripts of the ``overrides``, the cluster, the folders in the order given, the
    catalogue. Only kinds of the ``selection`` count. Readers take ``snapshot`` once per request and keep it: it is
    replaced, never changed. Files for which the ``budget`` has no room are refused. By default it has no bound.
    Objects of kinds that are ``looked_up`` are known if the cluster has them, whatever definitions refer to.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        *,
        catalogue: bool = True,
        cluster: "Cluster | None" = None,
        overrides: Sequence[Path] = (),
        selection: Selection = EVERYTHING,
        budget: Budget | None = None,
        looked_up: Sequence[GVK] = (),
    ) -> None:
        self.budget = budget = budget or Budget()
        self._folders: _Folders = tuple(
            Folder(root, DefinitionFile, budget=budget, keeps_text=False) for root in folders
        )
        self._overrides: _Overrides = tuple(
            Folder(root, OverrideFile, budget=budget, keeps_text=False) for root in overrides
        )
        self._catalogue = catalogue
        self._cluster = cluster
        self._selection = selection
        # Pods of any kind may name what a ComputeDomain makes.
        self._looked_up = (COMPUTE_DOMAIN, *looked_up)
        self.snapshot = Snapshot()
        """The snapshot in use. Before the first `load` it is empty and has generation 0."""
        self.prepare: Subscriber = lambda _: None
        """Is called in a thread with each snapshot that `load` does not make, while the one before is in use."""
        self._subscribers: list[Subscriber] = []
        self._reading, self._publishing = asyncio.Lock(), asyncio.Lock()

    @property
    def reader(self) -> ReferenceReader | None:
        """The cache of the objects that definitions refer to, None without a cluster."""
        return self._cluster.referenced if self._cluster else None

    def reference_gaps(self) -> list[str]:
        """Return what definitions refer to and cannot be looked up, each with the reason."""
        if self._cluster is None:
            return []
        referenced = self._cluster.referenced
        left_out = [f"{place} cannot be looked up: {reason}" for place, reason in referenced.without_room().items()]
        unread = [f"{gvk} cannot be looked up: {reason}" for gvk, reason in referenced.unread().items()]
        return left_out + unread

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber`` with every snapshot from now on, until the returned function is called."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def load(self) -> Snapshot:
        """Read the folders and the catalogue now, and publish the content of all sources."""
        self._folders, self._overrides = self._read()
        self._use(self._combined())
        return self.snapshot

    async def reload(self) -> None:
        """Read the folders again, in a thread, and publish the content of all sources.

        A reload that fails unexpectedly is logged and leaves the snapshot as it is.
        """
        async with self._reading:
            try:
                self._folders, self._overrides = await asyncio.to_thread(self._read)
                await self._publish()
            except Exception:
                _logger.exception("definitions could not be read again; the ones in use stay")

    async def reload_file(self, root: Path, path: Path) -> None:
        """Read one file of a folder again, in a thread, and publish the content of all sources."""
        async with self._reading:
            # A generator, so that the file is read in the thread.
            folders = (folder.reread(path) if folder.root == root else folder for folder in self._folders)
            self._folders = await asyncio.to_thread(lambda: tuple(folders))
            await self._publish()

    def files(self, root: Path) -> Mapping[Path, DefinitionFile]:
        """Return the files of a folder as they were last read. The mapping is replaced, never changed."""
        for folder in self._folders:
            if folder.root == root:
                return folder.files
        return {}

    def takes(self, gvk: GVK) -> bool:
        """Return whether a kind is served if a source has it."""
        return self._selection.takes(gvk)

    async def watch(self, *, rescan: float = 60.0) -> None:
        """Keep the snapshot in step with folders and cluster until cancelled. ``rescan`` is in seconds."""
        async with asyncio.TaskGroup() as group:
            if self._folders or self._overrides:
                watch = partial(self._watch_folders, rescan)
                group.create_task(keep_running("watches the folders of definitions", watch, rescan))
            if self._cluster:
                group.create_task(self._cluster.run(self._publish))

    async def _watch_folders(self, rescan: float) -> None:
        roots = [*(folder.root for folder in self._folders), *(folder.root for folder in self._overrides)]
        async with aclosing(changes(roots, rescan=rescan)) as turns:
            async for _ in turns:
                await self.reload()

    def _read(self) -> tuple[_Folders, _Overrides]:
        return tuple(folder.read() for folder in self._folders), tuple(folder.read() for folder in self._overrides)

    async def _publish(self) -> None:
        # In a thread: with 10,000 definitions it takes a tenth of a second.
        async with self._publishing:
            snapshot = await asyncio.to_thread(self._prepared)
            replaced = [*self.snapshot.entries.values()]
            self._use(snapshot)
            # All at once would take 0.3 s.
            await asyncio.to_thread(_free, replaced)

    def _prepared(self) -> Snapshot:
        snapshot = self._combined()
        self.prepare(snapshot)
        return snapshot

    def _combined(self) -> Snapshot:
        layers = [self._cluster.layer] if self._cluster else []
        layers += map(layer_of, self._folders)
        layers += [load_catalogue()] if self._catalogue else []
        snapshot = combine(layers, overrides_of(self._overrides), self._selection)
        # The first one is published even if it is empty: a generation above 0 means that the sources have been read.
        if snapshot == self.snapshot and self.snapshot.generation:
            return self.snapshot
        # An equal definition stays the same object: others in its file have changed, and what was compiled and learned
        # about it is still true. Readers that were replaced are garbage that is collected late.
        kept = {
            gvk: replace(entry, definition=present.definition)
            for gvk, entry in snapshot.entries.items()
            if (present := self.snapshot.entries.get(gvk)) and present == entry
        }
        return replace(snapshot, entries={**snapshot.entries, **kept}, generation=self.snapshot.generation + 1)

    def _use(self, snapshot: Snapshot) -> None:
        if snapshot is self.snapshot:
            return
        self.snapshot = snapshot
        if self._cluster:
            pairs = [
                (entry.definition.gvk, reference.gvk)
                for entry in snapshot.entries.values()
                for reference in entry.definition.references
            ]
            self._cluster.referenced.want([*pairs, *((gvk, gvk) for gvk in self._looked_up)])
            rules = chain.from_iterable(
                entry.definition.annotations.versioned_dependencies for entry in snapshot.entries.values()
            )
            # Pods of any kind may have claims.
            versions = chain(CLAIMS, chain.from_iterable(rule.versions for rule in rules))
            self._cluster.referenced.versions.want(versions)
        # A copy: a subscriber may end its subscription.
        for subscriber in tuple(self._subscribers):
            subscriber(self.snapshot)


def _free(entries: list[ServedDefinition]) -> None:
    """Let go of definitions one by one. Others can go on between any two."""
    while entries:
        entries.pop()
