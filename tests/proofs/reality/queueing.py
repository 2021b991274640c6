"""The steps of a workload that Kueue queues: held, admitted on a flavour, and evicted.

Each namespace has a ClusterQueue of its name. It is stopped until a step admits on a flavour, and stopped again with
what runs in it evicted.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.proofs.reality.comparison import active
from tests.proofs.reality.experiment import Experiment
from tests.proofs.reality.judging import compare, judge_retain, judge_state
from tests.proofs.reality.ours import RejectedError
from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.podstatus import PENDING, RUNNING

API = "kueue.x-k8s.io/v1beta2"
WORKLOADS = f"/apis/{API}/workloads"
FLAVORS: Mapping[str, Object] = {
    "red": {
        "nodeLabels": {"pool": "red"},
        "tolerations": [{"key": "pool", "operator": "Equal", "value": "red", "effect": "NoSchedule"}],
    },
    "blue": {
        "nodeLabels": {"pool": "blue", "disk": "fast"},
        "tolerations": [{"key": "pool", "operator": "Exists"}, {"key": "disk", "operator": "Exists"}],
    },
    # With a topology Kueue holds each pod back by a scheduling gate until it has chosen a node for it.
    "rack": {"nodeLabels": {"pool": "rack"}, "topologyName": "hosts"},
    "row": {"nodeLabels": {"row": "one"}, "topologyName": "hosts"},
}
QUOTA = {"cpu": "400", "memory": "2Ti", "nvidia.com/gpu": "60"}
_PATIENCE = 60.0


def _held(experiment: Experiment, state: str) -> None:
    """Nothing runs: Kueue has not admitted the workload, or has evicted it."""
    until("Kueue knows the workload", lambda: _workloads(experiment), _PATIENCE)
    _judge(experiment, state or "held", expected=experiment.case.kind.completes or _is_suspended(experiment))

    def problem() -> str:
        free = [pod for pod in active(experiment.pods) if not pod["spec"].get("schedulingGates")]
        return f"{len(free)} pods" if free else ""

    experiment.judge_that(f"pods when {state or 'held'}", problem)


def _admit(experiment: Experiment, argument: str) -> None:
    """``flavour [cpu]``: the queue has this flavour only, and as many CPUs."""
    flavor, _, cpu = argument.partition(" ")
    experiment.want(PENDING)
    quota = QUOTA | ({"cpu": cpu} if cpu else {})
    experiment.cluster.member.apply(_cluster_queue(experiment, flavor, quota, "None"))
    experiment.cluster.member.apply(local_queue(experiment.case.namespace))
    _activate(experiment, active=True)
    until(f"admitted on {flavor}", lambda: _is_admitted(experiment), _PATIENCE)
    _judge(experiment, f"admitted on {flavor}", expected=experiment.case.kind.completes)
    experiment.want(RUNNING)
    _judge(experiment, f"running on {flavor}", expected=True)
    compare(experiment, {f"on {flavor}": experiment.template})

    def problem() -> str:
        wanted = FLAVORS[flavor]["nodeLabels"].items()
        pods = active(experiment.pods)
        there = sum(wanted <= pod["spec"].get("nodeSelector", {}).items() for pod in pods)
        return "" if 0 < there == len(pods) else f"{there} of {len(pods)}"

    experiment.judge_that(f"pods on {flavor}", problem)


def _evict(experiment: Experiment, _: str) -> None:
    """The queue is stopped, and drained."""
    flavor = _flavor(experiment)
    experiment.cluster.member.apply(_cluster_queue(experiment, flavor, QUOTA, "HoldAndDrain"))
    _until_stopped(experiment)
    _held(experiment, f"evicted from {flavor}")


def _deactivate(experiment: Experiment, _: str) -> None:
    """An administrator deactivates the workload."""
    _activate(experiment, active=False)
    _until_stopped(experiment)
    _held(experiment, "deactivated")


STEPS: Mapping[str, Callable[[Experiment, str], None]] = {
    "held": _held,
    "admit": _admit,
    "evict": _evict,
    "deactivate": _deactivate,
}


def _judge(experiment: Experiment, state: str, *, expected: bool) -> None:
    judge_state(experiment, state, expected)
    experiment.judge_that(f"replica when {state}", lambda: _replica_problem(experiment))
    judge_retain(experiment, state)


def _replica_problem(experiment: Experiment) -> str:
    """Where Kueue puts pods changes neither how many they are nor what they request."""
    try:
        template, live = (_replica(experiment.ours.replica(thing)) for thing in (experiment.template, experiment.live))
    except RejectedError as error:
        return str(error)
    return "" if template == live else f"template {template}, member {live}"


def _replica(answered: Object) -> tuple[Any, Any]:
    return answered.get("replicas"), (answered.get("replicaRequirements") or {}).get("resourceRequest")


def _is_suspended(experiment: Experiment) -> bool:
    place: Any = experiment.live
    for part in experiment.case.switch.split("."):
        place = (place or {}).get(part)
    return place is True


def _until_stopped(experiment: Experiment) -> None:
    until("its pods are gone", lambda: not active(experiment.pods) and _is_suspended(experiment), _PATIENCE)


def _workloads(experiment: Experiment) -> list[Object]:
    root, _, plural = WORKLOADS.rpartition("/")
    path = f"{root}/namespaces/{experiment.case.namespace}/{plural}"
    listed = experiment.cluster.member.request("GET", path)["items"]
    return [{"apiVersion": API, "kind": "Workload", **item} for item in listed]


def _is_admitted(experiment: Experiment) -> bool:
    conditions = [(workload.get("status") or {}).get("conditions", []) for workload in _workloads(experiment)]
    return bool(conditions) and all(
        any(one["type"] == "Admitted" and one["status"] == "True" for one in many) for many in conditions
    )


def _activate(experiment: Experiment, *, active: bool) -> None:
    for workload in _workloads(experiment):
        if workload["spec"].get("active", True) is not active:
            experiment.cluster.member.merge(workload, {"spec": {"active": active}})


def _flavor(experiment: Experiment) -> str:
    found: Any = experiment.cluster.member.find(named(API, "ClusterQueue", experiment.case.namespace))
    name: str = found["spec"]["resourceGroups"][0]["flavors"][0]["name"]
    return name


def _cluster_queue(experiment: Experiment, flavor: str, quota: Mapping[str, str], stop: str) -> Object:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": experiment.case.namespace}}
    queue = cluster_queue(experiment.case.namespace, flavor, quota)
    return queue | {"spec": queue["spec"] | {"namespaceSelector": selector, "stopPolicy": stop}}


def cluster_queue(name: str, flavor: str, quota: Mapping[str, str]) -> Object:
    """Return a queue with that room on nodes of a flavor, for every namespace."""
    resources = [{"name": resource, "nominalQuota": amount} for resource, amount in quota.items()]
    group = {"coveredResources": [*quota], "flavors": [{"name": flavor, "resources": resources}]}
    return named(API, "ClusterQueue", name) | {"spec": {"namespaceSelector": {}, "resourceGroups": [group]}}


def local_queue(namespace: str) -> Object:
    """Return the queue of a namespace, which leads to the ClusterQueue of its name."""
    return named(API, "LocalQueue", "queue", namespace) | {"spec": {"clusterQueue": namespace}}
