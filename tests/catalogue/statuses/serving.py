"""What serves models and requests."""

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.evaluation.status import Status
from tests.catalogue.statuses.states import (
    COMPLETED,
    DEGRADED,
    FAILED,
    INITIALIZING,
    RESUMING,
    RUNNING,
    SUSPENDED,
    UNDEFINED,
    States,
)

_LLM: dict[str, set[Status]] = {
    "ready": RUNNING,
    "the status is older than the spec": RUNNING,
    # Ready is False from the beginning: a Deployment below its minimum says so.
    "pods start": INITIALIZING,
    "a route on its way": INITIALIZING,
    "a base that is missing": FAILED,
    # The controller tries again, and nothing starts meanwhile.
    "objects cannot be made": DEGRADED,
    "no autoscaler to be had": DEGRADED,
    "stopped": SUSPENDED,
    "to be stopped": SUSPENDED,
    "to be started again": RESUMING,
    "no status yet": UNDEFINED,
}

_DYNAMO: dict[str, set[Status]] = {
    "successful": RUNNING,
    "the status is older than the spec": RUNNING,
    "initializing": INITIALIZING,
    "failed": FAILED,
    "no status yet": UNDEFINED,
}

SERVING: States = {
    GVK("serving.kserve.io", "v1beta1", "InferenceService"): {
        "ready": RUNNING,
        "the generation of a Deployment": RUNNING,
        "the first pods start": INITIALIZING,
        "a revision on its way": INITIALIZING,
        "the model cannot be loaded": FAILED,
        # The model before goes on answering.
        "a new model that cannot be loaded": RUNNING | DEGRADED,
        "no runtime for the model": FAILED,
        "an invalid change of a service that runs": RUNNING | DEGRADED,
        "stopped": SUSPENDED,
        "to be stopped": SUSPENDED,
        "to be started again": RESUMING,
        "no status yet": UNDEFINED,
    },
    GVK("serving.kserve.io", "v1alpha1", "ServingRuntime"): {},  # it has no status
    GVK("serving.kserve.io", "v1alpha1", "LLMInferenceService"): _LLM,
    GVK("serving.kserve.io", "v1alpha2", "LLMInferenceService"): _LLM,
    GVK("serving.knative.dev", "v1", "Service"): {
        "ready": RUNNING,
        "the status is older than the spec": RUNNING,
        "the first revision starts": INITIALIZING,
        "traffic on its way": INITIALIZING,
        "the first revision fails": FAILED,
        # The revision before has the traffic.
        "a new revision fails": DEGRADED,
        "scaled to zero": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("apps.nvidia.com", "v1alpha1", "NIMService"): {
        "ready": RUNNING,
        "not ready": INITIALIZING,
        "pending": INITIALIZING,
        "the claim is created": INITIALIZING,
        "failed": FAILED,
        "a state of another release": UNDEFINED,
        "no status yet": UNDEFINED,
    },
    GVK("apps.nvidia.com", "v1alpha1", "NIMCache"): {
        "the claim is created": INITIALIZING,
        "the job is created": INITIALIZING,
        "the job waits": INITIALIZING,
        "downloading": RUNNING,
        # A cache that is filled has nothing more to do.
        "ready": COMPLETED,
        "something is missing": DEGRADED,
        "failed": FAILED,
        "no status yet": UNDEFINED,
    },
    GVK("nvidia.com", "v1alpha1", "DynamoGraphDeployment"): {**_DYNAMO, "some services are not ready": INITIALIZING},
    GVK("nvidia.com", "v1beta1", "DynamoGraphDeployment"): {**_DYNAMO, "some components are not ready": INITIALIZING},
    GVK("grove.io", "v1alpha1", "PodCliqueSet"): {
        "all replicas available": RUNNING,
        "the status is older than the spec": RUNNING,
        "a replica starts": INITIALIZING,
        "an update in progress": INITIALIZING,
        "an update of an older release in progress": INITIALIZING,
        "after an update of an older release": RUNNING,
        "after an update": RUNNING,
        "pods replaced on delete": RUNNING,
        "idle": RUNNING,
        "objects cannot be made": INITIALIZING | DEGRADED,
        "the first objects cannot be made": DEGRADED,
        # Nobody takes an error back.
        "an error that is over": RUNNING,
        "a level of the topology is gone": RUNNING,
        "not seen by the controller": UNDEFINED,
        "no status yet": UNDEFINED,
    },
    GVK("machinelearning.seldon.io", "v1", "SeldonDeployment"): {
        "available": RUNNING,
        "creating": INITIALIZING,
        "scaled to nothing": RUNNING,
        "predictors of nothing": RUNNING,
        "one of two predictors is to have pods": INITIALIZING,
        "failed": FAILED,
        "no status yet": UNDEFINED,
    },
    GVK("milvus.io", "v1beta1", "Milvus"): {
        "healthy": RUNNING,
        "the status is older than the spec": RUNNING,
        "pending": INITIALIZING,
        "unhealthy": DEGRADED,
        "a stuck roll-out": INITIALIZING,
        "a component with an image of its own": RUNNING,
        "a component that is paused": RUNNING,
        "a component whose Deployment has yet to be handled": INITIALIZING,
        "a group of a component that does not start": INITIALIZING,
        "stopped": SUSPENDED,
        # The status says Stopped at once, the reason of a condition that pods are still there.
        "stopping": SUSPENDED,
        "no status yet": UNDEFINED,
    },
}
