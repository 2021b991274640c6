"""The objects of a collection on an API server, as they are now."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from http import HTTPStatus
from typing import Generic, TypeVar

from interpreter.errors import ClusterError
from interpreter.k8s import edit
from interpreter.k8s.values import Object
from interpreter.sources.api_server import ApiServer
from interpreter.sources.pace import Pace

_PACE = Pace()
_BETWEEN_WATCHES = 0.1
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})

View = TypeVar("View")


class Mirror(Generic[View]):
    """Keeps ``objects`` in step with a collection of cluster-scoped objects by list and watch, by their names.

    Unlike `interpreter.sources.collection.Collection` it keeps only what ``view`` makes of an object (the schemas of
    all CRDs together take 100 MB), and knows what we wrote ourselves before the watch tells. ``changed`` is called
    after every change, also of ``problem``, the reason why the server cannot be asked at the moment. While it is away
    the objects stay as they were.
    """

    def __init__(self, api: ApiServer, path: str, view: Callable[[Object], View], changed: Callable[[], None]) -> None:
        self.objects: dict[str, View] = {}
        self.synced = False
        self.problem: ClusterError | None = None
        self._api = api
        self._path = path
        self._view = view
        self._changed = changed
        self._versions: dict[str, int] = {}
        self._seen_up_to = ""

    @property
    def is_refused(self) -> bool:
        """Whether the server does not let us look, or has nothing of the sort: waiting for it would not help."""
        return self.problem is not None and self.problem.status in _REFUSALS

    async def run(self) -> None:
        """Follow the collection until cancelled."""
        failures = 0
        while True:
            try:
                if not self._seen_up_to:
                    await self._list()
                await self._watch()
                await asyncio.sleep(_BETWEEN_WATCHES)
            except ClusterError as error:
                failures = failures + 1 if self.problem else 1
                self._fail(error)
                await asyncio.sleep(_PACE.pause(failures))

    def put(self, obj: Object) -> None:
        """Take an object as the server has just answered it, before the watch tells."""
        name, version = _name(obj), _version(obj)
        if version >= self._versions.get(name, 0):
            self.objects[name], self._versions[name] = self._view(obj), version

    async def _list(self) -> None:
        listing = await self._api.list(self._path)
        items = listing.get("items") or ()
        self.objects = {_name(item): self._view(item) for item in items}
        self._versions = {_name(item): _version(item) for item in items}
        self._seen_up_to = edit.get(listing, ("metadata", "resourceVersion"), "")
        self.synced = True
        self.problem = None
        self._changed()

    async def _watch(self) -> None:
        events = self._api.watch(self._path, self._seen_up_to, timeout_seconds=_PACE.watch)
        async with aclosing(events):
            async for event, obj in events:
                self._take(event, obj)
        self.problem = None

    def _take(self, event: str, obj: Object) -> None:
        self.problem = None
        self._seen_up_to = edit.get(obj, ("metadata", "resourceVersion"), self._seen_up_to)
        if event == "BOOKMARK":
            return
        if event == "DELETED":
            self.objects.pop(_name(obj), None)
        else:
            self.put(obj)
        self._changed()

    def _fail(self, error: ClusterError) -> None:
        self.problem = error
        if error.status == HTTPStatus.GONE:
            self._seen_up_to = ""
        self._changed()


def _version(obj: Object) -> int:
    """The resource version of an object, a number that grows; 0 where a server has other ones."""
    version = edit.get(obj, ("metadata", "resourceVersion"))
    return int(version) if isinstance(version, str) and version.isdecimal() else 0


def _name(obj: Object) -> str:
    return str(edit.get(obj, ("metadata", "name"), ""))
