"""Kubeflow's training jobs, of both generations, and notebooks."""

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.evaluation.status import Status
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

# One function of the training operator (setCondition in pkg/util/status.go) writes the conditions of all six.
_TRAINING: dict[str, set[Status]] = {
    "running": RUNNING,
    # Created stays True whatever comes, so it means something only alone.
    "created only": INITIALIZING,
    "succeeded": COMPLETED,
    "failed": FAILED,
    "restarting": DEGRADED,
    # Succeeded and Failed leave Restarting as it was.
    "succeeded after a restart": COMPLETED,
    "failed after a restart": FAILED,
    "suspended": SUSPENDED,
    "it waits for MultiKueue": SUSPENDED,
    # Neither does Suspended.
    "suspended during a restart": SUSPENDED,
    "resumed and not yet running": INITIALIZING,
    "no status yet": UNDEFINED,
}

KUBEFLOW: States = {
    GVK("kubeflow.org", "v1", "PyTorchJob"): _TRAINING | {"running, with a null among the conditions": RUNNING},
    GVK("kubeflow.org", "v1", "TFJob"): _TRAINING,
    GVK("kubeflow.org", "v1", "XGBoostJob"): _TRAINING,
    GVK("kubeflow.org", "v1", "PaddleJob"): _TRAINING,
    GVK("kubeflow.org", "v1", "JAXJob"): _TRAINING,
    GVK("kubeflow.org", "v1", "MPIJob"): {
        **_TRAINING,
        # Nothing is written after Failed: the job is over.
        "workers were evicted": FAILED,
    },
    GVK("kubeflow.org", "v2beta1", "MPIJob"): {
        "running": RUNNING,
        "created only": INITIALIZING,
        "succeeded": COMPLETED,
        "failed": FAILED,
        # This operator goes on after it: the launcher may yet succeed.
        "workers were evicted": DEGRADED,
        "running again after an eviction": RUNNING,
        "succeeded after an eviction": COMPLETED,
        "suspended": SUSPENDED,
        "resumed and not yet running": INITIALIZING,
        "no status yet": UNDEFINED,
        "it waits for MultiKueue": SUSPENDED,
        "all pods run again after an eviction, as 0.8 says it": RUNNING,
        "a worker is missing after an eviction, as 0.8 says it": DEGRADED,
    },
    GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob"): {
        "running": RUNNING,
        "starting": INITIALIZING,
        "between two jobs": INITIALIZING,
        "a Job has failed": DEGRADED,
        "complete": COMPLETED,
        "failed": FAILED,
        "a runtime that is not supported": FAILED,
        "suspended": SUSPENDED,
        "resumed": INITIALIZING,
        "no status yet": UNDEFINED,
        "it waits for MultiKueue": SUSPENDED,
        "resumed, and no job has reported yet": INITIALIZING,
        "just suspended": SUSPENDING,
        "suspended again and not yet seen": SUSPENDING,
    },
    GVK("kubeflow.org", "v1", "Notebook"): {
        "ready": RUNNING,
        "started and not ready": INITIALIZING,
        "the container is created": INITIALIZING,
        "no place for the pod": INITIALIZING,
        "it crashes again and again": DEGRADED,
        "the image cannot be pulled": DEGRADED,
        "it ran out of memory": DEGRADED,
        # Without an error it is only started again.
        "its user shut it down": INITIALIZING,
        "ready with a container of another name": RUNNING,
        "being stopped": SUSPENDING,
        "stopped": SUSPENDED,
        "no status yet": UNDEFINED,
    },
}
