"""OpenKruise's workloads."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import (
    COMPLETED,
    DEGRADED,
    FAILED,
    INITIALIZING,
    RUNNING,
    SUSPENDED,
    SUSPENDING,
    UNDEFINED,
    States,
)

_STATEFUL_SET = {
    "rolled out and available": RUNNING,
    "the status is older than the spec": RUNNING,
    "roll-out in progress": INITIALIZING,
    "a partition holds the others back": RUNNING | SUSPENDING,
    # A pause does not change what is to be reached.
    "paused in the middle": INITIALIZING | SUSPENDING,
    "updated by hand": RUNNING,
    "one pod down": INITIALIZING,
    "pods cannot be created": DEGRADED | INITIALIZING,
    "a pod cannot be updated": DEGRADED | INITIALIZING,
    "a condition that is left from before": RUNNING,
    "scaled to zero": RUNNING,
    "no status yet": UNDEFINED,
}
_DAEMON_SET = {
    "on every node": RUNNING,
    "the status is older than the spec": RUNNING,
    "roll-out in progress": INITIALIZING,
    "a partition holds the others back": RUNNING | SUSPENDING,
    "a partition in per cent": RUNNING | SUSPENDING,
    "a partition in per cent is not reached": INITIALIZING,
    "the partition holds new pods back": RUNNING | SUSPENDING,
    "new pods are held back and one pod is down": INITIALIZING | SUSPENDING,
    "only some nodes are selected": RUNNING,
    # A pause does not change what is to be reached.
    "paused": INITIALIZING | SUSPENDING,
    "paused after the roll-out": RUNNING | SUSPENDING,
    "updated by hand and one pod down": INITIALIZING,
    "no node fits": RUNNING,
    "no status yet": UNDEFINED,
}
_BROADCAST_JOB = {
    "at work": RUNNING,
    "kept for nodes to come": RUNNING,
    "no pod yet": INITIALIZING,
    "no node fits": INITIALIZING,
    "completed": COMPLETED,
    # Nodes are left that were not served.
    "completed without some nodes": COMPLETED,
    "goes on after a failure": RUNNING,
    "failed": FAILED,
    "paused": SUSPENDED,
    "paused by a failure": DEGRADED,
    "no status yet": UNDEFINED,
}
_ADVANCED_CRON_JOB = {
    "before the first run": RUNNING,
    "a run at work": RUNNING,
    "paused": SUSPENDED,
    "paused while a run is at work": RUNNING | SUSPENDING,
    "no schedule": UNDEFINED,
}
_SIDECAR_SET = {
    "every pod is updated": RUNNING,
    "no pod matches": RUNNING,
    "update in progress": INITIALIZING,
    "a pod is not ready": RUNNING,
    # A pause does not change what is to be reached.
    "paused in the middle": INITIALIZING | SUSPENDING,
    "paused after the update": RUNNING,
    "a partition holds the others back": RUNNING | SUSPENDING,
    "a partition is not reached": INITIALIZING,
    "a partition in per cent": RUNNING | SUSPENDING,
    "a partition in per cent is not reached": INITIALIZING,
    "a partition of everything": RUNNING | SUSPENDING,
    "only new pods get it": RUNNING,
    "only some pods are selected": RUNNING,
    "the status is older than the spec": RUNNING,
    "no status yet": UNDEFINED,
}

_CLONE_SET = {
    "all updated and available": RUNNING,
    "the status is older than the spec": RUNNING,
    "update in progress": INITIALIZING,
    "a partition holds the others back": RUNNING | SUSPENDING,
    "everything is held back": RUNNING | SUSPENDING,
    "one pod down": INITIALIZING,
    "pods cannot be created": DEGRADED | INITIALIZING,
    # There are more than enough of them.
    "pods cannot be deleted": RUNNING,
    "pods cannot be updated": DEGRADED | INITIALIZING,
    # A condition outlives its cause.
    "a condition that is left from before": RUNNING,
    "updated by hand": RUNNING,
    "updated by hand and a condition that is left from before": RUNNING,
    "the roll-out takes too long": FAILED | INITIALIZING,
    # The old pods are available, and count as well.
    "a stuck update with a surplus of pods": INITIALIZING,
    "a stuck update with a surplus of pods that has run out of time": FAILED | INITIALIZING,
    "new pods that are ready and not yet available": INITIALIZING,
    "a hook keeps a pod that is to be deleted": RUNNING,
    "scaled to zero": RUNNING,
    "no status yet": UNDEFINED,
}

_UNITED_DEPLOYMENT = {
    "all updated and ready": RUNNING,
    "the status is older than the spec": RUNNING,
    "update in progress": INITIALIZING,
    "partitions hold the others back": RUNNING,
    # A Deployment has no partition.
    "partitions of Deployments": INITIALIZING,
    "pods that are reserved": RUNNING,
    "pods that are reserved during an update": INITIALIZING,
    "one pod down": INITIALIZING,
    "only the subsets say how many": RUNNING,
    "only the subsets say how many, and one has fewer": INITIALIZING,
    # Its pods run on meanwhile.
    "a subset cannot be provisioned": RUNNING,
    "a subset cannot be provisioned, and its pods are missing": DEGRADED | INITIALIZING,
    "a subset reports a failure": DEGRADED | INITIALIZING,
    "a subset cannot be updated": RUNNING,
    "a stuck update of Deployments": INITIALIZING,
    "scaled to zero": RUNNING,
    "no status yet": UNDEFINED,
}

KRUISE: States = {
    GVK("apps.kruise.io", "v1alpha1", "SidecarSet"): _SIDECAR_SET,
    GVK("apps.kruise.io", "v1beta1", "SidecarSet"): _SIDECAR_SET,
    GVK("apps.kruise.io", "v1alpha1", "CloneSet"): _CLONE_SET,
    GVK("apps.kruise.io", "v1beta1", "CloneSet"): _CLONE_SET,
    GVK("apps.kruise.io", "v1alpha1", "StatefulSet"): _STATEFUL_SET,
    GVK("apps.kruise.io", "v1beta1", "StatefulSet"): _STATEFUL_SET,
    GVK("apps.kruise.io", "v1alpha1", "DaemonSet"): _DAEMON_SET,
    GVK("apps.kruise.io", "v1beta1", "DaemonSet"): _DAEMON_SET,
    GVK("apps.kruise.io", "v1alpha1", "BroadcastJob"): _BROADCAST_JOB,
    GVK("apps.kruise.io", "v1beta1", "BroadcastJob"): _BROADCAST_JOB,
    GVK("apps.kruise.io", "v1alpha1", "AdvancedCronJob"): _ADVANCED_CRON_JOB,
    GVK("apps.kruise.io", "v1beta1", "AdvancedCronJob"): {**_ADVANCED_CRON_JOB, "images are being pulled": RUNNING},
    GVK("apps.kruise.io", "v1alpha1", "UnitedDeployment"): _UNITED_DEPLOYMENT,
    GVK("apps.kruise.io", "v1beta1", "UnitedDeployment"): _UNITED_DEPLOYMENT,
}
