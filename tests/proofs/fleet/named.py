"""The fights that the server names on a recorded day, against those that were seeded."""

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from karta_interpreter.base.k8s.patch import patched
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.fights.rounds import advanced, compared
from tests.proofs.fleet.fights import SEEDED
from tests.proofs.fleet.recording import Line

_OVERWRITES = 3


class Named(NamedTuple):
    """What the first finding about an object says, and how often Karmada had overwritten the field by then."""

    field: str
    cluster: str
    manager: str
    overwrites: int = _OVERWRITES


def misnamed(lines: Iterable[Line]) -> Iterator[str]:
    """Yield each seeded fight that is not named by the third overwrite as it should be, and each other name."""
    wanted = {seeded.name: Named(seeded.field, "member1", seeded.named) for seeded in SEEDED}
    found = dict(_named(lines))
    for name in sorted(wanted.keys() | found.keys()):
        fight, expected = found.get(name), wanted.get(name)
        if fight is None or expected is None or fight[:3] != expected[:3] or fight.overwrites > expected.overwrites:
            yield f"{name} is named as {fight} instead of {expected}"


def _named(lines: Iterable[Line]) -> Iterator[tuple[str, Named]]:
    """Yield the objects with a fight, and how each is named first."""
    rounds, overwritten = defaultdict[str, bytes](bytes), defaultdict[tuple[str, str], set[int]](set)
    seen = set[str]()
    for call in (call for call in lines if call.operation == "Retain" and call.answer.get("successful")):
        desired, observed = call.request["object"], call.request["observedObject"]
        comparison = compared(_retained(desired, call.answer.get("patch")), observed)
        if comparison is None:
            continue
        metadata, uid = observed["metadata"], observed["metadata"]["uid"]
        for each in comparison.differences:
            overwritten[uid, each.field].add(metadata["generation"])
        rounds[uid], fought = advanced(rounds[uid], comparison, int(call.time))
        if fought and uid not in seen:
            seen.add(uid)
            first, _ = fought[0]
            cluster = metadata["annotations"]["work.karmada.io/namespace"].removeprefix("karmada-es-")
            manager = first.writer.manager if first.writer else "unknown"
            yield call.request["name"], Named(first.field, cluster, manager, len(overwritten[uid, first.field]))


def _retained(desired: Object, patch: str | None) -> Object:
    return patched(desired, orjson.loads(base64.b64decode(patch))) if patch else desired
