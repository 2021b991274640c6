"""A copy of a collection of objects, kept in step with the API server.

After a failure the known objects stay, and the collection is listed again after 0.2 s, doubled up to 30 s. A watch that
breaks, or has a version that is too old (410), is such a failure. After a watch that lasted, the pauses begin anew. A
watch that ends in time goes on from the last version, which bookmarks keep fresh.

A collection that has been missing (404) for 30 s loses its objects, and one that has been missing or forbidden for that
long counts as absent or withheld on purpose: the start does not wait for it. Not at once: a server that is starting may
not know its rules and its collections yet, and before a CRD is deleted, its objects are deleted and the watch reports
each.

Objects for which a budget has no room are left out, the newest first. They are listed again when there may be room.
Shares choose by themselves which objects are left out.

An event costs the logarithm of the number of objects, and other tasks get their turn after each.
"""

import asyncio
import random
import time
from bisect import bisect_left, insort
from collections.abc import Callable
from contextlib import aclosing
from http import HTTPStatus
from itertools import takewhile
from typing import Generic, TypeVar

from msgspec import Struct

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import JSON, Object, edit, objects_in
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.refusal import REFUSALS, Refusal
from karta_interpreter.definitions.sources.shares import Shares
from karta_interpreter.definitions.sources.unread import UnreadObjects

_DOUBLINGS = 30
# Seconds after which a watch has worked even if it breaks: proxies end silent connections.
_LASTING = 5.0


class Pace(Struct, frozen=True):
    """Times in seconds."""

    first: float = 0.2
    """The pause after the first failure."""
    longest: float = 30.0
    """The pause after many failures in a row."""
    absent: float = 30.0
    """How long a collection must be missing or forbidden before that is believed."""
    watch: int = 30
    """How long one watch lasts, and so how long a broken connection can go unnoticed."""
    report: float = 15.0
    """The time between two updates of conditions."""
    forbidden: float = 600.0
    """The time before another try if conditions may not be written."""

    def pause(self, failures: int) -> float:
        """Return the pause after that many failures in a row: doubled with each, and randomly shortened by up to half.

        >>> 0.1 <= Pace().pause(1) <= 0.2
        True
        >>> 15 <= Pace().pause(1000) <= 30
        True
        """
        whole = min(self.first * 2.0 ** min(failures - 1, _DOUBLINGS), self.longest)
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - keeps replicas apart, hides nothing


View = TypeVar("View")

# The time when an object was created, and its name. UTC times in one format sort as text.
_Age = tuple[str, str]

_STUB = ("name", "uid", "generation", "creationTimestamp")


