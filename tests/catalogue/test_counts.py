"""The number of pods of each kind, against the controllers' own arithmetic written down once more in Python."""

from functools import cache
from math import ceil
from typing import Any

from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.evaluation.pods import PodSet, pod_sets, scale_locations

_TEMPLATE = {"spec": {"containers": [{"name": "main"}]}}
_LARGEST = 2**31 - 1


counts = st.integers(0, 6)
unset = st.none()


def _fields(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects in which each field is absent, null or given: a control plane has seen no defaulting webhook."""
    return st.fixed_dictionaries({}, optional={name: unset | value for name, value in fields.items()})


@cache
def _definition(gvk: GVK) -> Definition:
    found = find_in_catalogue(gvk)
    assert found is not None
    return found.definition


def _pod_sets(api_version: str, kind: str, spec: Object) -> list[PodSet]:
    obj = {"apiVersion": api_version, "kind": kind, "spec": spec}
    return list(pod_sets(_definition(GVK.of(obj)), obj))


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _pods_at_once(job: Object) -> int:
    """What ``wantPods`` of the Job controller comes to before any pod has run."""
    parallelism = _or(job.get("parallelism"), 1)
    completions = job.get("completions")
    return parallelism if completions is None else min(parallelism, completions)


@given(_fields(parallelism=counts, completions=counts))
def test_job(spec: Object) -> None:
    (pods,) = _pod_sets("batch/v1", "Job", {**spec, "template": _TEMPLATE})
    assert pods.replicas == _pods_at_once(spec)


@given(st.lists(st.tuples(_fields(replicas=counts), _fields(parallelism=counts, completions=counts)), max_size=3))
def test_jobset(entries: list[tuple[Object, Object]]) -> None:
    jobs = [
        {**entry, "name": f"job-{index}", "template": {"spec": {**job, "template": _TEMPLATE}}}
        for index, (entry, job) in enumerate(entries)
    ]
    found = _pod_sets("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})
    assert {pods.name: pods.replicas for pods in found} == {
        f"job-{index}": _or(entry.get("replicas"), 1) * _pods_at_once(job) for index, (entry, job) in enumerate(entries)
    }


@given(_fields(replicas=counts), _fields(size=st.integers(1, 6)), st.booleans())
def test_leaderworkerset(spec: Object, template: Object, has_leader: bool) -> None:
    leader = {"leaderTemplate": _TEMPLATE} if has_leader else {}
    whole = {**spec, "leaderWorkerTemplate": {**template, **leader, "workerTemplate": _TEMPLATE}}
    found = _pod_sets("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", whole)
    groups, size = _or(spec.get("replicas"), 1), _or(template.get("size"), 1)
    assert [pods.replicas for pods in found] == [groups, groups * (size - 1)]


@given(st.lists(st.tuples(_fields(replicas=counts), _fields(size=st.integers(1, 4)), st.booleans()), max_size=3))
def test_disaggregatedset(entries: list[tuple[Object, Object, bool]]) -> None:
    roles = [
        {
            "name": f"role-{index}",
            "scaling": {"mode": "External" if is_external else "Static"},
            "spec": {**role, "leaderWorkerTemplate": {**template, "workerTemplate": _TEMPLATE}},
        }
        for index, (role, template, is_external) in enumerate(entries)
    ]
    found = _pod_sets("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"slices": 2, "roles": roles})
    groups = [2 * (1 if is_external else _or(role.get("replicas"), 1)) for role, _, is_external in entries]
    workers = [each * (_or(entry[1].get("size"), 1) - 1) for each, entry in zip(groups, entries, strict=True)]
    assert [pods.replicas for pods in found] == [*groups, *workers]


@given(unset | counts, st.lists(_fields(replicas=counts, workerReplicas=counts), max_size=3))
def test_modelserving(replicas: int | None, entries: list[Object]) -> None:
    roles = [
        {**entry, "name": f"role-{index}", "entryTemplate": _TEMPLATE, "workerTemplate": _TEMPLATE}
        for index, entry in enumerate(entries)
    ]
    spec = {"replicas": replicas, "template": {"roles": roles}}
    found = _pod_sets("workload.serving.volcano.sh/v1alpha1", "ModelServing", spec)
    leads = [_or(replicas, 1) * _or(entry.get("replicas"), 1) for entry in entries]
    workers = [each * _or(entry.get("workerReplicas"), 0) for each, entry in zip(leads, entries, strict=True)]
    assert [pods.replicas for pods in found] == [*leads, *workers]


@given(unset | counts, st.lists(_fields(replicas=counts, podGroupSize=st.integers(1, 4)), max_size=3))
def test_stormservice_and_roleset(replicas: int | None, entries: list[Object]) -> None:
    roles = [{**entry, "name": f"role-{index}", "template": _TEMPLATE} for index, entry in enumerate(entries)]
    wanted = [_or(entry.get("replicas"), 0) * _or(entry.get("podGroupSize"), 1) for entry in entries]
    sets = _pod_sets("orchestration.aibrix.ai/v1alpha1", "RoleSet", {"roles": roles})
    assert [pods.replicas for pods in sets] == wanted
    spec = {"replicas": replicas, "template": {"spec": {"roles": roles}}}
    services = _pod_sets("orchestration.aibrix.ai/v1alpha1", "StormService", spec)
    assert [pods.replicas for pods in services] == [_or(replicas, 1) * each for each in wanted]


worker_groups = _fields(
    suspend=st.booleans(),
    replicas=counts,
    minReplicas=counts,
    maxReplicas=counts | st.just(_LARGEST),
    numOfHosts=st.integers(1, 4),
)


def _desired_replicas(group: Object) -> int:
    """``GetWorkerGroupDesiredReplicas`` of KubeRay, with the defaults of its CRD."""
    least, most = _or(group.get("minReplicas"), 0), _or(group.get("maxReplicas"), _LARGEST)
    replicas = group.get("replicas")
    if group.get("suspend"):
        return 0
    if least > most:
        replicas = most
    elif replicas is None or replicas < least:
        replicas = least
    elif replicas > most:
        replicas = most
    return replicas * _or(group.get("numOfHosts"), 1)


@given(st.lists(worker_groups, max_size=3))
def test_raycluster(groups: list[Object]) -> None:
    named = [{**group, "groupName": f"group-{index}", "template": _TEMPLATE} for index, group in enumerate(groups)]
    spec = {"headGroupSpec": {"template": _TEMPLATE}, "workerGroupSpecs": named}
    head, *workers = _pod_sets("ray.io/v1", "RayCluster", spec)
    assert (head.name, head.replicas) == ("head", 1)
    assert [pods.replicas for pods in workers] == [_desired_replicas(group) for group in groups]


@given(st.lists(worker_groups, max_size=3))
def test_bounds_of_raycluster_are_pods(groups: list[Object]) -> None:
    named = [{**group, "groupName": f"group-{index}", "template": _TEMPLATE} for index, group in enumerate(groups)]
    obj = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"workerGroupSpecs": named}}
    found = scale_locations(_definition(GVK.of(obj)), obj)
    assert [(one.scale.minimum, one.scale.maximum) for one in found] == [_bounds(group) for group in groups]


def _bounds(group: Object) -> tuple[int, int]:
    hosts = 0 if group.get("suspend") else _or(group.get("numOfHosts"), 1)
    most = _or(group.get("maxReplicas"), _LARGEST) * hosts
    return _or(group.get("minReplicas"), 0) * hosts, min(most, _LARGEST)


_ROLES = ("Chief", "Master", "PS", "Worker", "Evaluator")


@given(st.dictionaries(st.sampled_from(_ROLES), st.tuples(_fields(replicas=counts), st.sampled_from([str, str.lower]))))
def test_tfjob(roles: dict[str, tuple[Object, Any]]) -> None:
    specs = {written(role): {**section, "template": _TEMPLATE} for role, (section, written) in roles.items()}
    found = _pod_sets("kubeflow.org/v1", "TFJob", {"tfReplicaSpecs": specs})
    assert {pods.name: pods.replicas for pods in found} == {
        role.lower(): _or(section.get("replicas"), 1) for role, (section, _) in roles.items()
    }


@given(st.lists(st.tuples(_fields(replicas=counts), st.booleans()), min_size=1, max_size=3))
def test_volcano_job(tasks: list[tuple[Object, bool]]) -> None:
    named = [
        {**task, **({"name": f"task-{index}"} if has_name else {}), "template": _TEMPLATE}
        for index, (task, has_name) in enumerate(tasks)
    ]
    found = _pod_sets("batch.volcano.sh/v1alpha1", "Job", {"tasks": named})
    assert [(pods.name, pods.replicas) for pods in found] == [
        (f"task-{index}" if has_name else f"default{index}", _or(task.get("replicas"), 0))
        for index, (task, has_name) in enumerate(tasks)
    ]


_LEAST = _fields(minReplicas=st.integers(1, 5))


@given(
    _fields(replicas=counts),
    st.lists(_fields(replicas=counts, autoScalingConfig=_LEAST), min_size=1, max_size=3),
    _fields(replicas=st.integers(1, 4), scaleConfig=_LEAST),
    st.integers(0, 3),
)
def test_podcliqueset(spec: Object, cliques: list[Object], group: Object, grouped: int) -> None:
    template = {
        "cliques": [
            {"name": f"c{index}", "spec": {**clique, "podSpec": _TEMPLATE["spec"]}}
            for index, clique in enumerate(cliques)
        ],
        "podCliqueScalingGroups": [{**group, "name": "g", "cliqueNames": [f"c{index}" for index in range(grouped)]}],
    }
    found = _pod_sets("grove.io/v1alpha1", "PodCliqueSet", {**spec, "template": template})
    # The webhook makes a clique of none a clique of one, and an autoscaler raises what is below its least.
    times = max(_or(group.get("replicas"), 1), _or((group.get("scaleConfig") or {}).get("minReplicas"), 1))
    assert {pods.name: pods.replicas for pods in found} == {
        f"c{index}": _or(spec.get("replicas"), 0)
        * max(_or(clique.get("replicas"), 1), _or((clique.get("autoScalingConfig") or {}).get("minReplicas"), 1), 1)
        * (times if index < grouped else 1)
        for index, clique in enumerate(cliques)
    }


@given(_fields(replicas=st.integers(1, 6)), _fields(pipeline=st.integers(1, 4)))
def test_nimservice(spec: Object, parallelism: Object) -> None:
    whole = {**spec, "image": {"repository": "nim"}, "multiNode": {"parallelism": parallelism}}
    (pods,) = _pod_sets("apps.nvidia.com/v1alpha1", "NIMService", whole)
    assert pods.replicas == _or(spec.get("replicas"), 1) * _or(parallelism.get("pipeline"), 1)


@given(st.lists(st.tuples(_fields(replicas=counts), unset | _fields(nodeCount=st.integers(2, 4))), max_size=3))
def test_dynamographdeployment(parts: list[tuple[Object, Object | None]]) -> None:
    written = [{**part, "multinode": nodes} for part, nodes in parts]
    wanted = [
        _or(part.get("replicas"), 1) * (1 if nodes is None else _or(nodes.get("nodeCount"), 2)) for part, nodes in parts
    ]
    services = {f"s{index}": part for index, part in enumerate(written)}
    alpha = _pod_sets("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": services})
    assert [pods.replicas for pods in alpha] == wanted
    components = [{**part, "name": f"s{index}"} for index, part in enumerate(written)]
    beta = _pod_sets("nvidia.com/v1beta1", "DynamoGraphDeployment", {"components": components})
    assert [pods.replicas for pods in beta] == wanted


@given(
    unset | _fields(parallelism=st.integers(1, 9)),
    unset | st.sampled_from(["native", "standalone"]),
    _fields(**{"taskmanager.numberOfTaskSlots": st.integers(1, 4), "slotmanager.number-of-slots.min": counts}),
    _fields(replicas=st.integers(1, 6)),
)
def test_flinkdeployment(job: Object | None, mode: str | None, options: Object, task_manager: Object) -> None:
    spec = {
        "flinkVersion": "v1_20",
        "job": job,
        "mode": mode,
        "flinkConfiguration": {option: str(value) for option, value in options.items() if value is not None},
        "taskManager": task_manager,
    }
    wanted = _task_managers(job, mode, options, task_manager.get("replicas"))
    manager, workers = _pod_sets("flink.apache.org/v1beta1", "FlinkDeployment", spec)
    assert (manager.replicas, workers.replicas) == (1, wanted)
    manager, workers = _pod_sets("flink.apache.org/v1beta1", "FlinkBlueGreenDeployment", {"template": {"spec": spec}})
    assert (manager.replicas, workers.replicas) == (1, wanted)


def _task_managers(job: Object | None, mode: str | None, options: Object, replicas: int | None) -> int:
    """``FlinkConfigBuilder``: only a standalone cluster and the parallelism of a job read ``taskManager.replicas``."""
    slots = _or(options.get("taskmanager.numberOfTaskSlots"), 1)
    if job is not None:
        return _or(replicas, ceil(_or(job.get("parallelism"), 1) / slots))
    if mode == "standalone":
        return _or(replicas, 1)
    return ceil(_or(options.get("slotmanager.number-of-slots.min"), 0) / slots)


@given(
    unset | counts,
    unset | st.integers(1, 6),
    unset | st.sampled_from(["Standard", "RawDeployment", "Knative"]),
    unset | st.sampled_from(["hpa", "keda", "external", "none"]),
)
def test_inferenceservice(least: int | None, first: int | None, mode: str | None, autoscaler: str | None) -> None:
    annotations = {
        "autoscaling.knative.dev/initial-scale": None if first is None else str(first),
        "serving.kserve.io/deploymentMode": mode,
        "serving.kserve.io/autoscalerClass": autoscaler,
    }
    component = {"minReplicas": least, "containers": [{"name": "kserve-container"}]}
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"annotations": {key: value for key, value in annotations.items() if value is not None}},
        "spec": {"predictor": component, "transformer": component, "explainer": component},
    }
    wanted = _first_pods(least, first, mode, autoscaler)
    assert [pods.replicas for pods in pod_sets(_definition(GVK.of(obj)), obj)] == [wanted] * 3


def _first_pods(least: int | None, first: int | None, mode: str | None, autoscaler: str | None) -> int:
    """Knative's first scale, by default 1, or what a Deployment has whose number KServe sets for "none" alone."""
    if mode not in ("Standard", "RawDeployment"):
        return max(_or(least, 1), _or(first, 1))
    return _or(least, 1) if autoscaler == "none" else max(_or(least, 1), 1)
