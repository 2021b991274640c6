"""Workload types in a folder: a JSON file for each type, replaced as a whole.

A file is written next to its place, forced to the disk, and renamed. Then the folder is forced to the disk. So a file
is in its old or its new state whenever the process or the machine stops.
"""

import asyncio
import fcntl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import orjson

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.files import delete_file, replace_file
from karta_interpreter.base.k8s import GVK, Object, edit, label, objects_in
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.definitions.karta import kinds_of
from karta_interpreter.definitions.sources import MAX_BYTES, DefinitionFile, Store, name_of, weight
from karta_interpreter.web.types_api.models import ApiError, owned, unavailable
from karta_interpreter.web.types_api.records import ID, Record, StoredType, is_ours, type_id

_INDENTED: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_T = TypeVar("_T")


class FolderStorage:
    """The types in a folder that a `Store` watches. Processes that share the folder take turns."""

    def __init__(self, root: Path, store: Store) -> None:
        self._root = root
        self._store = store
        self._writing = asyncio.Lock()

    @property
    def is_known(self) -> bool:
        """Whether the types have been read: the store has read its folders before anybody asks."""
        return True

    def sources(self) -> Mapping[Path, DefinitionFile]:
        """Return the files of the folder."""
        return self._store.files(self._root)

    def records(self, source: DefinitionFile) -> tuple[Record, ...]:
        """Return the Kartas of a file. A file with errors has no definition, so its text is parsed again."""
        name = name_of(source.path)
        items = dict[GVK, Object]()
        if any(not loaded.definition for loaded in source.loaded):
            for item in _items(source.content):
                items |= dict.fromkeys(kinds_of(item), item)
        records = list[Record]()
        for loaded in source.loaded:
            if loaded.gvk:
                manifest = loaded.definition.manifest if loaded.definition else items.get(loaded.gvk, {})
                records.append(Record(loaded.gvk, manifest, name, loaded.findings))
        return tuple(records)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Keep other tasks and other processes from writing."""
        async with self._writing:
            # A separate file: the files of types are replaced, and a lock on one of them would go with it.
            with await self._attempt((self._root / ".lock").open, "ab") as lock:
                await self._attempt(fcntl.flock, lock, fcntl.LOCK_EX)
                yield

    async def read(self, group: str, kind: str) -> StoredType | None:
        """Return the type in its file."""
        path = self._path(group, kind)
        content = await self._attempt(_content, path)
        if content is None:
            return None
        kartas = await asyncio.to_thread(_items, content)
        if any(not is_ours(karta) or label(karta, ID) != type_id(group, kind) for karta in kartas) or not kartas:
            raise owned(f"the author of the file {path.name}", f"{kind} of {group or 'the core group'}")
        return StoredType.of(group, kind, kartas)

    async def write(self, desired: StoredType, _present: StoredType | None) -> StoredType:
        """Replace the file of a type, and read it."""
        path = self._path(desired.group, desired.kind)
        text = await asyncio.to_thread(_text, desired)
        if not self._store.budget.has_room(path, weight(text)):
            raise ApiError(413, f"there is no room for the type: {self._store.budget.reason}")
        await self._attempt(replace_file, path, text)
        await self._store.reload_file(self._root, path)
        return desired

    async def delete(self, present: StoredType) -> None:
        """Delete the file of a type, and forget it."""
        path = self._path(present.group, present.kind)
        await self._attempt(delete_file, path)
        await self._store.reload_file(self._root, path)

    def _path(self, group: str, kind: str) -> Path:
        return self._root / f"{kind}{'.' if group else ''}{group}.json"

    @staticmethod
    async def _attempt(act: Callable[..., _T], *arguments: object) -> _T:
        try:
            return await asyncio.to_thread(act, *arguments)
        except OSError as error:
            raise unavailable(f"the folder for types cannot be used: {error.strerror or error}") from error


def _text(desired: StoredType) -> bytes:
    """Return the file of a type. Raises ApiError if no server would read it: it could not be served or changed."""
    text = orjson.dumps({"apiVersion": "v1", "kind": "List", "items": [*desired.kartas.values()]}, option=_INDENTED)
    if len(text) > MAX_BYTES:
        raise ApiError(413, f"the file of the type would have {len(text)} bytes, the most is {MAX_BYTES}")
    try:
        read_documents(text.decode(), "")
    except ManifestError as error:
        raise ApiError(422, f"the file of the type could not be read: {error}") from error
    return text


def _content(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _items(content: bytes) -> list[Object]:
    """Return the Kartas of a file that this API has written, or nothing for any other file."""
    try:
        items = edit.get(orjson.loads(content), ("items",))
    except orjson.JSONDecodeError:
        return []
    return objects_in(items)
