"""Runs of pipelines, and searches."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import (
    COMPLETED,
    FAILED,
    INITIALIZING,
    RUNNING,
    SUSPENDED,
    UNDEFINED,
    States,
)

PIPELINES: States = {
    GVK("kubeflow.org", "v1beta1", "Experiment"): {
        "no status yet": UNDEFINED,
        "created": INITIALIZING,
        "running": RUNNING,
        "the goal is reached": COMPLETED,
        "too many trials have failed": FAILED,
        # It stays in the state until new trials are there.
        "restarted": INITIALIZING,
        "running after a restart": RUNNING,
    },
    GVK("tekton.dev", "v1", "TaskRun"): {
        "running": RUNNING,
        "started": INITIALIZING,
        "no room": INITIALIZING,
        "to be tried again": INITIALIZING,
        "pending": SUSPENDED,
        "succeeded": COMPLETED,
        # Somebody has ended it.
        "cancelled": COMPLETED,
        "a step has failed": FAILED,
        "out of time": FAILED,
        "no status yet": UNDEFINED,
        "it waits for another manager": SUSPENDED,
    },
    GVK("tekton.dev", "v1", "PipelineRun"): {
        "running": RUNNING,
        "a task has failed": RUNNING,
        "cancelled, with tasks to end it": RUNNING,
        "stopped, with tasks to end it": RUNNING,
        "out of time, with tasks to end it": RUNNING,
        "started": INITIALIZING,
        "its pipeline is looked up": INITIALIZING,
        "its tasks are looked up": INITIALIZING,
        "pending": SUSPENDED,
        "succeeded": COMPLETED,
        "completed": COMPLETED,
        "cancelled": COMPLETED,
        "failed": FAILED,
        "no pipeline to be had": FAILED,
        "no status yet": UNDEFINED,
        "it waits for another manager": SUSPENDED,
    },
}
