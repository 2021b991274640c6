"""Workload types on a cluster: a Karta object for each version, which kubectl lists by the labels of the type.

A change writes one object after the other, and deletes last. A crash leaves every version in its old or its new state,
and the same request completes the change. Every change gives all objects of a type a new revision, so that the API
server refuses one of two changes at the same time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, TypeVar

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import JSON, Object, edit, label, name as name_of
from karta_interpreter.definitions.karta import gvk_of, kartas_path
from karta_interpreter.definitions.sources.api_server import ApiServer, existing
from karta_interpreter.definitions.sources.cluster import ORIGIN, Cluster
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.web.types_api.models import UNKNOWN, ApiError, owned, unavailable
from karta_interpreter.web.types_api.records import (
    ID,
    REVISION,
    Record,
    StoredType,
    content,
    controller_of,
    is_ours,
    names_of,
    type_id,
    writer_of,
)

_T = TypeVar("_T")
_LOOK_SECONDS: Final = 0.01
_OTHERS_LABELS: Final = "run.ai/"  # admission adds these to Kartas, for tools that look one up by its kind
_REJECTED: Final = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}


class ClusterStorage:
    """The types among the Kartas of a cluster. A change waits so many ``seconds`` for the first list of them."""

    def __init__(self, api: ApiServer, cluster: Cluster, seconds: float) -> None:
        self._api = api
        self._cluster = cluster
        self._seconds = seconds
        self._writing = asyncio.Lock()

    @property
    def is_known(self) -> bool:
        """Whether all Kartas have been read."""
        return self._cluster.synced

    def sources(self) -> Mapping[str, ClusterKarta]:
        """Return the Kartas as the watch has them."""
        return self._cluster.kartas

    def records(self, source: ClusterKarta) -> tuple[Record, ...]:
        """Return the Karta, for each version that it describes."""
        return tuple(
            Record(loaded.gvk, source.obj, ORIGIN, loaded.findings) for loaded in source.loaded.versions if loaded.gvk
        )

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Keep other tasks from writing, once all Kartas are known. The API server keeps other processes from it."""
        try:
            async with asyncio.timeout(self._seconds):
                while not self.is_known:  # noqa: ASYNC110 - it has no event for it
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            raise unavailable(UNKNOWN) from None
        async with self._writing:
            yield

    async def read(self, group: str, kind: str) -> StoredType | None:
        """Return the type in its objects."""
        objects = await self._attempt(self._api.list(kartas_path(), f"{ID}={type_id(group, kind)}"))
        stored = StoredType.of(group, kind, objects)
        for karta in stored.kartas.values() if stored else ():
            if controller := controller_of(karta):
                raise owned(controller, f"the Karta {name_of(karta)}")
        return stored

    async def write(self, desired: StoredType, present: StoredType | None) -> StoredType:
        """Replace and create the objects of a type, then delete the objects of versions that it no longer has."""
        if not all(map(self._cluster.has_room, desired.kartas.values())):
            raise ApiError(413, f"there is no room for the type: {self._cluster.budget.reason}")
        before, after = present.kartas if present else {}, {}
        for version, karta in desired.kartas.items():
            stored = before.get(version)
            after[version] = await (self._replace(karta, stored) if stored else self._create(karta))
            self._cluster.take(after[version])  # at once: the watch may bring it some milliseconds later
        for version in before.keys() - desired.kartas.keys():
            await self._delete(before[version])
        return StoredType(desired.group, desired.kind, after)

    async def delete(self, present: StoredType) -> None:
        """Delete the objects of a type."""
        for karta in present.kartas.values():
            await self._delete(karta)

    async def _create(self, karta: Object) -> Object:
        try:
            return await self._api.create(kartas_path(), karta)
        except ClusterError as error:
            if error.reason != "AlreadyExists":
                raise _failed(error) from error
        # Created by another client of this API between reading and writing, or by somebody else under that name.
        other = await self._attempt(self._api.get(_path(karta)))
        if is_ours(other) and label(other, ID) == label(karta, ID):
            raise ApiError(412, f"another client has just registered {name_of(karta)}: read it and try again")
        gvk = gvk_of(karta)
        if gvk and is_ours(other) and name_of(karta) != (second := names_of(gvk)[1]):
            return await self._create({**karta, "metadata": {**karta["metadata"], "name": second}})
        raise owned(writer_of(other), f"the Karta {name_of(karta)}")

    async def _replace(self, karta: Object, stored: Object) -> Object:
        """Return the object with its content replaced. Metadata that others keep in it stays."""

        async def replace(present: Object) -> Object:
            # Without managedFields the API server keeps its own. An empty list would delete them.
            metadata = {field: value for field, value in present["metadata"].items() if field != "managedFields"}
            labels = metadata.get("labels", {})
            others_labels = {name: value for name, value in labels.items() if name.startswith(_OTHERS_LABELS)}
            new = {**karta["metadata"], "labels": {**others_labels, **karta["metadata"]["labels"]}}
            # The author's annotations replace all others: they are content, and one that is left out is to go. The name
            # stays, as an object cannot be renamed.
            obj = {**karta, "metadata": {**metadata, "annotations": {}, **new, "name": metadata["name"]}}
            return await self._api.replace(_path(present), obj)

        return await self._change(stored, replace)

    async def _delete(self, karta: Object) -> None:
        async def delete(present: Object) -> Object:
            preconditions = {field: present["metadata"][field] for field in ("uid", "resourceVersion")}
            return await existing(self._api.delete(_path(present), preconditions=preconditions)) or present

        await self._change(karta, delete)

    async def _change(self, stored: Object, act: Callable[[Object], Awaitable[Object]]) -> Object:
        """Change an object if its content is unchanged since it was read. Its status may have changed."""
        present: Object | None = stored
        while present and _meaning(present) == _meaning(stored):
            try:
                return await act(present)
            except ClusterError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    break
                if error.status != HTTPStatus.CONFLICT:
                    raise _failed(error) from error
            present = await self._attempt(existing(self._api.get(_path(stored))))
        raise ApiError(412, "the type was changed meanwhile: read it and try again")

    @staticmethod
    async def _attempt(work: Awaitable[_T]) -> _T:
        try:
            return await work
        except ClusterError as error:
            raise _failed(error) from error


def _failed(error: ClusterError) -> ApiError:
    """Return the error for a client of this API after an error of the API server."""
    if error.status in _REJECTED:
        return ApiError(422, f"the API server does not take the Karta: {error}")
    return unavailable(f"the API server cannot be used: {error}")


def _meaning(karta: Object) -> tuple[JSON, ...]:
    return edit.get(karta, ("metadata", "uid")), label(karta, REVISION), content(karta)


def _path(karta: Object) -> str:
    return kartas_path(name_of(karta))
