"""What stays on a Karmada when a registration goes.

Karmada leaves attached bindings alone once nothing answers InterpretDependency (``Reconcile`` in
``pkg/dependenciesdistributor/dependencies_distributor.go`` returns), and statuses once nothing answers AggregateStatus
(``updateResourceStatus`` in ``pkg/controllers/status/common.go``).
"""

import shlex
from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import Operation
from karta_interpreter.clusters.remains import remains_of
from tests.support.rows import rows

JOBSET = GVK("jobset.x-k8s.io", "v1alpha2", "JobSet")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
RAY = GVK("ray.io", "v1", "RayCluster")
ALL = tuple(Operation)


def binding(gvk: GVK, name: str, *needed_by: str, reports: int = 0) -> Any:
    return {
        "metadata": {"namespace": "ml", "name": f"{name}-{gvk.kind.lower()}"},
        "spec": {
            "resource": {**gvk.type_meta, "namespace": "ml", "name": name},
            "requiredBy": [{"namespace": "ml", "name": other, "clusters": []} for other in needed_by],
        },
        "status": {"aggregatedStatus": [{"clusterName": f"m{number}"} for number in range(reports)]},
    }


SECRET = GVK("", "v1", "Secret")


@rows(
    ("kinds", "bindings", "commands"),
    [
        pytest.param({JOBSET: ALL}, [binding(JOBSET, "a"), binding(SECRET, "s", "a-jobset")],
            ["kubectl delete --namespace=ml -- resourcebinding s-secret"], id="a Secret that we have attached"),
        pytest.param({JOBSET: ALL, DEPLOYMENT: ALL},
            [binding(JOBSET, "a"), binding(DEPLOYMENT, "b"), binding(SECRET, "s", "a-jobset", "b-deployment")], [],
            id="a Secret that a Deployment needs, too, of which Karmada knows the dependencies itself"),
        pytest.param({JOBSET: [Operation.INTERPRET_HEALTH]},
            [binding(JOBSET, "a"), binding(SECRET, "s", "a-jobset")], [], id="somebody else attaches it"),
        pytest.param({}, [binding(SECRET, "s", "gone-jobset")], [], id="of a binding that is not there"),
        pytest.param({JOBSET: ALL}, [binding(JOBSET, "a", reports=2)],
            ["kubectl patch --namespace=ml --subresource=status --type=merge"], id="a status of ours"),
        pytest.param({JOBSET: ALL}, [binding(JOBSET, "a")], [], id="no status has come"),
        pytest.param({RAY: ALL, DEPLOYMENT: ALL},
            [binding(RAY, "r", reports=1), binding(DEPLOYMENT, "d", reports=1)], [],
            id="kinds of which Karmada merges the status itself"),
        pytest.param({JOBSET: ALL}, [{"metadata": {"name": "x"}, "spec": {}}], [], id="of nothing"),
    ],
)  # fmt: skip
def test_only_what_nobody_else_answers_stays(kinds: Any, bindings: list[Any], commands: list[str]) -> None:
    remains = [*remains_of(kinds, bindings)]

    assert len(remains) == len(commands)
    for remain, command in zip(remains, commands, strict=True):
        assert remain.command.startswith(command)


def test_command_ends_status_that_may_be_gone() -> None:
    """A JSON patch that removes what is not there is refused."""
    (remain,) = remains_of({JOBSET: ALL}, [binding(JOBSET, "a", reports=1)])
    options, words = remain.command.split(" -- ")
    assert shlex.split(options)[-2:] == ["--type=merge", '--patch={"status": null}']
    assert words == "JobSet.v1alpha2.jobset.x-k8s.io a"


def test_objects_of_the_cluster_have_no_namespace() -> None:
    made = binding(JOBSET, "a", reports=1)
    del made["metadata"]["namespace"], made["spec"]["resource"]["namespace"]
    (remain,) = remains_of({JOBSET: ALL}, [made])
    assert "namespace" not in remain.command
    assert remain.command.endswith(" -- JobSet.v1alpha2.jobset.x-k8s.io a")


@pytest.mark.parametrize("namespace", ["kube-system", "", None, 3, "-A"])
def test_binding_about_an_object_elsewhere_gives_no_command(namespace: Any) -> None:
    """Karmada makes a binding in the namespace of its object. A tenant can name any object in one."""
    strange = binding(JOBSET, "a", reports=1)
    strange["spec"]["resource"]["namespace"] = namespace
    attached = binding(SECRET, "s", "a-jobset")
    (remain,) = remains_of({JOBSET: ALL}, [strange, attached])
    assert (remain.what, remain.command) == ("ResourceBinding ml/a-jobset", "")
    assert "not of its namespace" in remain.why


def test_cluster_binding_about_an_object_of_a_namespace_gives_no_command() -> None:
    strange = binding(JOBSET, "a", reports=1)
    del strange["metadata"]["namespace"]
    (remain,) = remains_of({JOBSET: ALL}, [strange])
    assert (remain.what, remain.command) == ("ClusterResourceBinding a-jobset", "")


@pytest.mark.parametrize("is_namespaced", [True, False])
def test_binding_of_the_other_scope_than_its_object_gives_no_command(*, is_namespaced: bool) -> None:
    """kubectl takes a cluster-scoped object with any namespace, and for another the namespace of its context."""
    made = binding(JOBSET, "a", reports=1)
    if is_namespaced:
        del made["metadata"]["namespace"], made["spec"]["resource"]["namespace"]
    (remain,) = remains_of({JOBSET: ALL}, [made], {JOBSET: is_namespaced})
    assert remain.command == ""
    assert "although an object of this kind has" in remain.why
    (right,) = remains_of({JOBSET: ALL}, [made], {JOBSET: not is_namespaced})
    assert right.command.startswith("kubectl patch")
