"""A collection of objects in an API server, kept in step with it.

=========================================  ===========================================================================
What happens                               What is done
=========================================  ===========================================================================
the server is away, or answers 5xx or 429  list again after 0.2 s, doubled up to 30 s; the objects known stay
404: there is no such collection           the same; the objects known go when it has been missing for 30 s
401, 403: listing or watching is refused   the same; the objects known stay; what is forbidden for 30 s is taken
                                           for something that is not meant for us, and not waited for
410: the version to watch from is too old  list again
a watch breaks, or ends in mid-event       list again
a watch comes to its end in time           watch on from the last version, which bookmarks keep fresh
=========================================  ===========================================================================

A 404 takes nothing away at once, because a server that is starting may not know its collections yet. When a CRD is
deleted its objects are deleted first, and the watch tells of each.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus

from interpreter.errors import ClusterError
from interpreter.k8s import edit
from interpreter.k8s.values import Object
from interpreter.sources.api_server import ApiServer
from interpreter.sources.pace import Pace


class Collection:
    """The objects at the path of a cluster-wide collection, by name; ``objects`` is replaced, never changed.

    ``known`` tells that there is nothing to wait for: they were listed once, do not exist, or are forbidden.
    """

    def __init__(self, api: ApiServer, path: str, pace: Pace) -> None:
        self.path = path
        self.objects: Mapping[str, Object] = {}
        self.known = False
        self._api = api
        self._pace = pace
        self._failures = 0
        self._not_listed: ClusterError | None = None
        self._not_watched: ClusterError | None = None
        self._refused_since: float | None = None
        self._in_step = time.monotonic()

    @property
    def name(self) -> str:
        """The name of the collection, as ``kartas.run.ai``."""
        group, _, resource = self.path.removeprefix("/apis/").split("/")
        return f"{resource}.{group}"

    @property
    def problem(self) -> ClusterError | None:
        """Why the objects may not be those of the server; None when they are, as far as can be told."""
        return self._not_listed or self._not_watched

    @property
    def stale_for(self) -> float:
        """The seconds since the objects were known to be those of the server."""
        return time.monotonic() - self._in_step

    async def follow(self, changed: Callable[[], None]) -> None:
        """Keep in step until cancelled; ``changed`` is called when the objects, or the problem, may be others."""
        while True:
            try:
                version = await self._list()
                changed()
                while True:
                    version = await self._watch(version, changed)
            except ClusterError:
                self._failures += 1
                changed()
                await asyncio.sleep(self._pace.pause(self._failures))

    async def _list(self) -> str:
        try:
            answer = await self._api.list(self.path)
        except ClusterError as error:
            self._not_listed = error
            self._bear(error)
            raise
        found = {_name(item): item for item in answer.get("items") or () if isinstance(item, dict)}
        self.objects = {name: item for name, item in found.items() if name}
        self.known = True
        self._not_listed = self._refused_since = None
        self._in_step = time.monotonic()
        return _version(answer)

    def _bear(self, error: ClusterError) -> None:
        """Find out what a failure to list means for what is known."""
        now = time.monotonic()
        missing = error.status == HTTPStatus.NOT_FOUND
        if not missing and error.status != HTTPStatus.FORBIDDEN:
            self._refused_since = None
            return
        self._refused_since = self._refused_since or now
        lasts = now - self._refused_since >= self._pace.absent
        if missing and lasts:
            self.objects = {}
        if missing and not self.objects:
            self._in_step = now
        self.known = self.known or missing or lasts

    async def _watch(self, version: str, changed: Callable[[], None]) -> str:
        """Watch from a version until the watch comes to its end; return the version to go on from."""
        started = time.monotonic()
        try:
            async with aclosing(self._api.watch(self.path, version, timeout_seconds=self._pace.watch)) as events:
                async for kind, obj in events:
                    version = _version(obj) or version
                    relieved = self._watched()
                    if self._take(kind, obj) or relieved:
                        changed()
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                self._not_watched = error
            raise
        if time.monotonic() - started < self._pace.first:
            # Nothing would slow down the next turns.
            raise ClusterError(f"the watch of {self.name} ended at once", reason="ConnectionLost")
        if self._watched():
            changed()
        return version

    def _watched(self) -> bool:
        """Note that watching works; whether it did not before."""
        relieved = self._not_watched is not None
        self._failures = 0
        self._not_watched = None
        self._in_step = time.monotonic()
        return relieved

    def _take(self, kind: str, obj: Object) -> bool:
        name = _name(obj)
        if not name or kind not in {"ADDED", "MODIFIED", "DELETED"}:
            return False
        others = {other: value for other, value in self.objects.items() if other != name}
        self.objects = others if kind == "DELETED" else {**others, name: obj}
        return True


def _name(obj: Object) -> str:
    return str(edit.get(obj, ("metadata", "name"), ""))


def _version(obj: Object) -> str:
    return str(edit.get(obj, ("metadata", "resourceVersion"), ""))
