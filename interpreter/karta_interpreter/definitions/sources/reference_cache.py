"""The objects of an API server that definitions refer to, kept in step with the server.

The cache holds every object of each such kind, so that no answer waits for a request. It holds a kind only once the
server has a kind of workload that refers to it, because there may be very many Deployments. If the server does not have
a kind, or forbids it, the cache asks again from time to time. Until then its objects cannot be looked up: that is an
error until the refusal has lasted, and from then on they count as absent.

Objects are kept as JSON, and decoded when they are looked up: 45 MB of JSON can take 1.1 GB as Python objects, and
garbage collection visits them all. A large look-up is left to a child process, which gets the JSON as it came.

All objects together have a bound, with the names that definitions give them, and each namespace has its share of it. If
an object has no room, what it may be found by is an error in its own namespace: an answer without it would be wrong.
"""

import asyncio
import logging
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Final

import orjson
from msgspec import Struct, field

from karta_interpreter.base.errors import ClusterError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s import GVK, Object, by_kind, grouped, listed_versions, request_path
from karta_interpreter.definitions.karta import MOST_BYTES, MOST_OBJECTS, LargeLookUpError, ObjectNames, ReferenceReader
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import weight_of
from karta_interpreter.definitions.sources.informer import Informer, Pace, name_of_collection
from karta_interpreter.definitions.sources.refusal import Refusal
from karta_interpreter.definitions.sources.served_versions import ServedVersions
from karta_interpreter.definitions.sources.shares import Place, Shares, Source
from karta_interpreter.definitions.sources.unread import MOST_SEARCHED, TEXT, SuspectText, UnreadObjects
from karta_interpreter.languages.jq import Query

MOST_DECODED: Final = 2**18
"""Bytes of a look-up that this process decodes. Hostile ones take 10 ms."""
_SECRETS: Final = "definitions may not refer to Secrets: start the server with --secret-references"
_REFUSALS_AWAITED = 2
"""How long the start waits for a kind that is not listed, in times that a refusal has to last."""
_OBJECT_BYTES = 1024  # estimated for each object, beside its bytes
_VALUE_BYTES = 64  # estimated for each value of the names of an object

_logger = logging.getLogger(__name__)


class _Names(Struct):
    """The names of the objects of a kind in one place, by an expression.

    Those of the keys that are ``left`` are not computed yet. Objects of ``large`` have no names: a child process
    searches them. Those of ``failed`` have none, for a reason.
    """

    names: ObjectNames
    left: dict[str, None]
    weights: dict[str, int] = field(default_factory=dict)
    weight: int = 0
    large: set[str] = field(default_factory=set)
    failed: dict[str, QueryReferenceError] = field(default_factory=dict)


