"""All workload types at one moment: those that are stored, and those that other sources of the server have."""

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import orjson

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import grouped, label
from karta_interpreter.definitions.karta import gvk_of
from karta_interpreter.definitions.sources import Snapshot, Store, cluster, files
from karta_interpreter.web.types_api.cluster_storage import ClusterStorage
from karta_interpreter.web.types_api.folder_storage import FolderStorage
from karta_interpreter.web.types_api.models import CATALOGUE, MOST_ERRORS, UNKNOWN, Choices, FindingOutput, unavailable
from karta_interpreter.web.types_api.records import (
    CATEGORY,
    PRIORITY,
    Record,
    content,
    etag_of,
    is_ours,
    type_id,
    writer_of,
)

API = "api"
"""The source of the types of this API."""

Storage: TypeAlias = ClusterStorage | FolderStorage
"""Stores types, and knows the Kartas of others at the same place. A change of ``sources`` replaces the mapping.

Reading and writing raise ApiError: 503 if the place cannot be used, 409 for a Karta of another owner, 412 if another
writer was faster. A crash leaves each version of a type in its old or its new state.
"""


@dataclass(frozen=True, eq=False)
class Row:
    """A type in the list."""

    id: str
    group: str
    name: str
    category: str | None
    priority: str | None
    source: str
    owner: str
    """Who changes the type instead of this API, "" for a type of this API."""
    is_stored: bool
    """Whether its Kartas are at this API's storage of types."""
    records: tuple[Record, ...]
    """The Karta of each version, in the order of the versions."""
    others: tuple[Record, ...]
    """Kartas of other owners at that place."""

    @property
    def all_records(self) -> list[Record]:
        """The records that this row is made of."""
        return [*self.records] if self.owner else [*self.records, *self.others]

    @cached_property
    def kartas(self) -> Sequence[Record]:
        """Each Karta once, in the order of their own versions: one may describe several versions."""
        by_identity = {id(record.manifest): record for record in reversed(self.records)}
        return sorted(by_identity.values(), key=lambda record: gvk_of(record.manifest) or record.gvk)

    @cached_property
    def etag(self) -> str:
        """A hash of the content. It equals the hash of the stored type."""
        return etag_of(self.category, self.priority, (record.manifest for record in self.kartas))

    def encoded(self, choices: Choices) -> bytes:
        """Return the type as a client gets it: a `WorkloadType` as JSON."""
        category = choices.categories.get(self.category or "")
        priority = choices.priorities.get(self.priority or "")
        findings = list[tuple[int, Finding]]()
        for index, record in enumerate(self.kartas):
            findings += [(index, finding) for finding in record.findings]
        findings.sort(key=lambda located: located[1].severity)  # errors first
        output = {
            "id": self.id,
            "name": self.name,
            "group": self.group,
            "categoryId": self.category,
            "categoryName": category.name if category else None,
            "priorityId": self.priority,
            "priorityName": priority.name if priority else None,
            "source": self.source,
            "owner": self.owner or None,
            "versions": [record.gvk.version for record in self.records],
            "resourceInterfaces": [content(record.manifest) for record in self.kartas],
            "findings": [FindingOutput.of(*located).model_dump() for located in findings[:MOST_ERRORS]],
            "findingsTotal": len(findings),
        }
        try:
            return orjson.dumps(output)
        except orjson.JSONEncodeError:  # integers of more than 64 bits
            return json.dumps(output).encode()


class View:
    """Makes the rows anew when a Karta has changed, in a thread."""

    def __init__(self, store: Store, storage: Storage) -> None:
        self._store = store
        self._storage = storage
        self._reading = asyncio.Lock()
        self._seen: tuple[object, object] = (None, None)
        self._rows: Mapping[str, Row] = {}

    async def rows(self) -> Mapping[str, Row]:
        """Return every type by its id. Raises ApiError, 503, before the stored ones are known."""
        if not self._storage.is_known:
            raise unavailable(UNKNOWN)
        async with self._reading:
            sources, snapshot = self._storage.sources(), self._store.snapshot
            # By identity: both are replaced as a whole when anything in them changes.
            if self._seen[0] is not sources or self._seen[1] is not snapshot:
                self._rows = await asyncio.to_thread(self._renewed, sources, snapshot)
                self._seen = sources, snapshot
            return self._rows

    async def find(self, key: str) -> Row | None:
        """Return the type with an id, None for an unknown one."""
        return (await self.rows()).get(key)

    async def holder(self, group: str, kind: str, versions: Collection[str]) -> str:
        """Return the owner of a Karta for a kind at the storage of types, or "" if this API owns all.

        If this API owns some, only the Kartas for ``versions`` count.
        """
        row = await self.find(type_id(group, kind))
        if not (row and row.is_stored):
            return ""
        return row.owner or _owner(record for record in row.others if record.gvk.version in versions)

    def _renewed(self, sources: Mapping[Any, Any], snapshot: Snapshot) -> Mapping[str, Row]:
        """Return all rows. If Kartas of a kind are stored, its row has only these."""
        of_definitions, of_storage = list[Record](), list[Record]()
        for gvk, entry in snapshot.entries.items():
            if entry.definition.has_karta:
                of_definitions.append(Record(gvk, entry.definition.manifest, entry.origin, entry.definition.findings))
        for name in sorted(sources, key=str):
            of_storage += self._storage.records(sources[name])
        served, stored = _by_kind(of_definitions), _by_kind(of_storage)
        rows: dict[str, Row] = {}
        for kind, records in (served | stored).items():
            key, is_stored = type_id(*kind), kind in stored
            row = self._rows.get(key)
            if row is None or row.is_stored is not is_stored or row.all_records != records:
                row = _row(key, records, is_stored=is_stored)
            rows[key] = row
        return rows


def _by_kind(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Return the records of each kind, in the order of their versions."""
    in_order = sorted(records, key=lambda record: record.gvk)
    return grouped(((record.gvk.group, record.gvk.kind), record) for record in in_order)


def _row(key: str, records: list[Record], *, is_stored: bool) -> Row:
    ours, others = list[Record](), list[Record]()
    for record in records:
        (ours if is_ours(record.manifest) else others).append(record)
    shown = ours or others
    gvk, manifest, source, _ = shown[0]
    owner = _owner(records)
    if ours:
        source, owner = API, ""
    return Row(
        key,
        gvk.group,
        gvk.kind,
        label(manifest, CATEGORY) or None,
        label(manifest, PRIORITY) or None,
        source,
        owner,
        is_stored,
        tuple(shown),
        tuple(others) if is_stored else (),
    )


def _owner(others: Iterable[Record]) -> str:
    for record in others:
        if record.source == files.ORIGIN:
            return CATALOGUE
        if record.source == cluster.ORIGIN:
            return writer_of(record.manifest)
        return f"the author of the file {record.source}"
    return ""
