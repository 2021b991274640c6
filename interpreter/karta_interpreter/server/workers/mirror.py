"""What a worker knows: what the server does, as far as it was told."""

import json
from collections.abc import Mapping
from dataclasses import replace

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.resolution import Reader
from karta_interpreter.karta.transfer import unpack
from karta_interpreter.server.workers.messages import Define, Drop, Hold, Served, Take
from karta_interpreter.sources.object_cache import NOT_YET, CachedObjects, Lookup
from karta_interpreter.sources.snapshot import Entry, Snapshot


class Mirror(Lookup):
    """The definitions, and the objects that they refer to (`karta_interpreter.server.reception.Knowledge`)."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        self._holdings: Mapping[GVK, CachedObjects] = {}
        self._kinds: Mapping[GVK, str] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The definitions that are served."""
        return self._snapshot

    @property
    def reader(self) -> Reader:
        """What looks up the objects that definitions refer to."""
        return self

    @property
    def kinds(self) -> Mapping[GVK, str]:
        """The kinds that the cluster's Kartas define, and their names."""
        return self._kinds

    def holding(self, gvk: GVK) -> CachedObjects:
        """What is held of a kind."""
        return self._holdings.get(gvk, NOT_YET)

    def define(self, told: Define) -> None:
        """Serve other definitions; compiling them takes milliseconds each."""
        gone = {GVK(*kind) for kind in told.gone}
        kept = {gvk: entry for gvk, entry in self._snapshot.entries.items() if gvk not in gone}
        changed = {entry.definition.gvk: entry for entry in map(_entry, told.served)}
        self._snapshot = Snapshot({**kept, **changed}, generation=told.generation)

    def hold(self, told: Hold) -> None:
        """Hold other objects of a kind."""
        gvk = GVK(*told.kind)
        before = self._holdings.get(gvk, CachedObjects()).objects
        kept = {key: obj for key, obj in before.items() if key not in told.gone}
        changed = {key: json.loads(obj) for key, obj in told.objects.items()}
        self._holdings = {**self._holdings, gvk: CachedObjects({**kept, **changed}, told.problem)}

    def drop(self, told: Drop) -> None:
        """Hold no objects of a kind any more."""
        gvk = GVK(*told.kind)
        self._holdings = {other: holding for other, holding in self._holdings.items() if other != gvk}

    def take(self, told: Take) -> None:
        """Know other kinds that the cluster's Kartas define."""
        self._kinds = {GVK(*kind): name for kind, name in told.kinds}


def _entry(told: Served) -> Entry:
    definition = replace(unpack(json.loads(told.packed)), source=told.source)
    return Entry(definition, told.origin)
