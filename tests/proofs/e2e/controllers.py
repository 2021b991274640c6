"""What the controllers of the kinds would write: members run none, so the tests play them.

A controller has one function per state that its kind can be in: it returns the status of a member's object. ``whole``
is what the template's status must show, whatever else, once the members have all reported that they run.
"""

from collections.abc import Iterable
from typing import ClassVar

from tests.proofs.rig.api import Object

_T0, _T1 = "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z"


def condition(kind: str, status: str = "True", **more: str) -> Object:
    """Return a condition as controllers write them."""
    return {"type": kind, "status": status, "reason": f"{kind}Seen", "lastTransitionTime": _T0} | more


class Deployment:
    """apps/v1 Deployment."""

    @staticmethod
    def running(thing: Object) -> Object:
        count = thing["spec"]["replicas"]
        counters = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
        conditions = [condition("Available", lastUpdateTime=_T0)]
        return {"observedGeneration": thing["metadata"]["generation"], "conditions": conditions} | counters

    @staticmethod
    def starting(thing: Object) -> Object:
        count = thing["spec"]["replicas"]
        seen = {"observedGeneration": thing["metadata"]["generation"]}
        return seen | {"replicas": count, "updatedReplicas": count, "unavailableReplicas": count}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        count = sum(thing["spec"]["replicas"] for thing in things)
        counters = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
        return counters | {"conditions": [{"type": "Available", "status": "True"}]}


class Job:
    """batch/v1 Job."""

    # While a pod of any cluster runs, the Job as a whole is no more than about to fail: the API server refuses Failed.
    conditions: ClassVar = {"suspended": "Suspended", "completed": "Complete", "failed": "FailureTarget"}

    @staticmethod
    def running(thing: Object) -> Object:
        count = thing["spec"]["parallelism"]
        return {"startTime": _T0, "active": count, "ready": count, "uncountedTerminatedPods": {}}

    @staticmethod
    def starting(thing: Object) -> Object:
        return {"startTime": _T0, "active": thing["spec"]["parallelism"], "ready": 0, "uncountedTerminatedPods": {}}

    @staticmethod
    def suspended(_: Object) -> Object:
        return {"conditions": [condition("Suspended", lastProbeTime=_T0)]}

    @staticmethod
    def resumed(thing: Object) -> Object:
        return Job.running(thing) | {
            "startTime": _T1,
            "conditions": [condition("Suspended", "False", lastProbeTime=_T1)],
        }

    @staticmethod
    def completed(thing: Object) -> Object:
        conditions = [condition(name, lastProbeTime=_T1) for name in ("SuccessCriteriaMet", "Complete")]
        ended = {"startTime": _T0, "completionTime": _T1, "conditions": conditions, "uncountedTerminatedPods": {}}
        return ended | {"succeeded": thing["spec"]["completions"], "ready": 0}

    @staticmethod
    def failed(_: Object) -> Object:
        conditions = [condition(name, lastProbeTime=_T1) for name in ("FailureTarget", "Failed")]
        return {"startTime": _T0, "failed": 7, "ready": 0, "conditions": conditions, "uncountedTerminatedPods": {}}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        return {"startTime": _T0, "active": sum(thing["spec"]["parallelism"] for thing in things)}


class JobSet:
    """jobset.x-k8s.io/v1alpha2 JobSet."""

    conditions: ClassVar = {"suspended": "Suspended", "completed": "Completed", "failed": "Failed"}

    @staticmethod
    def running(thing: Object) -> Object:
        return {"restarts": 0, "replicatedJobsStatus": _children(thing, "active", "ready")}

    @staticmethod
    def starting(thing: Object) -> Object:
        return {"restarts": 0, "replicatedJobsStatus": _children(thing, "active")}

    @staticmethod
    def suspended(thing: Object) -> Object:
        return {"replicatedJobsStatus": _children(thing, "suspended"), "conditions": [condition("Suspended")]}

    @staticmethod
    def completed(thing: Object) -> Object:
        outcome = {"terminalState": "Completed", "conditions": [condition("Completed")]}
        return outcome | {"replicatedJobsStatus": _children(thing, "succeeded")}

    @staticmethod
    def failed(thing: Object) -> Object:
        outcome = {"terminalState": "Failed", "conditions": [condition("Failed")]}
        return outcome | {"replicatedJobsStatus": _children(thing, "failed")}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        reports = [child for thing in things for child in _children(thing, "active", "ready")]
        counts = [(name, _total(reports, name)) for name in ("driver", "workers")]
        return {"replicatedJobsStatus": [{"name": name, "active": count, "ready": count} for name, count in counts]}


