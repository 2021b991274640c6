"""Writers of batch kinds."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from karta_interpreter.base.k8s.values import Object


def _job_selector(job: Any) -> Object:
    """The selector and the labels of a new Job come with its uid, and stay what they are."""
    labels = job["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})
    selector = job["spec"].setdefault("selector", {}).setdefault("matchLabels", {})
    selector["batch.kubernetes.io/controller-uid"] = labels["batch.kubernetes.io/controller-uid"] = "u"
    result: Object = job
    return result


def _pod_admission(pod: Any) -> Object:
    spec = pod["spec"]
    spec["nodeName"], spec["serviceAccountName"] = "n", "default"
    spec.setdefault("priority", 0)
    spec.setdefault("schedulerName", "default-scheduler")
    lasting = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    spec.setdefault("tolerations", [{"key": "node.kubernetes.io/not-ready", **lasting}])
    for container in spec["containers"]:
        container.setdefault("resources", {"requests": {"cpu": "100m"}})
        container.setdefault("volumeMounts", [{"name": "token", "mountPath": "/token"}])
    spec.setdefault("volumes", [{"name": "token", "projected": {}}])
    if all(container["name"] != "proxy" for container in spec["containers"]):
        spec["containers"].append({"name": "proxy", "image": "mesh"})
    result: Object = pod
    return result


def _pod_constraint(pod: Any) -> Object:
    pod["metadata"].setdefault("annotations", {})["openshift.io/scc"] = "restricted"
    for container in pod["spec"]["containers"]:
        capabilities = container.setdefault("securityContext", {}).setdefault("capabilities", {})
        dropped = {*capabilities.get("drop", ()), "KILL", "MKNOD", "SETGID", "SETUID"}
        capabilities["drop"] = sorted(dropped)
    result: Object = pod
    return result


def _workflow_defaults(workflow: Any) -> Object:
    """Defaults are merged into the spec, and lists by the names of their elements."""
    spec = workflow["spec"]
    for name, value in {"serviceAccountName": "runner", "activeDeadlineSeconds": 3600, "podGC": {}}.items():
        spec.setdefault(name, value)
    volumes = spec.setdefault("volumes", [])
    if all(volume["name"] != "default" for volume in volumes):
        volumes.insert(0, {"name": "default", "emptyDir": {}})
    workflow["status"] = {"phase": "Running"}
    result: Object = workflow
    return result


def _volcano_job(job: Any) -> Object:
    spec = job["spec"]
    for name, value in {"queue": "default", "schedulerName": "volcano", "maxRetry": 3}.items():
        spec.setdefault(name, value)
    for index, task in enumerate(spec["tasks"]):
        task.setdefault("name", f"default{index}")
        task.setdefault("maxRetry", 3)
        task.setdefault("minAvailable", task["replicas"])
    spec.setdefault("minAvailable", sum(task["minAvailable"] for task in spec["tasks"]))
    if "pytorch" in spec.get("plugins", {}):
        spec["plugins"].setdefault("svc", [])
    for volume in spec.get("volumes", ()):
        volume.setdefault("volumeClaimName", "j-x")
    result: Object = job
    return result


def _jobset_webhook(jobset: Any) -> Object:
    spec = jobset["spec"]
    for job in spec["replicatedJobs"]:
        job["template"]["spec"].setdefault("completionMode", "Indexed")
        job["template"]["spec"]["template"]["spec"].setdefault("restartPolicy", "OnFailure")
    network = spec.setdefault("network", {})
    network.setdefault("enableDNSHostnames", True)
    network.setdefault("publishNotReadyAddresses", True)
    spec.setdefault("successPolicy", {}).setdefault("operator", "All")
    spec.setdefault("startupPolicy", {}).setdefault("startupPolicyOrder", "AnyOrder")
    result: Object = jobset
    return result


def _trainjob_patch(job: Any) -> Object:
    """The webhook adds a patch to a new TrainJob, and Kueue writes the flavor into it when it admits the TrainJob."""
    patches = job["spec"].setdefault("runtimePatches", [])
    manager = "kueue.x-k8s.io/manager"
    if all(patch["manager"] != manager for patch in patches):
        flavor = {"template": {"spec": {"template": {"spec": {"nodeSelector": {"flavor": "a"}}}}}}
        replicated = [{"name": "node", **flavor}]
        template = {"spec": {"replicatedJobs": replicated}}
        patches.append({"manager": manager, "trainingRuntimeSpec": {"template": template}})
    job["spec"]["suspend"] = False
    result: Object = job
    return result


def _ray_autoscaler(cluster: Any) -> Object:
    for group in cluster["spec"]["workerGroupSpecs"]:
        group["replicas"] = 4
        group.setdefault("scaleStrategy", {})["workersToDelete"] = ["w-1"]
    result: Object = cluster
    return result


def _rayjob_admission(job: Any) -> Object:
    """A job without a template of the submitter gets KubeRay's default one, with the flavor."""
    spec = job["spec"]
    spec["suspend"] = False
    submitter = {
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "ray-job-submitter", "image": "i", "resources": {"limits": {"cpu": "1"}}}],
        }
    }
    template = spec.setdefault("submitterPodTemplate", submitter)
    for pods in (template, spec["rayClusterSpec"]["headGroupSpec"]["template"]):
        pods["spec"].setdefault("nodeSelector", {}).setdefault("flavor", "a")
    result: Object = job
    return result


def _spark_sentinel(application: Any) -> Object:
    """It counts for ever. What is there of its own is the number that it has reached."""
    application["spec"]["sparkConf"]["sentinel.dummy.number"] = "7"
    application["spec"].setdefault("applicationTolerations", {"restartConfig": {"restartPolicy": "Never"}})
    result: Object = application
    return result


def _spark_cluster_sentinel(cluster: Any) -> Object:
    """As for an application, and a cluster has workers."""
    spec = cluster["spec"]
    spec["sparkConf"]["sentinel.dummy.number"] = "7"
    workers = spec.setdefault("clusterTolerations", {}).setdefault("instanceConfig", {})
    for name in ("initWorkers", "minWorkers", "maxWorkers"):
        workers.setdefault(name, 0)
    spec.setdefault("masterSpec", {})
    spec.setdefault("workerSpec", {})
    result: Object = cluster
    return result


def _taskrun_defaults(run: Any) -> Object:
    spec = run["spec"]
    spec.setdefault("serviceAccountName", "default")
    spec.setdefault("timeout", "1h0m0s")
    if "taskRef" in spec:
        spec["taskRef"].setdefault("kind", "Task")
    result: Object = run
    return result


BATCH: Final[Mapping[str, Callable[[Object], Object]]] = {
    "job_selector": _job_selector,
    "pod_admission": _pod_admission,
    "pod_constraint": _pod_constraint,
    "workflow_defaults": _workflow_defaults,
    "volcano_job": _volcano_job,
    "jobset_webhook": _jobset_webhook,
    "trainjob_patch": _trainjob_patch,
    "ray_autoscaler": _ray_autoscaler,
    "rayjob_admission": _rayjob_admission,
    "spark_sentinel": _spark_sentinel,
    "spark_cluster_sentinel": _spark_cluster_sentinel,
    "taskrun_defaults": _taskrun_defaults,
}
