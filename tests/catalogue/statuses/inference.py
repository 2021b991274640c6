"""Kinds that serve models in groups of pods."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import DEGRADED, FAILED, INITIALIZING, RUNNING, SUSPENDING, UNDEFINED, States

INFERENCE: States = {
    GVK("disaggregatedset.x-k8s.io", "v1", "DisaggregatedSet"): {
        # Nothing shows that it does not run.
        "no status, as release 0.10 has it": RUNNING,
        "available": RUNNING,
        "groups starting": INITIALIZING,
        "rolling update": INITIALIZING,
        "scaled to zero": RUNNING,
        "the status is older than the spec": RUNNING,
        "neither available nor progressing": UNDEFINED,
        "no roles": UNDEFINED,
    },
    GVK("workload.serving.volcano.sh", "v1alpha1", "ModelServing"): {
        "available": RUNNING,
        "available, and a group is missing": INITIALIZING,
        "groups starting": INITIALIZING,
        "a group is being recreated": INITIALIZING,
        "rolling update": INITIALIZING,
        "at its partition": RUNNING,
        "the status is older than the spec": INITIALIZING,
        "scaled down to zero": RUNNING,
        "never had a group": RUNNING,
        "groups not created yet": UNDEFINED,
        "no status yet": UNDEFINED,
    },
    GVK("orchestration.aibrix.ai", "v1alpha1", "StormService"): {
        "ready": RUNNING,
        "ready by pods of the template before": INITIALIZING,
        "RoleSets starting": INITIALIZING,
        "rolling update": INITIALIZING,
        "a roll-out that is paused": RUNNING | INITIALIZING | SUSPENDING,
        "a roll-out that is paused, and one is not ready": INITIALIZING | SUSPENDING,
        "RoleSets cannot be created": DEGRADED,
        "scaled to zero": RUNNING,
        "the status is older than the spec": INITIALIZING,
        "no status yet": UNDEFINED,
    },
    GVK("orchestration.aibrix.ai", "v1alpha1", "RayClusterFleet"): {
        "rolled out and available": RUNNING,
        "a roll-out in progress": INITIALIZING,
        "a RayCluster has lost a pod": INITIALIZING,
        "a RayCluster does not become ready": INITIALIZING,
        "the roll-out has stalled": FAILED | INITIALIZING,
        "RayClusters cannot be created": DEGRADED | INITIALIZING,
        "paused after the roll-out": RUNNING | SUSPENDING,
        "scaled to zero": RUNNING,
        "replicas unset": RUNNING,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("orchestration.aibrix.ai", "v1alpha1", "RoleSet"): {
        "ready": RUNNING,
        "ready by pods of the template before": INITIALIZING,
        "pods starting": INITIALIZING,
        "rolling update": INITIALIZING,
        "pods cannot be created": INITIALIZING | DEGRADED,
        "scaled to zero": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup"): {
        "ready": RUNNING,
        "a role is not ready": INITIALIZING,
        "scaled to zero": RUNNING,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
}
