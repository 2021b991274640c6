"""The messages that take a worker from what it knows to what the server knows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.transfer import pack
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.server.workers.messages import (
    Certify,
    Define,
    Drain,
    Drop,
    Hold,
    Served,
    Take,
    ToWorker,
    kind_of,
    to_json,
)
from karta_interpreter.sources.object_cache import CachedObjects
from karta_interpreter.sources.snapshot import Entry, Snapshot

_NO_OBJECTS = CachedObjects()


@dataclass(frozen=True, slots=True)
class State:
    """What a worker has to know: of a new one, nothing.

    ``holdings`` are the objects that definitions refer to, ``kinds`` those that the cluster's Kartas define, with
    their names. ``certificate`` is None for plain HTTP, and a worker begins with one.
    """

    snapshot: Snapshot = field(default_factory=Snapshot)
    holdings: Mapping[GVK, CachedObjects] = field(default_factory=dict)
    kinds: Mapping[GVK, str] = field(default_factory=dict)
    certificate: Certificate | None = None
    draining: bool = False


def difference(before: State, after: State) -> Iterator[ToWorker]:
    """Yield what has to be said to somebody who knows the one, so that he knows the other."""
    if after.certificate and before.certificate and after.certificate != before.certificate:
        yield Certify(after.certificate)
    yield from holdings(before.holdings, after.holdings)
    if after.kinds != before.kinds:
        yield Take([(kind_of(gvk), name) for gvk, name in after.kinds.items()])
    if after.snapshot is not before.snapshot:
        yield definitions(before.snapshot, after.snapshot)
    if after.draining and not before.draining:
        yield Drain()


def definitions(before: Snapshot, after: Snapshot) -> Define:
    """Return what is different between two snapshots."""
    changed = [entry for gvk, entry in after.entries.items() if entry != before.entries.get(gvk)]
    return Define(
        after.generation,
        gone=[kind_of(gvk) for gvk in before.entries if gvk not in after.entries],
        served=[_served(entry) for entry in changed],
    )


def holdings(before: Mapping[GVK, CachedObjects], after: Mapping[GVK, CachedObjects]) -> Iterator[Hold | Drop]:
    """Yield what is different between the objects that are held at two moments."""
    for gvk in before.keys() - after.keys():
        yield Drop(kind_of(gvk))
    for gvk, holding in after.items():
        if gvk not in before or not _is_same(before[gvk], holding):
            yield _hold(gvk, before.get(gvk, _NO_OBJECTS), holding)


def _served(entry: Entry) -> Served:
    return Served(entry.origin, entry.definition.source, to_json(pack(entry.definition)))


def _is_same(one: CachedObjects, other: CachedObjects) -> bool:
    # A collection is replaced when it changes, and comparing all objects of a cluster would take long.
    return one.objects is other.objects and one.problem == other.problem


def _hold(gvk: GVK, before: CachedObjects, after: CachedObjects) -> Hold:
    changed = {key: obj for key, obj in after.objects.items() if before.objects.get(key) is not obj}
    return Hold(
        kind_of(gvk),
        gone=[key for key in before.objects if key not in after.objects],
        objects={key: to_json(obj) for key, obj in changed.items()},
        problem=after.problem,
    )
