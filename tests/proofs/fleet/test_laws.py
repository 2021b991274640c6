"""Laws on the recorded day: what the catalogue answers, and which fights are named."""

import base64
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from karta_interpreter.base.k8s.patch import patched
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.cli.replay_calls import Findings, Replay
from karta_interpreter.cli.sides import CATALOGUE, side_of
from karta_interpreter.engine.fights.rounds import advanced, compared
from tests.proofs.fleet.fights import SEEDED
from tests.proofs.fleet.multiply import copied, object_of
from tests.proofs.fleet.recording import calls, read, written
from tests.support.examples import SWEEPS_ALL

_ANSWERS_DIFFER: Mapping[tuple[str, str], str] = {}
"""Kinds and operations whose recorded answers are not those of the catalogue, with the reason."""
_FEW = 200
_OVERWRITES = 3
_COPY = 7

pytestmark = pytest.mark.sweep
_whole_day = pytest.mark.skipif(not SWEEPS_ALL, reason="reads the whole day")


def test_catalogue_answers_recorded_questions_as_itself(tmp_path: Path) -> None:
    findings = _replayed(tmp_path, CATALOGUE)
    assert (findings.different, findings.asked.total() > 0) == (0, True)


def test_recorded_answers_are_those_of_the_catalogue(tmp_path: Path) -> None:
    findings = _replayed(tmp_path)
    differ = {(key.gvk.kind, str(key.operation)) for key in findings.groups}
    unread = {reason for reason in findings.left_out if "damaged" in reason or "not a call" in reason}
    assert (differ - _ANSWERS_DIFFER.keys(), unread) == (set(), set())


def test_answers_of_copies_are_those_of_the_catalogue(tmp_path: Path) -> None:
    some = islice(calls(), 0, None if SWEEPS_ALL else _FEW, 11)
    lines = [copied(call, _COPY) for call in some if object_of(call)]
    with ExitStack() as stack:
        findings = Replay(None, side_of([CATALOGUE], stack)).file(written(tmp_path, lines))
    assert (findings.different, findings.asked.total()) == (0, len(lines))


@_whole_day
def test_seeded_fights_are_named_by_their_third_overwrite_and_nothing_else() -> None:
    found = dict(_named())
    wanted = {seeded.name: Named(seeded.field, "member1", seeded.named) for seeded in SEEDED}
    assert {name: named for name, (named, _) in found.items()} == wanted
    assert {name: overwrites for name, (_, overwrites) in found.items() if overwrites > _OVERWRITES} == {}


class Named(NamedTuple):
    field: str
    cluster: str
    manager: str


def _named() -> Iterator[tuple[str, tuple[Named, int]]]:
    """Yield the objects with a fight, how each is named first, and how often Karmada had overwritten the field."""
    rounds, overwritten = defaultdict[str, bytes](bytes), defaultdict[tuple[str, str], set[int]](set)
    seen = set[str]()
    for call in (call for call in read() if call.operation == "Retain" and call.answer.get("successful")):
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
            named = Named(first.field, cluster, first.writer.manager if first.writer else "unknown")
            yield call.request["name"], (named, len(overwritten[uid, first.field]))


def _retained(desired: Object, patch: str | None) -> Object:
    return patched(desired, orjson.loads(base64.b64decode(patch))) if patch else desired


def _replayed(folder: Path, *before: str) -> Findings:
    file = written(folder, calls() if SWEEPS_ALL else islice(calls(), _FEW))
    with ExitStack() as stack:
        return Replay(side_of(before, stack) if before else None, side_of([CATALOGUE], stack)).file(file)
