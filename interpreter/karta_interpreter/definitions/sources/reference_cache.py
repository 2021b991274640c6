"""The objects of an API server that definitions refer to, kept in step with the server.

The cache holds every object of each such kind, so that no answer waits for a request. It holds a kind only once the
server has a kind of workload that refers to it, because there may be very many Deployments. If the server does not have
a kind, or forbids it, the cache asks again from time to time. Until then its objects cannot be looked up.

Objects are kept as JSON, and decoded when they are looked up: 45 MB of JSON can take 1.1 GB as Python objects, and
garbage collection visits them all. A large look-up is left to a child process, which gets the JSON as it came.

All objects together have a bound, with the names that definitions give them, and so have those of one kind. Those of a
kind cannot be looked up if one of them has no room: an answer without it would be wrong.
"""

import asyncio
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Final

import orjson
from msgspec import Struct, field

from karta_interpreter.base.errors import ClusterError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s import GVK, Object, grouped, objects_in
from karta_interpreter.definitions.karta import MOST_BYTES, MOST_OBJECTS, LargeLookUpError, ObjectNames, ReferenceReader
from karta_interpreter.definitions.sources.api_server import ApiServer, by_kind
from karta_interpreter.definitions.sources.budget import Budget, weight_of
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.definitions.sources.unread import TEXT, UnreadObjects
from karta_interpreter.languages.jq import Query

MOST_DECODED: Final = 2**18
"""Bytes of a look-up that this process decodes. Hostile ones take 10 ms."""
_OBJECT_BYTES = 1024  # estimated for each object, beside its bytes
_VALUE_BYTES = 64  # estimated for each value of the names of an object


class _Names(Struct):
    """The names of the objects of a kind by an expression. Those of the keys that are ``left`` are not computed yet.

    Objects of ``large`` have no names: a child process searches them.
    """

    names: ObjectNames
    left: dict[str, None]
    weights: dict[str, int] = field(default_factory=dict)
    weight: int = 0
    large: set[str] = field(default_factory=set)


