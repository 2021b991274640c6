"""All workload types at one moment: those that are stored, and those that other sources of the server have."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from karta_interpreter.console.child import finding_json
from karta_interpreter.console.workload_types.models import Choices, FindingOutput, WorkloadType
from karta_interpreter.console.workload_types.records import (
    CATEGORY,
    PRIORITY,
    Record,
    Storage,
    content,
    etag_of,
    type_id,
    writer_of,
)
from karta_interpreter.k8s.fields import label
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.sources import cluster, files
from karta_interpreter.sources.snapshot import Snapshot
from karta_interpreter.sources.store import Store

API = "api"
"""The source of the types of this API."""


@dataclass(frozen=True, slots=True)
class Row:
    """A type in the list; ``records`` are its Kartas in the order of their versions.

    ``made_from`` are all Kartas of the kind. ``is_stored``: they are at the place where this API stores types;
    ``others`` are Kartas of other owners there. ``owner`` names who changes the type instead of this API, "" for a
    type of this API.
    """

    id: str
    group: str
    name: str
    category: str | None
    priority: str | None
    source: str
    owner: str
    is_stored: bool
    records: tuple[Record, ...]
    others: tuple[Record, ...]
    made_from: list[Record]

    @property
    def etag(self) -> str:
        """A hash of the content, the same as that of the stored type."""
        return etag_of(self.category, self.priority, (each.manifest for each in self.records))

    def output(self, choices: Choices) -> WorkloadType:
        """The type as a client gets it."""
        category = choices.categories.get(self.category or "")
        priority = choices.priorities.get(self.priority or "")
        return WorkloadType(
            id=self.id,
            name=self.name,
            group=self.group,
            category_id=self.category,
            category_name=category.name if category else None,
            priority_id=self.priority,
            priority_name=priority.name if priority else None,
            source=self.source,
            owner=self.owner or None,
            versions=[each.gvk.version for each in self.records],
            resource_interfaces=[dict(content(each.manifest)) for each in self.records],
            findings=[
                FindingOutput(**finding_json(index, finding))
                for index, each in enumerate(self.records)
                for finding in each.findings
            ],
        )


_Kind = tuple[str, str]


class View:
    """Makes the rows anew when a source has changed, in a thread; what did not change is not read again."""

    def __init__(self, store: Store, storage: Storage) -> None:
        self._store = store
        self._storage = storage
        self._reading = asyncio.Lock()
        self._seen: tuple[object, object] = (None, None)
        self._read: dict[Any, tuple[object, tuple[Record, ...]]] = {}
        self._entries: dict[GVK, tuple[Definition, Record]] = {}
        self._rows: dict[str, Row] = {}

    async def rows(self) -> Mapping[str, Row]:
        """Every type by its id."""
        async with self._reading:
            sources, snapshot = self._storage.sources(), self._store.snapshot
            # By identity: both are replaced as a whole when anything in them changes.
            if self._seen[0] is not sources or self._seen[1] is not snapshot:
                self._rows = await asyncio.to_thread(lambda: dict(self._all(sources, snapshot)))
                self._seen = sources, snapshot
            return self._rows

    async def find(self, key: str) -> Row | None:
        """Return the type with an id, None for an unknown one."""
        return (await self.rows()).get(key)

    async def holder(self, group: str, kind: str, versions: Collection[str]) -> str:
        """The owner of a Karta for a kind at the place where types are stored, "" where this API owns all.

        Where this API owns some, only those for ``versions`` count.
        """
        row = await self.find(type_id(group, kind))
        if row is None or not row.is_stored:
            return ""
        return row.owner or _owner(each for each in row.others if each.gvk.version in versions)

    def _all(self, sources: Mapping[Any, Any], snapshot: Snapshot) -> Iterator[tuple[str, Row]]:
        kinds = self._stored(sources)
        others = defaultdict[_Kind, list[Record]](list)
        for each in self._served(snapshot):
            if (kind := (each.gvk.group, each.gvk.kind)) not in kinds:
                others[kind].append(each)
        for (group, name), records in (*kinds.items(), *others.items()):
            key = type_id(group, name)
            if len(records) > 1:
                records.sort(key=lambda each: each.gvk)
            known, is_stored = self._rows.get(key), (group, name) in kinds
            is_known = known and known.is_stored == is_stored and known.made_from == records
            yield key, known if known and is_known else _row(key, records, is_stored=is_stored)

    def _stored(self, sources: Mapping[Any, Any]) -> Mapping[_Kind, list[Record]]:
        """The records of the place where types are stored; where there are ours for a kind, those alone."""
        read = {}
        for name, source in sources.items():
            known = self._read.get(name)
            read[name] = known if known and known[0] is source else (source, self._storage.records(source))
        self._read = read
        kinds = defaultdict[_Kind, list[Record]](list)
        for _, records in read.values():
            for each in records:
                kinds[each.gvk.group, each.gvk.kind].append(each)
        return kinds

    def _served(self, snapshot: Snapshot) -> Iterator[Record]:
        """Yield the Kartas that the server uses, of all sources."""
        served = {}
        for gvk, entry in snapshot.entries.items():
            known, definition = self._entries.get(gvk), entry.definition
            if known is None or known[0] is not definition:
                known = definition, Record(gvk, definition.manifest, entry.origin, definition.findings)
            served[gvk] = known
            if entry.definition.has_karta:
                yield known[1]
        self._entries = served


def _row(key: str, records: list[Record], *, is_stored: bool) -> Row:
    ours = tuple(each for each in records if each.is_ours)
    chosen = ours or tuple(records)
    manifest = chosen[0].manifest
    source = API if ours else chosen[0].source
    category, priority = (label(manifest, name) or None for name in (CATEGORY, PRIORITY))
    gvk = chosen[0].gvk
    others = tuple(each for each in records if not each.is_ours) if is_stored else ()
    owner = "" if ours else _owner(records)
    return Row(key, gvk.group, gvk.kind, category, priority, source, owner, is_stored, chosen, others, records)


def _owner(others: Iterable[Record]) -> str:
    for each in others:
        if each.source == files.ORIGIN:
            return "the catalogue"
        return writer_of(each.manifest) if each.source == cluster.ORIGIN else f"the author of the file {each.source}"
    return ""
