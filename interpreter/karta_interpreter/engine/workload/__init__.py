"""Karta's Component API: a workload's structure, status and pods, read and changed as plain JSON values.

A `Karta` is a definition, ready to use. A `Workload` is an object together with the Karta of its kind. Its `Component`s
have `Instance`s, which Karta's library calls extracted instances. Everything is frozen: a change returns a new workload
that shares its unchanged parts with the old one. This package holds the questions and changes of programs. Karmada's
questions belong to `karta_interpreter.engine.operations`.
"""

from karta_interpreter.engine.evaluation import Attribution, Condition, Scale, Status, StatusMatch
from karta_interpreter.engine.workload.extraction import FragmentedPodSpec, Instance
from karta_interpreter.engine.workload.gang import EffectiveMember, PodGroup, SubGroup
from karta_interpreter.engine.workload.karta import Karta
from karta_interpreter.engine.workload.tree import ComponentNode, InstanceNode, PodNode, StrayPod, WorkloadTree
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
