"""Batch, data and delivery: Volcano, Spark, Flink, Argo, AppWrapper."""

from interpreter.k8s.gvk import GVK
from tests.catalogue.statuses.states import (
    COMPLETED,
    DEGRADED,
    FAILED,
    INITIALIZING,
    RESUMING,
    RUNNING,
    SUSPENDED,
    SUSPENDING,
    UNDEFINED,
    States,
)

BATCH: States = {
    GVK("batch.volcano.sh", "v1alpha1", "Job"): {
        "pending": INITIALIZING,
        "running": RUNNING,
        "being restarted": DEGRADED,
        # Its outcome is certain, only pods have still to go.
        "completing": COMPLETED,
        "completed": COMPLETED,
        "being aborted": SUSPENDING,
        # A Command may resume it.
        "aborted": SUSPENDED,
        "being terminated": FAILED,
        "terminated": FAILED,
        "failed": FAILED,
        "no status yet": UNDEFINED,
    },
    GVK("sparkoperator.k8s.io", "v1beta2", "SparkApplication"): {
        "submitted": INITIALIZING,
        "running": RUNNING,
        # Whether it has come to its end is for the restart policy.
        "the driver is done": RUNNING,
        "completed": COMPLETED,
        "failing": DEGRADED,
        "failed": FAILED,
        # It is submitted again, if its policy says so.
        "cannot be submitted": DEGRADED,
        "to be run again": INITIALIZING,
        "the spec has changed": INITIALIZING,
        "the driver cannot be seen": UNDEFINED,
        "being suspended": SUSPENDING,
        "suspended": SUSPENDED,
        "being resumed": RESUMING,
        "no status yet": UNDEFINED,
    },
    GVK("flink.apache.org", "v1beta1", "FlinkDeployment"): {
        "the job runs": RUNNING,
        "the job runs, and may be rolled back": RUNNING,
        "a session cluster": RUNNING,
        "a session cluster that starts": INITIALIZING,
        "not yet handled": INITIALIZING,
        "the job starts": INITIALIZING,
        "the JobManager comes back": INITIALIZING,
        "tasks are started again": DEGRADED,
        "failed": FAILED,
        "finished": COMPLETED,
        "cancelled": COMPLETED,
        "being upgraded": INITIALIZING,
        # What runs is not what the spec asks for.
        "being rolled back": DEGRADED,
        "rolled back": DEGRADED,
        # The operator still looks for the job, whose JobManager will not come.
        "the JobManager cannot be deployed": FAILED | INITIALIZING,
        "the JobManager is gone": DEGRADED | INITIALIZING,
        "suspended": SUSPENDED,
        "being suspended": SUSPENDING | DEGRADED,
        "being resumed": RESUMING,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("argoproj.io", "v1alpha1", "Workflow"): {
        "running": RUNNING,
        "between two steps": RUNNING,
        "pending": INITIALIZING,
        "succeeded": COMPLETED,
        "failed": FAILED,
        "in error": FAILED,
        "suspended": SUSPENDED,
        # No new pod is started, and those that run go on to their end.
        "suspended while a pod is at work": RUNNING | SUSPENDING,
        "suspended after it has ended": COMPLETED,
        "no status yet": UNDEFINED,
    },
    GVK("argoproj.io", "v1alpha1", "Rollout"): {
        "healthy": RUNNING,
        "a roll-out in progress": INITIALIZING,
        # Both versions serve while somebody is awaited.
        "paused at a step": RUNNING,
        "paused without its pods": INITIALIZING,
        "degraded": DEGRADED,
        "an invalid spec": DEGRADED,
        "pods cannot be created": DEGRADED | INITIALIZING,
        "the status is older than the spec": RUNNING,
        "observed by an old controller": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("workload.codeflare.dev", "v1beta2", "AppWrapper"): {
        "running": RUNNING,
        # Its phase is Running as soon as what it wraps is there.
        "deployed and not yet running": INITIALIZING,
        "just deployed": INITIALIZING,
        "a pod has failed": RUNNING | DEGRADED,
        "being made again": DEGRADED,
        "succeeded": COMPLETED,
        "succeeded after a failure": COMPLETED,
        "failed": FAILED | DEGRADED,
        "waiting for quota": SUSPENDED,
        "being suspended": SUSPENDING,
        "being resumed": RESUMING,
        "no status yet": UNDEFINED,
    },
}
