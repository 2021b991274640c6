"""Karta's Component API: a workload's structure, status and pods, read and changed as plain JSON values.

A `Karta` is a definition, ready to use; a `Workload` is an object together with the Karta of its kind; its
`Component`s have `Instance`s, which is what Karta's library calls extracted instances. Everything is frozen: a
change gives a new workload, which shares what did not change with the one before it. Here belongs what programs
ask and change; what Karmada asks belongs to `interpreter.operations`.
"""

from interpreter.karta.pod_rules import Topology
from interpreter.karta.scale import Scale
from interpreter.karta.status import Condition, Status, StatusMatch
from interpreter.workload.attribution import Attribution
from interpreter.workload.changes import PodChanges
from interpreter.workload.component import Component
from interpreter.workload.fragments import FragmentedPodSpec
from interpreter.workload.gang import PodGroup, SubGroup
from interpreter.workload.instance import Instance
from interpreter.workload.karta import Karta
from interpreter.workload.membership import EffectiveMember
from interpreter.workload.nodes import ComponentNode, InstanceNode, PodNode
from interpreter.workload.tree import StrayPod, WorkloadTree
from interpreter.workload.workload import Workload

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
    "Topology",
    "Workload",
    "WorkloadTree",
]
