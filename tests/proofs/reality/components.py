"""The components of pods as the product names them, for kinds whose pods have no label with the name."""

from tests.proofs.rig.api import Object


def worker_or_leader(pod: Object) -> str:
    index = pod["metadata"]["labels"].get("leaderworkerset.sigs.k8s.io/worker-index")
    return "leader" if index == "0" else "worker"


def worker_or_leader_of_role(pod: Object) -> str:
    return f"{worker_or_leader(pod)}-{pod['metadata']['labels']['disaggregatedset.x-k8s.io/role']}"


def ray_group(pod: Object) -> str:
    labels = pod["metadata"].get("labels", {})
    kind = labels.get("ray.io/node-type")
    if kind is None:
        return "submitter"
    return "head" if kind == "head" else str(labels["ray.io/group"])


def is_submitter(pod: Object) -> bool:
    """Whether a pod ends with a RayJob: those of Ray go on."""
    return ray_group(pod) == "submitter"


def task_of_flow(pod: Object) -> str:
    """Return the component as a JobFlow has it: ``it-extract`` is the Job of the flow ``extract``."""
    labels = pod["metadata"].get("labels", {})
    return f"{labels['volcano.sh/job-name'].removeprefix('it-')}-{labels['volcano.sh/task-spec']}"


def kserve_service(pod: Object) -> str:
    """Return the component by the Service of a pod, which has the name of a canary in its own."""
    labels = pod["metadata"]["labels"]
    service: str = labels["app"].removeprefix(f"isvc.{labels['serving.kserve.io/inferenceservice']}-")
    return service.removesuffix("-predictor")


_RBG = "rbg.workloads.x-k8s.io"


def rbg_role(pod: Object) -> str:
    """Return the role, and its part if the role has several: leader and worker, or components with names."""
    labels = pod["metadata"]["labels"]
    role, index, part = (labels.get(f"{_RBG}/{name}") for name in ("role-name", "component-index", "component-name"))
    if part in {"leader", "worker"} and index is not None:
        return f"{role}-{part}"
    is_whole = part is None or labels.get(f"{_RBG}/role-instance-name") == pod["metadata"]["name"]
    return str(role) if is_whole else f"{role}-{part}"


def kthena_role(pod: Object) -> str:
    """Return the role of a pod that is its entry, and the role's workers by another name."""
    labels = pod["metadata"]["labels"]
    role: str = labels["modelserving.volcano.sh/role"]
    return role if labels.get("modelserving.volcano.sh/entry") == "true" else f"{role}-worker"


def minicluster_part(pod: Object) -> str:
    """Return the nodes of a MiniCluster, which have this label, or the one pod of its services."""
    return "node" if "hpa-selector" in pod["metadata"].get("labels", {}) else "services"


def grove_clique(pod: Object) -> str:
    """Return the clique without the names before it: the set or a scaling group in it, and the replica of that."""
    labels = pod["metadata"]["labels"]
    group = labels.get("grove.io/podcliquescalinggroup")
    if group is None:
        before = f"{labels['app.kubernetes.io/part-of']}-{labels['grove.io/podcliqueset-replica-index']}-"
    else:
        before = f"{group}-{labels['grove.io/podcliquescalinggroup-replica-index']}-"
    clique: str = labels["grove.io/podclique"]
    return clique.removeprefix(before)


def nim_part(pod: Object) -> str:
    """Return what a pod of the NIM operator is for by its container: an endpoint picker, a cache, or the service."""
    names = {"epp": "epp", "nim-cache-ctr": "cache" if is_caching(pod) else "probe"}
    return names.get(pod["spec"]["containers"][0]["name"], "nimservice")


def is_caching(pod: Object) -> bool:
    """Whether a pod of a NIMCache is one of its Job: the one before, which looks into the image, goes on."""
    return "batch.kubernetes.io/job-name" in pod["metadata"].get("labels", {})


def spark_role(pod: Object) -> str:
    """Return the role that Spark has given a pod; the driver of a SparkConnect is its server."""
    role: str = pod["metadata"]["labels"]["spark-role"]
    return "server" if role == "connect-server" else role


def is_driver(pod: Object) -> bool:
    """Whether a pod ends with its SparkApplication: the driver removes executors that still run."""
    return spark_role(pod) == "driver"


def sets_up_instance(pod: Object) -> bool:
    """Whether a pod sets up the volume of a new instance of CloudNativePG."""
    return "cnpg.io/jobRole" in pod["metadata"].get("labels", {})
