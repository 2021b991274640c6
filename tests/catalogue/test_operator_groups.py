"""The pod groups of definitions next to those that operators make themselves, on recorded pods.

The rules are those of the operators' sources:

- Volcano: volcano-sh/volcano ed72c7c, pkg/controllers/job/job_controller_actions.go
- LeaderWorkerSet with gang scheduling: kubernetes-sigs/lws 00c6fd7, pkg/schedulerprovider/volcano_provider.go
- KubeRay with Volcano: ray-project/kuberay feeaf72, ray-operator/controllers/ray: batchscheduler/volcano, utils/util.go
  It counts no submitter, and makes no group for a RayJob in a RayCluster that is there already.
- Trainer with coscheduling: kubeflow/trainer 03b37bb, pkg/runtime/framework/plugins/coscheduling/coscheduling.go
- Grove: ai-dynamo/grove fcc3b3b, operator/internal/controller/podcliqueset/components/podgang/syncflow.go. Nothing is
  recorded of it, so that the pods are written here, with the labels of its source.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.clusters.saved import read_about
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.workload import Workload
from tests.support.recorded import FOLDER, state_of, states_of
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

Minimums = Mapping[str, int]
"""The minimum of each group by a name of the test."""


def _of_volcano_job(obj: Any, _: list[Any]) -> Minimums:
    return {"": obj["spec"]["minAvailable"]}


def _of_leader_worker_set(obj: Any, pods: list[Any]) -> Minimums:
    leaders = Counter(pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] for pod in pods)
    is_leader_first = obj["spec"].get("startupPolicy") == "LeaderReady"
    return dict.fromkeys(leaders, 1 if is_leader_first else obj["spec"]["leaderWorkerTemplate"].get("size", 1))


def _of_ray_cluster(obj: Any, _: list[Any]) -> Minimums:
    workers = 0
    for group in obj["spec"].get("workerGroupSpecs", ()):
        least, most = group.get("minReplicas", 0), group.get("maxReplicas", 2**31 - 1)
        is_autoscaled = obj["spec"].get("enableInTreeAutoscaling")
        wanted = least if is_autoscaled else max(least, min(group.get("replicas", 0), most))
        workers += 0 if group.get("suspend") else wanted * group.get("numOfHosts", 1)
    return {"": 1 + workers}


def _of_ray_job(obj: Any, pods: list[Any]) -> Minimums:
    has_cluster = any("ray.io/node-type" in pod["metadata"]["labels"] for pod in pods)
    return _of_ray_cluster({"spec": obj["spec"]["rayClusterSpec"]}, pods) if has_cluster else {}


def _of_train_job(_: Any, pods: list[Any]) -> Minimums:
    return {"": len(pods)}


def _states(folder: str, kind: str) -> list[tuple[Evidence, list[Object]]]:
    """Return the state with most pods of each case, and the objects that its definition looks up."""
    references = read_about(FOLDER / folder).references
    largest: dict[str, Evidence] = {}
    for evidence in states_of(FOLDER / folder):
        case = state_of(evidence).partition(".")[0]
        has_more = case not in largest or len(evidence.own) > len(largest[case].own)
        if evidence.object["kind"] == kind and evidence.own and has_more:
            largest[case] = evidence
    return [
        (evidence, [one for one in references if one["metadata"].get("namespace") in (None, state_of(evidence))])
        for evidence in largest.values()
    ]


def _is_submitter(pod: Any) -> bool:
    return "ray.io/node-type" not in pod["metadata"]["labels"]


@rows(
    ("folder", "kind", "made", "differing"),
    [
        pytest.param(
            "volcano",
            "Job",
            _of_volcano_job,
            # minAvailable is one number for the whole job, and the minimum of a Karta is one of each component.
            {"volcano-depends", "volcano-min-available", "volcano-partitions", "volcano-zero"},
            id="a Volcano Job",
        ),
        pytest.param(
            "lws",
            "LeaderWorkerSet",
            _of_leader_worker_set,
            # The leader alone is placed first. Its group still asks for the resources of all.
            {"lws-leader-ready"},
            id="a LeaderWorkerSet",
        ),
        pytest.param("kuberay", "RayCluster", _of_ray_cluster, set(), id="a RayCluster"),
        pytest.param("kuberay", "RayJob", _of_ray_job, set(), id="a RayJob"),
        pytest.param("trainer", "TrainJob", _of_train_job, set(), id="a TrainJob"),
    ],
)
def test_groups_are_those_of_the_operator(
    folder: str, kind: str, made: Callable[[Any, list[Any]], Minimums], differing: set[str]
) -> None:
    different, states = {}, _states(folder, kind)
    for evidence, references in states:
        workload = Workload(Karta.for_object(evidence.object), evidence.object).with_references(references)
        groups = workload.pod_groups(evidence.own)
        minimums = made(evidence.object, list(evidence.own))
        assert len(groups) == len(minimums), state_of(evidence)
        outside = [pod for pod in evidence.own if kind == "RayJob" and _is_submitter(pod)]
        assert sum(len(group.pods) for group in groups) == len(evidence.own) - len(outside)
        ours = sorted(group.minimum for group in groups)
        if ours != sorted(minimums.values()):
            different[state_of(evidence).partition(".")[0]] = ours, minimums
    assert len(states) >= 10
    assert different.keys() == differing, different


_ROUTER = {"name": "router", "spec": {"replicas": 2, "minAvailable": 2}}
_CLIQUES = [
    _ROUTER,
    {"name": "leader", "spec": {"replicas": 1, "minAvailable": 1}},
    {"name": "worker", "spec": {"replicas": 2, "minAvailable": 2}},
]


def _clique_set(*cliques: Any, **scaling_group: int) -> Any:
    """Return a PodCliqueSet of two replicas, with a scaling group of all cliques but the first if it is given."""
    for clique in cliques:
        clique["spec"]["podSpec"] = {"containers": [{"name": "main"}]}
    names = [clique["name"] for clique in cliques[1:]]
    scaling = [{"name": "decode", "cliqueNames": names, **scaling_group}] if scaling_group else []
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm", "namespace": "serve"},
        "spec": {"replicas": 2, "template": {"cliques": list(cliques), "podCliqueScalingGroups": scaling}},
    }


def _placed(obj: Any) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Yield the PodGang, the clique and the labels of each PodClique that Grove makes."""
    template = obj["spec"]["template"]
    for number in range(obj["spec"]["replicas"]):
        index = str(number)
        scaled = {name: group for group in template["podCliqueScalingGroups"] for name in group["cliqueNames"]}
        for clique in template["cliques"]:
            labels = {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": index}
            group = scaled.get(clique["name"])
            if group is None:
                yield f"llm-{index}", clique, labels | {"grove.io/podclique": f"llm-{index}-{clique['name']}"}
                continue
            name = f"llm-{index}-{group['name']}"
            for replica in range(group["replicas"]):
                later = replica - group["minAvailable"]
                own = {
                    "grove.io/podcliquescalinggroup": name,
                    "grove.io/podcliquescalinggroup-replica-index": str(replica),
                    "grove.io/podclique": f"{name}-{replica}-{clique['name']}",
                }
                yield f"llm-{index}" if later < 0 else f"{name}-{later}", clique, labels | own


@rows(
    ("obj", "is_same"),
    [
        pytest.param(_clique_set(_ROUTER), True, id="a clique"),
        pytest.param(_clique_set(*_CLIQUES, replicas=2, minAvailable=2), True, id="a scaling group"),
        # What is above minAvailable is placed later, and the minimum of a Karta is that of a whole replica.
        pytest.param(_clique_set(*_CLIQUES, replicas=2, minAvailable=1), False, id="a scaling group with more"),
        pytest.param(
            _clique_set({"name": "router", "spec": {"replicas": 3, "minAvailable": 2}}), False, id="a clique with more"
        ),
    ],
)
def test_groups_are_those_of_grove(obj: Any, is_same: bool) -> None:
    pods, members, minimums = [], Counter[str](), Counter[str]()
    for gang, clique, labels in _placed(obj):
        minimums[gang] += clique["spec"]["minAvailable"]
        for number in range(clique["spec"]["replicas"]):
            members[gang] += 1
            name = f"{labels['grove.io/podclique']}-{number}"
            pods.append({"metadata": {"name": name, "labels": labels | {"grove.io/podgang": gang}}})
    groups = Workload(Karta.for_object(obj), obj).pod_groups(pods)
    assert {group.keys[-1]: len(group.pods) for group in groups} == members
    assert ({group.keys[-1]: group.minimum for group in groups} == minimums) is is_same