class ReferenceCache(ReferenceReader):
    """Objects of a cluster: it holds the kinds that are wanted.

    Its methods raise LargeLookUpError for objects that this process does not decode.
    """

    def __init__(self, api: ApiServer, pace: Pace, most: int = sys.maxsize, *, secrets: bool = False) -> None:
        self._api = api
        self._secrets = secrets
        self._budget = Budget(most, "objects that definitions refer to", most // 2)
        self._pace = pace
        self._wanted: Mapping[GVK, set[GVK]] = {}
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Informer[bytes]] = {}
        self._keys: defaultdict[tuple[GVK, str], dict[str, None]] = defaultdict(dict)
        """The keys of the objects of a kind in a namespace, or without one."""
        self._problems: Mapping[GVK, ClusterError] = {}
        self._names: dict[tuple[GVK, Query], _Names] = {}
        self._discovery = asyncio.Lock()
        self._discovered = -math.inf
        self._versions: frozenset[str] | None = None
        self._unknown: set[GVK] = set()  # kinds that the server has said it does not have

    def want(self, references: Iterable[tuple[GVK, GVK]]) -> None:
        """Hold only the kinds in these references: pairs of a kind of workload and a kind that it refers to."""
        allowed = [(gvk, kind) for kind, gvk in references if not self._is_withheld(gvk)]
        workloads = {gvk: set(kinds) for gvk, kinds in grouped(allowed).items()}
        # Without the collections of removed definitions.
        for source in self._names:
            self._budget.forget(source)
        self._names = {}
        if self._wanted != workloads:
            self._wanted = workloads
            self._moved.set()

    def texts(self, gvk: GVK, namespace: str, name: str | None = None, most: int = MOST_BYTES) -> Sequence[bytes]:
        """Return the object of that name, or all of the namespace and those without one, as JSON.

        Raise QueryReferenceError if the kind is not known, LargeLookUpError if there are more than ``most`` bytes.
        """
        objects = self._objects(gvk)
        if name is None:
            keys = [*self._keys.get((gvk, ""), ()), *(self._keys.get((gvk, namespace), ()) if namespace else ())]
        elif "/" in name:  # with a slash it would be the key of an object in another namespace
            return ()
        else:
            # The key of a cluster-scoped object is only its name.
            keys = [key for key in (f"{namespace}/{name}", name) if key in objects][:1]
        if len(keys) > MOST_OBJECTS:
            raise LargeLookUpError
        texts = [objects[key] for key in keys]
        if sum(map(len, texts)) > most:
            raise LargeLookUpError
        return texts

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name, or None. Raise QueryReferenceError if the kind is not known."""
        for text in self.texts(gvk, namespace, name, MOST_DECODED):
            return _decoded(text)
        return None

    def list(self, gvk: GVK, namespace: str) -> Sequence[Object]:
        """Return the objects of a kind. Raise QueryReferenceError if they are not known."""
        return [*map(_decoded, self.texts(gvk, namespace, None, MOST_DECODED))]

    def names(self, gvk: GVK, namespace: str, expression: Query) -> ObjectNames:
        """Return the names of all objects of a kind. Those of an object are computed once for each state of it."""
        objects, source = self._objects(gvk), (gvk, expression)
        if source not in self._names:
            self._names[source] = _Names(ObjectNames(expression), dict.fromkeys(objects))
        computed = self._names[source]
        while computed.left:  # a call that takes long is interrupted, and the next one goes on
            key = next(reversed(computed.left))
            self._compute(source, computed, key, objects.get(key))
            del computed.left[key]
        if any(key.rpartition("/")[0] in ("", namespace) for key in computed.large):
            raise LargeLookUpError
        return computed.names

    def _compute(self, source: tuple[GVK, Query], computed: _Names, key: str, text: bytes | None) -> None:
        """Compute the names of an object, None for one that is gone. Raise QueryAbsentError if they have no room."""
        namespace, _, name = key.rpartition("/")
        computed.names.remove(namespace, name)
        computed.large.discard(key)
        weight = 0
        if text is not None and len(text) > MOST_DECODED:
            computed.large.add(key)
        elif text is not None:
            weight = weight_of(computed.names.add(_decoded(text)), _VALUE_BYTES)
        total = computed.weight + weight - computed.weights.get(key, 0)
        if self._budget.take(source, total) is None:
            raise QueryAbsentError(self._budget.reason)
        self._budget.settle(source, total)
        computed.weight, computed.weights[key] = total, weight
        if text is None:
            del computed.weights[key]

    def problem(self, gvk: GVK) -> str:
        """Return why the objects of a kind are not known, empty if they are."""
        if self._is_withheld(gvk):
            return "definitions may not refer to Secrets: start the server with --secret-references"
        collection = self._collections.get(gvk)
        if collection and collection.listed and not collection.absent:
            return self._budget.reason if collection.left_out else ""
        problem = collection.problem if collection else self._problems.get(gvk)
        return str(problem) if problem else "it has not been listed yet"

    async def run(self) -> None:
        """Keep in step until cancelled."""
        followed: dict[GVK, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                for gvk in followed.keys() - self._wanted.keys():
                    followed.pop(gvk).cancel()
                    self._problems = {other: value for other, value in self._problems.items() if other != gvk}
                for gvk in self._wanted.keys() - followed.keys():
                    followed[gvk] = group.create_task(self._follow(gvk))
                await self._moved.wait()
                self._moved.clear()

    async def _follow(self, gvk: GVK) -> None:
        await self._find(gvk, lambda: self._wanted.get(gvk, ()))
        path = await self._find(gvk, lambda: (gvk,))
        unread = UnreadObjects(self._api, gvk.type_meta)
        collection = Informer(unread, path, _view, self._pace, self._budget, _weigh)
        collection.touched = partial(self._touch, gvk, collection)
        self._collections = {**self._collections, gvk: collection}
        try:
            await collection.follow(lambda: None)
        finally:
            # Also after an error in this program: without its objects the collection would say that there are none.
            self._collections = {other: value for other, value in self._collections.items() if value is not collection}
            collection.clear()

    async def _find(self, gvk: GVK, kinds: Callable[[], Iterable[GVK]]) -> str:
        """Return the collection path of one of the kinds once the server knows one. ``gvk`` waits for it."""
        failures = 0
        while True:
            for kind in tuple(kinds()):
                try:
                    return await self._path(kind, self._pace.pause(failures))
                except ClusterError as error:
                    self._problems = {**self._problems, gvk: error}
                    # Until the kind of workload is found, the kind that it refers to may be there, too.
                    if kind == gvk and (error.reason == "NotFound" or error.status == HTTPStatus.NOT_FOUND):
                        self._unknown.add(gvk)
            failures += 1
            await asyncio.sleep(self._pace.pause(failures))

    async def _path(self, gvk: GVK, age: float) -> str:
        """Return the path of a kind's collection. Raise ClusterError if the server does not have the kind.

        That it does not have the group may be known for ``age`` seconds.
        """
        versions = await self._served_versions(age) if gvk.group else None
        is_missing = versions is not None and gvk.api_version not in versions
        if not is_missing and (resource := by_kind(await self._api.resources(gvk.api_version)).get(gvk.kind)):
            return f"{'/apis' if gvk.group else '/api'}/{gvk.api_version}/{resource['name']}"
        raise ClusterError(f"the API server has no {gvk}", reason="NotFound")

    async def _served_versions(self, age: float) -> frozenset[str] | None:
        """Return the versions of API groups that the server had within ``age`` seconds, None if it does not say.

        All kinds that wait share one request. Otherwise those of a catalogue send a hundred in a minute.
        """
        async with self._discovery:
            if time.monotonic() - self._discovered >= age:
                try:
                    groups = objects_in((await self._api.get("/apis")).get("groups"))
                except ClusterError:
                    self._versions = None
                else:
                    versions = [version for group in groups for version in objects_in(group.get("versions"))]
                    self._versions = frozenset(str(version.get("groupVersion")) for version in versions)
                self._discovered = time.monotonic()
            return self._versions

    def _touch(self, gvk: GVK, collection: Informer[bytes], key: str) -> None:
        """Note that an object is there, has changed, or is gone."""
        place = gvk, key.rpartition("/")[0]
        if key in collection.objects:
            self._keys[place][key] = None
        elif place in self._keys:
            self._keys[place].pop(key, None)
            if not self._keys[place]:
                del self._keys[place]
        for (kind, _), computed in self._names.items():
            if kind == gvk:
                computed.left[key] = None

    def _is_withheld(self, gvk: GVK) -> bool:
        """Return whether a value of the objects of a kind must not leave as part of an answer."""
        return (gvk.group, gvk.kind) == ("", "Secret") and not self._secrets

    def _objects(self, gvk: GVK) -> Mapping[str, bytes]:
        if problem := self.problem(gvk):
            collection = self._collections.get(gvk)
            is_lasting = (
                collection.is_refused or collection.absent or collection.left_out
                if collection
                else gvk in self._unknown or self._is_withheld(gvk)
            )
            # After other errors Karmada asks again, and has the right answer a moment later.
            raise (QueryAbsentError if is_lasting else QueryReferenceError)(problem)
        return self._collections[gvk].objects


def _view(obj: Object) -> bytes:
    text: bytes = obj[TEXT]
    return text


def _weigh(text: bytes) -> int:
    return _OBJECT_BYTES + len(text)


def _decoded(text: bytes) -> Object:
    try:
        obj: Object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise QueryAbsentError(f"an object of the kind cannot be read: {error}") from error
    return obj
