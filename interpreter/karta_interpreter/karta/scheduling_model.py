"""The `optimizationInstructions` of a Karta as they are written: advice to schedulers, without a use for Karmada."""

from typing import Annotated

from karta_interpreter.karta.schema_types import Many, PodExpressions, Schema, keyed_by


class PodGroupMember(Schema):
    """A component that takes part in a pod group."""

    component_name: str
    """Name of the component."""
    group_by_key_paths: PodExpressions = ()
    """jq on a pod; pods with the same results are of the same group."""
    filters: PodExpressions = ()
    """jq on a pod that must all be true."""


class NamedPodGroup(Schema):
    """A named pod group of the older form."""

    name: str
    """Name of the group."""
    members: Annotated[Many[PodGroupMember], keyed_by("componentName")]
    """The components whose pods it has."""


class Topology(Schema):
    """The topology levels that pods of a group should share."""

    topology_name: str
    """Name of the topology."""
    preferred_topology_level: str
    """Level that the pods should share."""
    required_topology_level: str
    """Level that the pods must share."""


class SubGroup(Schema):
    """A component that is a subgroup of the pod group."""

    component_name: str
    """Name of the component."""
    topology: Topology | None = None
    """What its pods share."""


class PodGroup(Schema):
    """The pod group of the whole workload."""

    name: str
    """Name of the group."""
    sub_groups: Annotated[Many[SubGroup], keyed_by("componentName")] = ()
    """Components whose pods form groups of their own within it."""
    topology: Topology | None = None
    """What all its pods share."""


class GangScheduling(Schema):
    """Which pods are scheduled together."""

    pod_groups: Annotated[Many[NamedPodGroup], keyed_by("name")] = ()
    """The older form; podGroup takes its place."""
    pod_group: PodGroup | None = None
    """All pods of the workload, scheduled together or not at all."""


class OptimizationInstructions(Schema):
    """Advice to schedulers; part of a definition, without a use for Karmada."""

    gang_scheduling: GangScheduling | None = None
    """Which pods are scheduled together."""