def _children(thing: Object, *counters: str) -> list[Object]:
    zeros = dict.fromkeys(("ready", "succeeded", "failed", "active", "suspended"), 0)
    jobs = thing["spec"]["replicatedJobs"]
    return [{"name": job["name"]} | zeros | dict.fromkeys(counters, job["replicas"]) for job in jobs]


def _total(reports: Iterable[Object], name: str) -> int:
    return sum(child["active"] for child in reports if child["name"] == name)


class PyTorchJob:
    """kubeflow.org/v1 PyTorchJob."""

    conditions: ClassVar = {"suspended": "Suspended", "completed": "Succeeded", "failed": "Failed"}

    @staticmethod
    def running(thing: Object) -> Object:
        conditions = [condition("Created"), condition("Running")]
        return {"startTime": _T0, "conditions": conditions, "replicaStatuses": _roles(thing, "active")}

    @staticmethod
    def starting(_: Object) -> Object:
        return {"startTime": _T0, "conditions": [condition("Created")]}

    @staticmethod
    def suspended(_: Object) -> Object:
        return {"conditions": [condition("Created"), condition("Running", "False"), condition("Suspended")]}

    @staticmethod
    def completed(thing: Object) -> Object:
        conditions = [condition("Created"), condition("Running", "False"), condition("Succeeded")]
        ended = {"startTime": _T0, "completionTime": _T1, "conditions": conditions}
        return ended | {"replicaStatuses": _roles(thing, "succeeded")}

    @staticmethod
    def failed(thing: Object) -> Object:
        conditions = [condition("Created"), condition("Running", "False"), condition("Failed")]
        ended = {"startTime": _T0, "completionTime": _T1, "conditions": conditions}
        return ended | {"replicaStatuses": _roles(thing, "failed")}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        reports = [_roles(thing, "active") for thing in things]
        sums = {role: {"active": sum(report[role]["active"] for report in reports)} for role in ("Master", "Worker")}
        return {"startTime": _T0, "replicaStatuses": sums, "conditions": [{"type": "Running", "status": "True"}]}


def _roles(thing: Object, counter: str) -> Object:
    roles = thing["spec"]["pytorchReplicaSpecs"]
    return {role: {counter: spec["replicas"]} for role, spec in roles.items()}


class RayCluster:
    """ray.io/v1 RayCluster."""

    conditions: ClassVar = {"suspended": "RayClusterSuspended"}

    @staticmethod
    def running(thing: Object) -> Object:
        conditions = [condition("HeadPodReady"), condition("RayClusterProvisioned")]
        workers = sum(group["replicas"] for group in thing["spec"]["workerGroupSpecs"])
        counters = dict.fromkeys(("desiredWorkerReplicas", "availableWorkerReplicas", "readyWorkerReplicas"), workers)
        return _ray(thing) | {"state": "ready", "conditions": conditions} | counters

    @staticmethod
    def starting(thing: Object) -> Object:
        conditions = [condition("HeadPodReady", "False"), condition("RayClusterProvisioned", "False")]
        return _ray(thing) | {"conditions": conditions}

    @staticmethod
    def suspended(thing: Object) -> Object:
        conditions = [condition("RayClusterProvisioned", "False"), condition("RayClusterSuspended")]
        return _ray(thing) | {"state": "suspended", "conditions": conditions}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        workers = sum(group["replicas"] for thing in things for group in thing["spec"]["workerGroupSpecs"])
        conditions = [{"type": name, "status": "True"} for name in ("HeadPodReady", "RayClusterProvisioned")]
        return {"state": "ready", "availableWorkerReplicas": workers, "conditions": conditions}


