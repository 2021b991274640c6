"""The snapshot in use, kept in step with its sources."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from interpreter.sources.catalogue import load_catalogue
from interpreter.sources.folders import Folder
from interpreter.sources.precedence import combine
from interpreter.sources.snapshot import Snapshot
from interpreter.sources.watching import changes

Subscriber = Callable[[Snapshot], None]

_logger = logging.getLogger(__name__)


class Store:
    """Holds the one snapshot that everybody uses, and publishes the next one.

    Strongest first: the folders in the order given, then the catalogue. Readers take ``snapshot`` once per request
    and keep it: it never changes, it is replaced.
    """

    def __init__(self, folders: Sequence[Path] = (), *, catalogue: bool = True) -> None:
        self._folders = tuple(Folder(path) for path in folders)
        self._catalogue = catalogue
        self._snapshot = Snapshot()
        self._subscribers: list[Subscriber] = []

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot in use; an empty one of generation 0 before the first `load`."""
        return self._snapshot

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber`` with every snapshot from now on; the function returned ends that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def load(self) -> Snapshot:
        """Read all sources now and publish what they hold."""
        self._publish(*self._read())
        return self._snapshot

    async def watch(self, *, rescan: float = 60.0) -> None:
        """Keep the snapshot in step with the folders until cancelled; ``rescan`` is in seconds.

        Files are read in a thread. A reload that fails for a reason that nobody foresaw is logged and leaves the
        snapshot as it is.
        """
        if not self._folders:
            return
        async with aclosing(changes([folder.root for folder in self._folders], rescan=rescan)) as turns:
            async for _ in turns:
                await self._reload()

    async def _reload(self) -> None:
        try:
            read = await asyncio.to_thread(self._read)
        except Exception:
            _logger.exception("definitions could not be read again; the ones in use stay")
        else:
            self._publish(*read)

    def _read(self) -> tuple[tuple[Folder, ...], Snapshot]:
        folders = tuple(folder.read() for folder in self._folders)
        layers = [folder.layer() for folder in folders]
        if self._catalogue:
            layers.append(load_catalogue())
        return folders, combine(layers)

    def _publish(self, folders: tuple[Folder, ...], snapshot: Snapshot) -> None:
        self._folders = folders
        if snapshot == self._snapshot and self._snapshot.generation:
            return
        self._snapshot = snapshot.numbered(self._snapshot.generation + 1)
        for subscriber in tuple(self._subscribers):
            subscriber(self._snapshot)
