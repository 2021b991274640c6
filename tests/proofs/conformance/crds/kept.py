"""The fields that Retain takes from a member, whatever the template sets, each with its reason."""

from typing import Final, NamedTuple


class Kept(NamedTuple):
    """How fields of some kinds, or of all, begin, and the reason."""

    kinds: tuple[str, ...]
    field: str
    reason: str

    @property
    def text(self) -> str:
        """The row in words."""
        return f"{', '.join(self.kinds) or 'all'}: {self.field}: {self.reason}"

    def explains(self, kind: str, name: str) -> bool:
        """Return whether this is the reason for a field."""
        return (not self.kinds or kind in self.kinds) and f"{name}.".startswith(f"{self.field}.")


_SWITCH: Final = "a switch that the template leaves unset is the member's"
_COUNT: Final = "a count that the template leaves unset is the member's"
_FIXED: Final = "no field of a run changes after it was made, and a webhook fills in some"
_QUEUE: Final = "a queue says which cluster runs it"
_FILLED: Final = "the webhook fills it in, when the object is made, and refuses an update without it"
_DEFAULT: Final = "a default that the webhook fills in"

KEPT: Final[tuple[Kept, ...]] = (
    Kept((), ".spec.suspend", _SWITCH),
    Kept((), ".spec.paused", _SWITCH),
    Kept((), ".spec.runPolicy.suspend", _SWITCH),
    Kept((), ".spec.replicas", _COUNT),
    Kept((), ".spec.managedBy", _QUEUE),
    Kept((), ".spec.runPolicy.managedBy", _QUEUE),
    Kept(("SparkConnect",), ".spec.dynamicAllocation.initialExecutors", _COUNT),
    Kept(("SparkConnect",), ".spec.executor.instances", _COUNT),
    Kept(("Elasticsearch",), ".spec.nodeSets[].count", _COUNT),
    Kept(("RayService",), ".spec.rayClusterConfig.suspend", _SWITCH),
    Kept(("VirtualMachine",), ".spec.runStrategy", _SWITCH),
    Kept(("VirtualMachine",), ".spec.template.spec.domain.machine.type", "the guest would find another machine"),
    Kept(("VirtualMachine",), ".spec.template.spec.terminationGracePeriodSeconds", _DEFAULT),
    Kept(("RayJob",), ".spec.jobId", "whoever submits the job in the member names it here"),
    Kept(("SparkApplication",), ".spec.restartPolicy.type", "the webhook fills in Never, and a new spec runs again"),
    Kept(("CloneSet",), ".spec.scaleStrategy.podsToDelete[]", "the controller takes pods that are gone off the list"),
    Kept(("JobSet",), ".spec.startupPolicy.startupPolicyOrder", _FILLED),
    Kept(("JobSet",), ".spec.successPolicy.operator", _FILLED),
    Kept(("JobSet",), ".spec.network", _FILLED),
    Kept(("JobSet",), ".spec.replicatedJobs[].template.spec.completionMode", _FILLED),
    Kept(("Cluster",), ".spec.imageName", _FILLED),
    Kept(("Cluster",), ".spec.bootstrap", "what nothing reads once the database exists, and the webhook completes"),
    Kept(("Cluster",), ".spec.backup.target", _DEFAULT),
    Kept(("Cluster",), ".spec.replicationSlots.synchronizeReplicas", _DEFAULT),
    Kept(("Cluster",), ".spec.probes.liveness.isolationCheck", "the webhook fills it in from an annotation"),
    Kept(("Job",), ".spec.minAvailable", _FILLED),
    Kept(("Job",), ".spec.schedulerName", _FILLED),
    Kept(("Job",), ".spec.tasks[].maxRetry", _FILLED),
    Kept(("Job",), ".spec.tasks[].minAvailable", _FILLED),
    Kept(("PipelineRun", "TaskRun"), ".spec", _FIXED),
    Kept(("VirtualMachineInstance",), ".spec", "no field of an instance changes after it was made"),
    Kept(("AppWrapper",), ".spec.components[].podSetInfos[]", "what a queue gives the pods"),
)