def _ray(thing: Object) -> Object:
    return {"observedGeneration": thing["metadata"]["generation"]}


class LeaderWorkerSet:
    """leaderworkerset.x-k8s.io/v1 LeaderWorkerSet."""

    @staticmethod
    def running(thing: Object) -> Object:
        counters = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), thing["spec"]["replicas"])
        return counters | {"conditions": [condition("Available"), condition("Progressing", "False")]}

    @staticmethod
    def starting(thing: Object) -> Object:
        counters = {"replicas": thing["spec"]["replicas"], "readyReplicas": 0, "updatedReplicas": 0}
        return counters | {"conditions": [condition("Available", "False"), condition("Progressing")]}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        count = sum(thing["spec"]["replicas"] for thing in things)
        conditions = [{"type": "Available", "status": "True"}]
        return dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), count) | {"conditions": conditions}


class FlinkDeployment:
    """flink.apache.org/v1beta1 FlinkDeployment: one job, whose id is that of its object."""

    @staticmethod
    def running(thing: Object) -> Object:
        job = {"jobId": thing["metadata"]["uid"], "state": "RUNNING"}
        return {"lifecycleState": "STABLE", "jobManagerDeploymentStatus": "READY", "jobStatus": job}

    @staticmethod
    def starting(thing: Object) -> Object:
        job = {"jobId": thing["metadata"]["uid"], "state": "RECONCILING"}
        return {"lifecycleState": "DEPLOYED", "jobManagerDeploymentStatus": "DEPLOYING", "jobStatus": job}

    @staticmethod
    def whole(_: list[Object]) -> Object:
        return {"lifecycleState": "STABLE", "jobStatus": {"state": "RUNNING"}}

    @staticmethod
    def restored(thing: Object, replaced: str) -> Object:
        """Return the object as a mutation in the member makes it from the id of the job that it replaces."""
        path = f"s3://flink/checkpoints/{replaced}/chk-12"
        job = thing["spec"]["job"] | {"initialSavepointPath": path, "upgradeMode": "last-state"}
        return thing | {"spec": thing["spec"] | {"job": job}}


class VolcanoJob:
    """batch.volcano.sh/v1alpha1 Job."""

    @staticmethod
    def running(thing: Object) -> Object:
        pods = sum(task["replicas"] for task in thing["spec"]["tasks"])
        return {"state": {"phase": "Running", "lastTransitionTime": _T0}, "running": pods, "version": 1}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        pods = sum(task["replicas"] for thing in things for task in thing["spec"]["tasks"])
        return {"state": {"phase": "Running"}, "running": pods}


class TrainJob:
    """trainer.kubeflow.org/v1alpha1 TrainJob, with a job that fetches data."""

    @staticmethod
    def running(_: Object) -> Object:
        zeros = dict.fromkeys(("ready", "succeeded", "failed", "active", "suspended"), 0)
        fetched, trains = {"name": "dataset-initializer", "succeeded": 1}, {"name": "node", "active": 1, "ready": 1}
        return {"jobsStatus": [zeros | fetched, zeros | trains]}

    @staticmethod
    def whole(things: list[Object]) -> Object:
        return {"jobsStatus": [{"name": "node", "active": len(things), "ready": len(things)}]}


class MPIJob:
    """kubeflow.org/v2beta1 MPIJob."""

    @staticmethod
    def running(thing: Object) -> Object:
        workers = thing["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
        statuses = {"Launcher": {"active": 1}, "Worker": {"active": workers}}
        return {
            "startTime": _T0,
            "conditions": [condition("Created"), condition("Running")],
            "replicaStatuses": statuses,
        }

    @staticmethod
    def whole(things: list[Object]) -> Object:
        workers = sum(thing["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] for thing in things)
        statuses = {"Launcher": {"active": len(things)}, "Worker": {"active": workers}}
        return {"replicaStatuses": statuses, "conditions": [{"type": "Running", "status": "True"}]}
