"""Laws on the recorded day: what the catalogue answers, and which fights are named."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from karta_interpreter.cli.changes import CATALOGUE, Side
from karta_interpreter.cli.replay import Findings, Replay
from tests.proofs.fleet.multiply import copied, object_of
from tests.proofs.fleet.named import misnamed
from tests.proofs.fleet.recording import calls, read, written
from tests.support.examples import SWEEPS_ALL

_ANSWERS_DIFFER: Mapping[tuple[str, str], str] = {
    **dict.fromkeys(
        [("RayCluster", "InterpretStatus"), ("RayCluster", "InterpretHealth"), ("RayCluster", "AggregateStatus")],
        "KubeRay leaves the observedGeneration behind, so the generations are neither reported nor compared any more",
    ),
    ("CloneSet", "AggregateStatus"): "a counter that one member lacks is left out, unless its other counters tell it",
    ("Deployment", "AggregateStatus"): "the types of Kubernetes leave an empty list of conditions out",
    **dict.fromkeys(
        [("Job", "InterpretHealth"), ("JobSet", "InterpretHealth")],
        "an object that is created suspended is at rest before its controller writes a status",
    ),
    **dict.fromkeys(
        [("LeaderWorkerSet", "InterpretReplica"), ("LeaderWorkerSet", "ReviseReplica")],
        "groups are counted, not their pods",
    ),
    **dict.fromkeys(
        [("LeaderWorkerSet", "InterpretHealth"), ("UnitedDeployment", "InterpretHealth")],
        "the operator writes the generation late, and as many pods as are wanted are ready",
    ),
}
"""Kinds and operations whose recorded answers are not those of the catalogue, with the reason."""
_FEW = 200
_COPY = 7

pytestmark = pytest.mark.sweep
_whole_day = pytest.mark.skipif(not SWEEPS_ALL, reason="reads the whole day")


def test_catalogue_answers_recorded_questions_as_itself(tmp_path: Path) -> None:
    findings = _replayed(tmp_path, CATALOGUE)
    assert (findings.different, findings.asked.total() > 0) == (0, True)


def test_recorded_answers_are_those_of_the_catalogue(tmp_path: Path) -> None:
    findings = _replayed(tmp_path)
    unread = {reason for reason in findings.left_out if "damaged" in reason or "not a call" in reason}
    assert (_differing(findings), unread) == (set(), set())


def test_answers_of_copies_are_those_of_the_catalogue(tmp_path: Path) -> None:
    some = islice(calls(), 0, None if SWEEPS_ALL else _FEW, 11)
    lines = [copied(call, _COPY) for call in some if object_of(call)]
    findings = Replay(None, Side([CATALOGUE])).file(written(tmp_path, lines))
    assert (_differing(findings), findings.asked.total()) == (set(), len(lines))


@_whole_day
def test_seeded_fights_are_named_by_their_third_overwrite_and_nothing_else() -> None:
    assert [*misnamed(read())] == []


def _differing(findings: Findings) -> set[tuple[str, str]]:
    return {(key.gvk.kind, str(key.operation)) for key in findings.groups} - _ANSWERS_DIFFER.keys()


def _replayed(folder: Path, *before: str) -> Findings:
    file = written(folder, calls() if SWEEPS_ALL else islice(calls(), _FEW))
    return Replay(Side(before) if before else None, Side([CATALOGUE])).file(file)