class ReferenceCache(ReferenceReader):
    """Objects of a cluster: it holds the kinds that are wanted.

    Its methods raise LargeLookUpError for objects that this process does not decode.
    """

    def __init__(self, api: ApiServer, pace: Pace, most: int = sys.maxsize, *, secrets: bool = False) -> None:
        self._api = api
        self._secrets = secrets
        self._shares = Shares(most, self._give_way, self._report)
        self._pace = pace
        self._wanted: Mapping[GVK, set[GVK]] = {}
        self._moved = asyncio.Event()
        self._collections: Mapping[GVK, Informer[bytes]] = {}
        self._keys: defaultdict[tuple[GVK, str], dict[str, None]] = defaultdict(dict)
        """The keys of the objects of a kind in a namespace, or without one."""
        self._problems: Mapping[GVK, ClusterError] = {}
        self._refusals: dict[GVK, Refusal] = {}
        self._used: set[GVK] = set()  # kinds with a kind of workload on the server that refers to them
        self._awaited: set[GVK] | None = None
        """The kinds that the start waits for, None before it does."""
        self._awaited_until = math.inf
        self._names: dict[tuple[GVK, str], dict[Query, _Names]] = {}
        self._discovery = asyncio.Lock()
        self._discovered = -math.inf
        self._versions: frozenset[str] | None = None
        self._withheld: set[GVK] = set()
        self.versions: Final = ServedVersions(api, pace)
        self._logged: set[GVK] = set()

    def want(self, references: Iterable[tuple[GVK, GVK]]) -> None:
        """Hold only the kinds in these references: pairs of a kind of workload and a kind that it refers to."""
        pairs = [*references]
        allowed = [(gvk, kind) for kind, gvk in pairs if not self._is_withheld(gvk)]
        workloads = {gvk: set(kinds) for gvk, kinds in grouped(allowed).items()}
        self._withheld = {kind for _, kind in pairs if self._is_withheld(kind)}
        # Without the names of removed definitions.
        for place in tuple(self._names):
            self._forget_names(place)
        if self._wanted != workloads:
            self._wanted = workloads
            self._moved.set()

    def served(self, kinds: Sequence[GVK]) -> GVK:
        """Return the first of some kinds that the server has. Raise QueryReferenceError if that is not known yet."""
        return self.versions.first(kinds)

    def texts(self, gvk: GVK, namespace: str, name: str | None = None, most: int = MOST_BYTES) -> Sequence[bytes]:
        """Return the object of that name, or all of the namespace and those without one, as JSON.

        Raise QueryReferenceError if they are not all known, LargeLookUpError if there are more than ``most`` bytes.
        """
        objects = self._objects(gvk)
        if name is None:
            self._check_room(gvk, namespace)
            keys = [*self._keys.get((gvk, ""), ()), *(self._keys.get((gvk, namespace), ()) if namespace else ())]
        elif "/" in name:  # with a slash it would be the key of an object in another namespace
            return ()
        else:
            # The key of a cluster-scoped object is only its name.
            keys = [key for key in (f"{namespace}/{name}", name) if key in objects][:1]
            if not keys:
                self._check_room(gvk, namespace)
        if len(keys) > MOST_OBJECTS:
            raise LargeLookUpError
        texts = [objects[key] for key in keys]
        if sum(map(len, texts)) > most:
            raise LargeLookUpError
        return self._given_out(keys, texts)

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name, or None. Raise QueryReferenceError if it is not known."""
        for text in self.texts(gvk, namespace, name, MOST_DECODED):
            return _decoded(text, name)
        return None

    def list(self, gvk: GVK, namespace: str) -> Sequence[Object]:
        """Return the objects of a kind. Raise QueryReferenceError if they are not known."""
        return [_decoded(text, "of the kind") for text in self.texts(gvk, namespace, None, MOST_DECODED)]

    def names(self, gvk: GVK, namespace: str, expression: Query) -> ObjectNames:
        """Return the names of all objects of a kind in a namespace, or of all if they are cluster-scoped.

        The names of an object are computed once for each state of it. Raise QueryReferenceError if those of one fail.
        """
        objects = self._objects(gvk)
        self._check_room(gvk, namespace)
        place = next((place for place in ((gvk, ""), (gvk, namespace)) if place in self._keys), None)
        if place is None:
            return ObjectNames(expression)
        by_expression = self._names.setdefault(place, {})
        if expression not in by_expression:
            by_expression[expression] = _Names(ObjectNames(expression), {**self._keys[place]})
        computed = by_expression[expression]
        while computed.left:  # a call that takes long is interrupted, and the next one goes on
            key = next(reversed(computed.left))
            self._compute(((gvk, expression), f"{place[1]}/"), computed, key, objects.get(key))
            del computed.left[key]
        for error in computed.failed.values():
            raise error
        if computed.large:
            raise LargeLookUpError
        return computed.names

    def _compute(self, source: Source, computed: _Names, key: str, text: bytes | None) -> None:
        """Compute the names of an object, None for one that is gone. Raise QueryReferenceError if they have no room."""
        namespace, _, name = key.rpartition("/")
        computed.names.remove(namespace, name)
        computed.large.discard(key)
        computed.failed.pop(key, None)
        weight = 0
        if text is not None and len(text) > MOST_DECODED:
            computed.large.add(key)
        elif text is not None:
            try:
                (given,) = self._given_out([key], [text])
                weight = weight_of(computed.names.add(_decoded(given, key)), _VALUE_BYTES)
            except QueryReferenceError as error:
                computed.failed[key] = error
        total = computed.weight + weight - computed.weights.get(key, 0)
        if not self._shares.count(source, total):
            raise QueryReferenceError(f"the names of {key} have no room: {self._shares.advice(namespace)}")
        computed.weight, computed.weights[key] = total, weight
        if text is None:
            del computed.weights[key]

    def _check_room(self, gvk: GVK, namespace: str) -> None:
        """Raise QueryReferenceError if an object of a kind has no room: of the namespace, or cluster-scoped."""
        path = self._collections[gvk].path
        for scope in dict.fromkeys(("", namespace)):
            if reason := self._shares.why_left_out((path, scope)):
                raise QueryReferenceError(reason)

    @property
    def held(self) -> int:
        """The bytes that the objects, and the names that definitions give them, take."""
        return self._shares.held

    def unread(self) -> dict[GVK, str]:
        """Return the kinds that cannot be looked up though there are workloads that refer to them, with the reasons."""
        reasons = {gvk: self.problem(gvk) for gvk in self._withheld}
        return reasons | {gvk: reason for gvk in self._wanted if (reason := self._why_unread(gvk))}

    def _why_unread(self, gvk: GVK) -> str:
        # A kind that refers to itself is looked up if it is there.
        if self._wanted.get(gvk) == {gvk}:
            return ""
        if problem := self.problem(gvk):
            return problem if self._is_lasting(gvk) else ""
        collection = self._collections[gvk]
        return f"its objects may be outdated: {collection.problem}" if collection.is_refused else ""

    def _log_unread(self, gvk: GVK) -> None:
        """Log why a kind cannot be looked up, once for each state."""
        reason = self._why_unread(gvk)
        if reason and gvk not in self._logged:
            _logger.warning("answers lack what objects of %s say, which cannot be looked up: %s", gvk, reason)
        (self._logged.add if reason else self._logged.discard)(gvk)

    def without_room(self) -> dict[str, str]:
        """Return the collections of which objects have no room, with the reasons, by collection and namespace."""
        return {
            f"{name_of_collection(path)} {namespace}".rstrip(): self._shares.why_left_out((path, namespace))
            for path, namespace in self._shares.left_out
        }

    def problem(self, gvk: GVK) -> str:
        """Return why the objects of a kind are not known, empty if they are."""
        if self._is_withheld(gvk):
            return _SECRETS
        collection = self._collections.get(gvk)
        if collection and collection.listed and not collection.absent:
            return ""
        problem = collection.problem if collection else self._problems.get(gvk)
        return str(problem) if problem else "it has not been listed yet"

    def awaited(self) -> Sequence[GVK]:
        """Return the kinds that the start still waits for.

        It waits once, for the kinds that are wanted at the first call, until each has been listed or its refusal has
        lasted. What is wanted later, or fails in another way for long, takes no server out of service.
        """
        now = asyncio.get_running_loop().time()
        if self._awaited is None:
            self._awaited, self._awaited_until = {*self._wanted}, now + _REFUSALS_AWAITED * self._pace.absent
        is_late = now > self._awaited_until
        self._awaited = {gvk for gvk in self._awaited if gvk in self._wanted and not (is_late or self._is_settled(gvk))}
        return sorted(self._awaited)

    def _is_settled(self, gvk: GVK) -> bool:
        """Return whether a kind is listed or lastingly refused, or has no workloads on the server that refer to it."""
        if collection := self._collections.get(gvk):
            return collection.known
        problem = self._problems.get(gvk)
        is_unused = gvk not in self._used and problem is not None and problem.status == HTTPStatus.NOT_FOUND
        return is_unused or self._is_lasting(gvk)

    async def run(self) -> None:
        """Keep in step until cancelled."""
        followed: dict[GVK, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            group.create_task(self.versions.run())
            while True:
                for gvk in followed.keys() - self._wanted.keys():
                    followed.pop(gvk).cancel()
                    self._used.discard(gvk)
                    self._problems = {other: value for other, value in self._problems.items() if other != gvk}
                    self._refusals.pop(gvk, None)
                for gvk in self._wanted.keys() - followed.keys():
                    followed[gvk] = group.create_task(self._follow(gvk))
                await self._moved.wait()
                self._moved.clear()

    async def _follow(self, gvk: GVK) -> None:
        await self._find(gvk, lambda: self._wanted.get(gvk, ()))
        self._used.add(gvk)
        path = await self._find(gvk, lambda: (gvk,))
        unread = UnreadObjects(self._api, gvk.type_meta)
        collection = Informer(unread, path, _view, self._pace, self._shares, _weigh)
        collection.touched = partial(self._touch, gvk, collection)
        self._collections = {**self._collections, gvk: collection}
        try:
            await collection.follow(lambda: self._log_unread(gvk))
        finally:
            # Also after an error in this program: without its objects the collection would say that there are none.
            self._collections = {other: value for other, value in self._collections.items() if value is not collection}
            collection.clear()

    async def _find(self, gvk: GVK, kinds: Callable[[], Iterable[GVK]]) -> str:
        """Return the collection path of one of the kinds once the server knows one. ``gvk`` waits for it."""
        failures, pause = 0, self._pace.pause(0)
        while True:
            errors = dict[GVK, ClusterError]()
            for kind in tuple(kinds()):
                try:
                    path = await self._path(kind, pause)
                except ClusterError as error:
                    errors[kind] = error
                else:
                    self._refusals.pop(gvk, None)  # what is there is not listed yet, and not absent
                    return path
            self._note(gvk, errors)
            failures += 1
            left = self._refusals.get(gvk, Refusal()).left(self._pace.absent)
            pause = min(self._pace.pause(failures), max(left, self._pace.first))
            await asyncio.sleep(pause)

    def _note(self, gvk: GVK, errors: Mapping[GVK, ClusterError]) -> None:
        """Note why neither of some kinds was found. A kind that is not there says least."""
        for error in sorted(errors.values(), key=lambda error: error.status != HTTPStatus.NOT_FOUND)[-1:]:
            self._problems = {**self._problems, gvk: error}
        # Until the kind of workload is found, the kind that it refers to may be there, too.
        if gvk in errors:
            # What all kinds share is as old as the request for it.
            at = self._discovered if gvk.group else asyncio.get_running_loop().time()
            self._refusals[gvk] = self._refusals.get(gvk, Refusal()).after(errors[gvk].status, at)
            self._log_unread(gvk)

    async def _path(self, gvk: GVK, age: float) -> str:
        """Return the path of a kind's collection. Raise ClusterError if the server does not have the kind.

        That it does not have the group may be known for ``age`` seconds.
        """
        versions = await self._served_versions(age) if gvk.group else None
        is_missing = versions is not None and gvk.api_version not in versions
        if not is_missing and (resource := by_kind(await self._api.resources(gvk.api_version)).get(gvk.kind)):
            return request_path(gvk.group, gvk.version, str(resource["name"]))
        raise ClusterError(f"the API server has no {gvk}", status=HTTPStatus.NOT_FOUND, reason="NotFound")

    async def _served_versions(self, age: float) -> frozenset[str] | None:
        """Return the versions of API groups that the server had within ``age`` seconds, None if it does not say.

        All kinds that wait share one request. Otherwise those of a catalogue send a hundred in a minute.
        """
        async with self._discovery:
            now = asyncio.get_running_loop().time()
            if now - self._discovered >= age:
                try:
                    self._versions = frozenset(listed_versions(await self._api.get("/apis")))
                except ClusterError:
                    self._versions = None
                self._discovered = now
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
                self._forget_names(place)
        for computed in self._names.get(place, {}).values():
            computed.left[key] = None

    def _forget_names(self, place: tuple[GVK, str]) -> None:
        gvk, namespace = place
        for expression in self._names.pop(place, ()):
            self._shares.forget(((gvk, expression), f"{namespace}/"))

    def _give_way(self, source: Source) -> None:
        """Let go of an object, or of the names of a namespace's objects, whose room another namespace needs."""
        collection, key = source
        if isinstance(collection, tuple):
            gvk, expression = collection
            del self._names[gvk, key.removesuffix("/")][expression]
            return
        for informer in self._collections.values():
            if informer.path == collection:
                informer.drop(key)

    def _report(self, place: Place, is_left_out: bool) -> None:
        path, namespace = place
        held = self._shares.held_by(namespace)
        if is_left_out:
            message = (
                "objects that definitions refer to have no room: %s in the namespace %r, which has %d bytes of them"
            )
            _logger.warning(message, name_of_collection(path), namespace, held)
        else:
            _logger.info(
                "objects that had no room have it: %s in the namespace %r", name_of_collection(path), namespace
            )

    def _is_withheld(self, gvk: GVK) -> bool:
        """Return whether a value of the objects of a kind must not leave as part of an answer."""
        return (gvk.group, gvk.kind) == ("", "Secret") and not self._secrets

    def _given_out(self, keys: Sequence[str], texts: Sequence[bytes]) -> Sequence[bytes]:
        """Return the texts of objects. Raise QueryAbsentError if a Secret is in one that must not leave.

        Raise QueryReferenceError if so many mention Secrets that not all are searched yet: the next call goes on.
        """
        if SuspectText not in map(type, texts):
            return texts
        searched, given = 0, list[bytes]()
        for key, text in zip(keys, texts, strict=True):
            if not isinstance(text, SuspectText):
                given.append(text)
                continue
            searched += 0 if self._secrets else text.unsearched
            if searched > MOST_SEARCHED:
                raise QueryReferenceError(f"{key} is not searched for Secrets yet")
            if not self._secrets and text.holds_secret:
                raise QueryAbsentError(f"{key} holds a Secret: {_SECRETS}")
            given.append(bytes(text))
        return given

    def _objects(self, gvk: GVK) -> Mapping[str, bytes]:
        if problem := self.problem(gvk):
            # After other errors Karmada asks again, and has the right answer a moment later.
            raise (QueryAbsentError if self._is_lasting(gvk) else QueryReferenceError)(problem)
        return self._collections[gvk].objects

    def _is_lasting(self, gvk: GVK) -> bool:
        """Return whether the kind does not exist, or may not be read, and not for a moment only."""
        collection = self._collections.get(gvk)
        refusal = collection.refusal if collection else self._refusals.get(gvk, Refusal())
        return self._is_withheld(gvk) or refusal.lasts(self._pace.absent)


def _view(obj: Object) -> bytes:
    text: bytes = obj[TEXT]
    return text


def _weigh(text: bytes) -> int:
    return _OBJECT_BYTES + len(text)


def _decoded(text: bytes, which: str) -> Object:
    try:
        obj: Object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise QueryReferenceError(f"the object {which} cannot be read: {error}") from error
    return obj