class Informer(Generic[View]):
    """The objects at the path of a collection, by namespace (if any) and name.

    ``objects`` holds the result of ``view`` for each object, because the schemas of all CRDs together take 100 MB. Copy
    it before the event loop gets its turn. ``left_out`` holds stubs of objects that have no room in the ``budget``. If
    only their present version has no room, ``objects`` has the last one that had. ``listed``: the objects were read
    once. ``absent``: the collection does not exist. ``known``: there is nothing to wait for, because the objects were
    listed, or a `Refusal` has lasted. ``touched`` is called with the name of each object that may have changed since.
    """

    def __init__(
        self,
        api: ApiServer | UnreadObjects,
        path: str,
        view: Callable[[Object], View],
        pace: Pace,
        budget: Budget | Shares | None = None,
        weigh: Callable[[View], int] = lambda _: 0,
    ) -> None:
        self.path = path
        self.refusal = Refusal()
        self.objects: dict[str, View] = {}
        self.left_out: dict[str, Object] = {}
        self.touched: Callable[[str], None] = lambda _: None
        self.listed = False
        self.absent = False
        self.known = False
        self._api = api
        self._view = view
        self._pace = pace
        self._budget = budget or Budget()
        self._weigh = weigh
        self._listing: dict[str, View] = {}
        self._ages: dict[str, _Age] = {}
        self._by_age: list[_Age] = []  # the oldest first
        self._versions: dict[str, int] = {}
        self._failures = 0
        self._not_listed: ClusterError | None = None
        self._not_watched: ClusterError | None = None
        self._in_step = time.monotonic()

    @property
    def name(self) -> str:
        """The name of the collection, such as ``kartas.run.ai``."""
        return name_of_collection(self.path)

    @property
    def problem(self) -> ClusterError | None:
        """The reason why the objects may not match the server, None if they are known to match."""
        return self._not_listed or self._not_watched

    @property
    def is_refused(self) -> bool:
        """Whether the collection is forbidden or does not exist. Other requests may succeed."""
        return self.problem is not None and self.problem.status in REFUSALS

    @property
    def refusal_lasts(self) -> bool:
        """Whether the collection has been refused for so long that this is believed."""
        return self.refusal.lasts(self._pace.absent)

    @property
    def in_step(self) -> bool:
        """Whether the objects match the server, as far as it lets anybody read them."""
        return self.problem is None or self.refusal_lasts

    @property
    def stale_for(self) -> float:
        """The seconds since the objects were known to match the server."""
        return time.monotonic() - self._in_step

    async def follow(self, changed: Callable[[], None]) -> None:
        """Keep in step until cancelled. ``changed`` is called if the objects, or the problem, may have changed."""
        while True:
            try:
                version = await self._list()
                changed()
                version = await self._watch(version, changed)
                while not self._budget.has_room_again(self.path):
                    version = await self._watch(version, changed)
            except ClusterError:
                self._failures += 1
                changed()
                pause = self._pace.pause(self._failures)
                await asyncio.sleep(min(pause, max(self.refusal.left(self._pace.absent), self._pace.first)))

    async def read(self) -> None:
        """List the objects again, beside the watch. Raise ClusterError."""
        await self._list()

    def put(self, obj: Object) -> None:
        """Take an object from an answer of the server, before the watch reports it."""
        name, version = _key_of(obj), _number(obj)
        # The watch may report an older version after the answer to our own write.
        if name and version >= self._versions.get(name, 0):
            self._keep(obj, self.objects, self.left_out)
            self.touched(name)
            self._versions[name] = version

    def drop(self, name: str) -> None:
        """Take out an object whose room another one has."""
        self._listing.pop(name, None)
        self.objects.pop(name, None)
        self._forget_age(name)
        self.touched(name)

    def clear(self) -> None:
        """Forget all objects."""
        names = [*self._ages, *self.left_out]
        self.objects, self.left_out = {}, {}
        self._budget.begin_list(self.path)
        for name in names:
            self._forget(name)
        self._budget.end_list(self.path)

    def _keep(self, obj: Object, objects: dict[str, View], left_out: dict[str, Object]) -> None:
        """Add an object to ``objects``, in place of newer ones if necessary, or to ``left_out`` if it has no room."""
        name, view = _key_of(obj), self._view(obj)
        age = str(edit.get(obj, ("metadata", "creationTimestamp"), "")), name
        newer = ((self.path, other) for _, other in takewhile(age.__lt__, reversed(self._by_age)))
        leaving = self._budget.take((self.path, name), self._weigh(view), newer)
        if leaving is None:
            self._leave_out(name, obj, left_out)
            if not self._budget.keeps_previous:
                self.drop(name)
            elif name in self._ages and name in self.objects:
                objects.setdefault(name, self.objects[name])
            return
        del self._by_age[len(self._by_age) - len(leaving) :]  # the newest
        for _, other in leaving:
            del self._ages[other]
            if other in objects:
                self._leave_out(other, objects.pop(other), left_out)
                self.touched(other)
        if (before := self._ages.get(name)) != age:
            if before is not None:  # another object had the name
                del self._by_age[bisect_left(self._by_age, before)]
            insort(self._by_age, age)
        objects[name], self._ages[name] = view, age
        left_out.pop(name, None)

    def _leave_out(self, name: str, obj: JSON, left_out: dict[str, Object]) -> None:
        """Add a stub to ``left_out``, if the budget remembers that the object was refused."""
        if (self.path, name) in self._budget.refused:
            metadata = {field: edit.get(obj, ("metadata", field)) for field in _STUB}
            left_out[name] = {
                "apiVersion": edit.get(obj, ("apiVersion",)),
                "kind": edit.get(obj, ("kind",)),
                "metadata": metadata,
            }

    def _forget_age(self, name: str) -> None:
        if age := self._ages.pop(name, None):
            del self._by_age[bisect_left(self._by_age, age)]

    def _forget(self, name: str) -> None:
        self._forget_age(name)
        self._budget.forget((self.path, name))
        self.touched(name)

    async def _list(self) -> str:
        objects: dict[str, View] = {}
        left_out: dict[str, Object] = {}
        versions: dict[str, int] = {}
        version = ""
        self._listing = objects
        self._budget.begin_list(self.path)
        try:
            async with aclosing(self._api.pages(self.path)) as pages:
                async for page in pages:
                    self._note(0)  # from now on it is unfinished, and not refused
                    # All pages have the version of the first one. A server that cannot keep it answers 410.
                    version = version or _version(page)
                    items = [obj for obj in objects_in(page.get("items")) if _key_of(obj)]
                    for obj in items:
                        self._keep(obj, objects, left_out)
                    versions.update((_key_of(obj), _number(obj)) for obj in items if _key_of(obj) in objects)
        except ClusterError as error:
            self._listing = {}
            self._note_rejection(error)
            raise
        for name in (self._ages.keys() | self.left_out.keys()) - objects.keys() - left_out.keys():
            self._forget(name)
        self._budget.end_list(self.path)
        touched = {**self.objects, **objects}
        self.objects, self.left_out, self._versions = objects, left_out, versions
        for name in touched:
            self.touched(name)
        self.known = self.listed = True
        self.absent = False
        self._not_listed = None
        self._in_step = time.monotonic()
        return version

    def _note_rejection(self, error: ClusterError) -> None:
        self._not_listed = error
        self._note(error.status)
        missing, lasts = error.status == HTTPStatus.NOT_FOUND, self.refusal_lasts
        if missing and lasts:
            self.clear()
            self.absent = True
        if missing and not self.objects:
            self._in_step = time.monotonic()
        self.known = self.known or lasts

    def _note(self, status: int) -> None:
        # By the clock that the pauses follow.
        self.refusal = self.refusal.after(status, asyncio.get_running_loop().time())

    async def _watch(self, version: str, changed: Callable[[], None]) -> str:
        """Watch from a version until the watch ends. Return the version to go on from."""
        started = time.monotonic()
        try:
            async with aclosing(self._api.watch(self.path, version, timeout_seconds=self._pace.watch)) as events:
                async for kind, obj in events:
                    version = _version(obj) or version
                    recovered = self._watched()
                    if self._take(kind, obj) or recovered:
                        changed()
                    # A packet has hundreds of events, which come without a pause.
                    await asyncio.sleep(0)
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                self._not_watched = error
            raise
        finally:
            # Not after a list, or an event: a server that breaks each watch would have to list all the time.
            if time.monotonic() - started >= _LASTING:
                self._failures = 0
        if time.monotonic() - started < self._pace.first:
            # Without the pause of an error, the next turns would follow at once.
            raise ClusterError(f"the watch of {self.name} ended at once", reason="ConnectionLost")
        if self._watched():
            changed()
        # Versions of deleted objects would pile up, and no answer is as late as this.
        self._versions = {name: self._versions[name] for name in self.objects}
        return version

    def _watched(self) -> bool:
        """Note that watching works. Return whether it did not before."""
        recovered = self._not_watched is not None
        self._not_watched = None
        self._in_step = time.monotonic()
        return recovered

    def _take(self, kind: str, obj: Object) -> bool:
        name = _key_of(obj)
        if not name or kind not in {"ADDED", "MODIFIED", "DELETED"}:
            return False
        if kind == "DELETED":
            # The object was created again before it was listed beside the watch.
            if _number(obj) < self._versions.get(name, 0):
                return False
            self.objects.pop(name, None)
            self.left_out.pop(name, None)
            self._forget(name)
            # An answer to our own write that comes after this event is older than the deletion.
            self._versions[name] = _number(obj)
        else:
            self.put(obj)
        return True


def name_of_collection(path: str) -> str:
    """Return the name of the collection at a path.

    >>> name_of_collection("/apis/run.ai/v1alpha1/kartas"), name_of_collection("/api/v1/pods")
    ('kartas.run.ai', 'pods')
    """
    *group, _, resource = path.split("/")[2:]
    return ".".join([resource, *group])


def _key_of(obj: Object) -> str:
    """Return the key of an object, empty for a value without a name, which is not an object."""
    namespace, name = (str(edit.get(obj, ("metadata", field), "")) for field in ("namespace", "name"))
    return f"{namespace}/{name}" if namespace and name else name


def _version(obj: Object) -> str:
    return str(edit.get(obj, ("metadata", "resourceVersion"), ""))


def _number(obj: Object) -> int:
    """Return the resource version of an object as a number, which grows. 0 if it is not a number."""
    version = _version(obj)
    return int(version) if version.isdecimal() else 0
