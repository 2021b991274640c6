"""Karta's Component API: a workload's structure, status and pods, read and changed as plain JSON values.

A `Karta` is a definition, ready to use; a `Workload` is an object together with the Karta of its kind; its
`Component`s have `Instance`s, which is what Karta's library calls extracted instances. Everything is frozen: a
change gives a new workload, which shares what did not change with the one before it. Here belongs what programs
ask and change; what Karmada asks belongs to `karta_interpreter.engine.operations`.
"""

from karta_interpreter.engine.evaluation.scale import Scale
from karta_interpreter.engine.evaluation.status import Condition, Status, StatusMatch
from karta_interpreter.engine.workload.extraction import FragmentedPodSpec, Instance
from karta_interpreter.engine.workload.gang.attribution import Attribution
from karta_interpreter.engine.workload.gang.groups import EffectiveMember, PodGroup, SubGroup
from karta_interpreter.engine.workload.karta import Karta
from karta_interpreter.engine.workload.tree import ComponentNode, InstanceNode, PodNode, StrayPod, WorkloadTree
from karta_interpreter.engine.workload.updates import PodChanges
from karta_interpreter.engine.workload.workload import Component, Workload

__all__ = [
    "Attribution",
    "Component",
    "ComponentNode",
    "Condition",
    "EffectiveMember",
    "FragmentedPodSpec",
    "Instance",
    "InstanceNode",
    "Karta",
    "PodChanges",
    "PodGroup",
    "PodNode",
    "Scale",
    "Status",
    "StatusMatch",
    "StrayPod",
    "SubGroup",
    "Workload",
    "WorkloadTree",
]
