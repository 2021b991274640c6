"""The report about the workloads of a member, or of a folder that holds what a member showed."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from karta_interpreter.base.k8s import GVK
from karta_interpreter.clusters.member import Member, WorkloadSelection
from karta_interpreter.clusters.saved import Saved, read_about, read_workloads, save
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.verification import Evidence, Report, verify_all


async def verify_member(
    api: ApiServer, definitions: Sequence[Definition], selection: WorkloadSelection, folder: Path | None = None
) -> Report:
    """Read a member, and return the report about it. Save what was read, if a folder is given. Raises ClusterError."""
    member, now = Member(api, selection), time.time()
    workloads = await member.read(definitions)
    state = Saved(now, tuple(member.crds.values()), tuple(member.references), tuple(member.problems))
    if folder:
        member.problems += save(folder, state, _shown(member, state, workloads))
    return verify_all(_shown(member, state, workloads), member.crds.get, member.problems)


def _shown(
    member: Member, state: Saved, workloads: Iterable[tuple[Definition, str]]
) -> Iterator[tuple[Definition, Evidence]]:
    for definition, uid in workloads:
        yield definition, member.evidence(uid, state.time, state.reader)


def verify_folder(folder: Path, definitions: Sequence[Definition], selection: WorkloadSelection) -> Report:
    """Return the report about a saved folder. Raises RecordingError."""
    state, by_kind = read_about(folder), {definition.gvk: definition for definition in definitions}

    def workloads() -> Iterator[tuple[Definition, Evidence]]:
        for evidence in read_workloads(folder, state):
            definition = by_kind.get(GVK.of(evidence.object))
            if definition and selection.takes(evidence.object):
                yield definition, evidence

    return verify_all(workloads(), state.crd, state.problems)
