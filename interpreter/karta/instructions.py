"""The `optimizationInstructions` of a Karta: advice to schedulers, without a use for Karmada."""

from interpreter.karta.notation import Many, PodExpressions, Schema


class PodGroupMember(Schema):
    """A component that takes part in a pod group."""

    component_name: str
    group_by_key_paths: PodExpressions = ()
    filters: PodExpressions = ()


class NamedPodGroup(Schema):
    """A named pod group of the older form."""

    name: str
    members: Many[PodGroupMember]


class Topology(Schema):
    """The topology levels that pods of a group should share."""

    topology_name: str
    preferred_topology_level: str
    required_topology_level: str


class SubGroup(Schema):
    """A component that is a subgroup of the pod group."""

    component_name: str
    topology: Topology | None = None


class PodGroup(Schema):
    """The pod group of the whole workload."""

    name: str
    sub_groups: Many[SubGroup] = ()
    topology: Topology | None = None


class GangScheduling(Schema):
    """Which pods are scheduled together."""

    pod_groups: Many[NamedPodGroup] = ()
    pod_group: PodGroup | None = None


class OptimizationInstructions(Schema):
    """Advice to schedulers; part of a definition, without a use for Karmada."""

    gang_scheduling: GangScheduling | None = None
