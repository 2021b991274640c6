"""The workloads of a member as they run: each with its tree of components and pods."""

from collections.abc import Sequence
from typing import NamedTuple

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s import full_name
from karta_interpreter.clusters.member import Member, WorkloadSelection
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.workload import Karta, Workload, WorkloadTree


class LiveWorkloads(NamedTuple):
    """The trees of the selected workloads, what could not be read, and where they were looked for."""

    trees: tuple[WorkloadTree, ...]
    problems: tuple[str, ...]
    place: str


async def read_live(
    api: ApiServer, definitions: Sequence[Definition], selection: WorkloadSelection, *, all_namespaces: bool
) -> LiveWorkloads:
    """Read the selected workloads with their pods. Raises ClusterError."""
    selection, place = await selection.within(api, all_namespaces=all_namespaces)
    member = Member(api, selection)
    workloads = await member.read_workloads(definitions)
    await member.look_up({reference.gvk for definition, _ in workloads for reference in definition.references})
    trees = list[WorkloadTree]()
    for definition, uid in workloads:
        shown = member.evidence(uid, 0, Known({}))
        pods = shown.own or member.selected_pods(definition, shown.object)
        try:
            workload = Workload(Karta(definition), shown.object).with_references(member.references)
            trees.append(WorkloadTree.build(workload, pods, shown.owners))
        except InterpreterError as error:
            member.problems.append(f"{definition.gvk.kind} {full_name(shown.object.get('metadata'))}: {error}")
    return LiveWorkloads(tuple(trees), tuple(member.problems), place)
