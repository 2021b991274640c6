"""What operators make of two pod templates."""

from copy import deepcopy
from functools import cache
from typing import Any

from hypothesis import assume, given, strategies as st

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.evaluation.pods import pod_sets

_MAIN = "flink-main-container"
_BY_NAME = "kubernetes.operator.pod-template.merge-arrays-by-name"

_quantities = st.sampled_from(["1", "2", "3"])
_resources = st.dictionaries(st.sampled_from(["cpu", "ephemeral-storage", "nvidia.com/gpu"]), _quantities, min_size=1)


def _containers(names: list[str]) -> st.SearchStrategy[list[Object]]:
    resources = st.fixed_dictionaries({"requests": _resources}, optional={"limits": _resources})
    one = st.fixed_dictionaries({"name": st.sampled_from(names), "resources": resources})
    return st.lists(one, min_size=1, max_size=3, unique_by=lambda container: container["name"])


_templates = st.fixed_dictionaries(
    {"containers": _containers([_MAIN, "logs", "metrics"])},
    optional={
        "initContainers": _containers(["fetch", "load"]),
        "nodeSelector": st.dictionaries(st.sampled_from(["disk", "pool"]), _quantities),
        "tolerations": st.lists(
            st.fixed_dictionaries(
                {"key": _quantities}, optional={"operator": st.just("Exists"), "effect": _quantities}
            ),
            max_size=2,
        ),
        "priorityClassName": _quantities,
    },
)


def _merge(to: dict[str, Any], source: Object, *, by_name: bool) -> None:
    """`mergeInto` of FlinkUtils.java."""
    for field, value in source.items():
        own = to.get(field)
        if isinstance(own, list) and isinstance(value, list):
            to[field] = _merged_by_name(own, value) if by_name and _have_names(own + value) else _merged(own, value)
        elif isinstance(own, dict):
            _merge(own, value, by_name=by_name)
        else:
            to[field] = value


def _have_names(elements: list[JSON]) -> bool:
    return all("name" in element for element in elements)


def _merged(own: list[Any], others: list[Any]) -> list[Any]:
    for index, other in enumerate(others):
        if index == len(own):
            own.append({})
        _merge(own[index], other, by_name=False)
    return own


def _merged_by_name(own: list[Any], others: list[Any]) -> list[Any]:
    named = {element["name"]: element for element in own}
    for other in others:
        _merge(named.setdefault(other["name"], {}), other, by_name=True)
    return list(named.values())


def _pod(common: Object, role: Object, storage: str, *, by_name: bool) -> Object:
    """The pod of a TaskManager with one CPU and 1Gi."""
    spec: dict[str, Any] = dict(deepcopy(common))
    _merge(spec, deepcopy(role), by_name=by_name)
    containers = spec.setdefault("containers", [])
    if _MAIN not in [container["name"] for container in containers]:
        containers.append({"name": _MAIN})
    main = next(container for container in containers if container["name"] == _MAIN)
    requests = main.setdefault("resources", {}).setdefault("requests", {})
    requests |= {"cpu": "1", "memory": "1Gi"} | ({"ephemeral-storage": storage} if storage else {})
    return spec


@cache
def _flink() -> Definition:
    found = find_in_catalogue(GVK("flink.apache.org", "v1beta1", "FlinkDeployment"))
    assert found is not None
    return found.definition


@given(_templates, _templates, st.sampled_from(["", "7"]), st.booleans())
def test_flink_task_managers(common: Object, role: Object, storage: str, by_name: bool) -> None:
    expected = _pod(common, role, storage, by_name=by_name)
    for group in ("containers", "initContainers"):
        names = [container["name"] for container in expected.get(group, [])]
        assume(len(set(names)) == len(names))  # API servers refuse such a pod
    deployment = {
        "apiVersion": "flink.apache.org/v1beta1",
        "kind": "FlinkDeployment",
        "spec": {
            "flinkVersion": "v1_20",
            "flinkConfiguration": {_BY_NAME: "true" if by_name else "false"},
            "podTemplate": {"spec": common},
            "taskManager": {
                "resource": {"cpu": 1, "memory": "1 gb", "ephemeralStorage": storage},
                "podTemplate": {"spec": role},
            },
            "job": {"parallelism": 1},
        },
    }
    _, task_manager = pod_sets(_flink(), deployment)
    ours, theirs = (
        pod_requirements(template, Counting.SCHEDULER) for template in (task_manager.template, {"spec": expected})
    )
    assert ours == theirs


def test_a_null_in_the_patch_of_a_role_takes_a_request_away() -> None:
    # A strategic merge patch does so. No case of a suite says it: exported scripts do not see null.
    entry = find_in_catalogue(GVK("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup"))
    assert entry is not None
    base = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}]}
    patch = {"containers": [{"name": "main", "resources": {"requests": {"cpu": None}}}]}
    role = {"name": "web", "standalonePattern": {"templateRef": {"name": "base", "patch": {"spec": patch}}}}
    group = {"spec": {"roleTemplates": [{"name": "base", "template": {"spec": base}}], "roles": [role]}}
    (pods,) = pod_sets(entry.definition, group)
    wanted = {"containers": [{"name": "main", "resources": {"requests": {"memory": "2Gi"}}}]}
    assert pod_requirements(pods.template, Counting.SCHEDULER) == pod_requirements({"spec": wanted}, Counting.SCHEDULER)
