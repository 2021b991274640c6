"""``tree`` of a real API server: twins, versions, reasons, pages, labels and rights."""

import json
import os
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.proofs.e2e.accounts import account, bound, role
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.live_tree import kubeconfig, pods_in, shown
from tests.proofs.e2e.recorded_member import RecordedMember, State
from tests.proofs.rig.api import Object, named
from tests.proofs.rig.interpreter import run

pytestmark = pytest.mark.skipif("E2E_TREES" not in os.environ, reason="takes fifteen minutes: E2E_TREES=1 runs it")


def _state(member: RecordedMember, namespace: str) -> State:
    return next(state for state in member.states if state.recorded_namespace == namespace)


def _tree(config: Path, kind: str, name: str, namespace: str) -> Object:
    return shown(config, f"{kind}/{name}", "-n", namespace)


@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param("mpi-workers.3-running", id="pods of the object itself"),
        pytest.param("rayjob-autoscaling.2-running", id="pods of a RayCluster, and none of a Job"),
        pytest.param("lws-groups.2-running", id="pods of StatefulSets that other pods own"),
    ],
)
def test_pods_of_another_object_with_equal_labels_are_not_attributed(
    member: RecordedMember, reader: Path, recorded: str
) -> None:
    state, namespace = _state(member, recorded), f"twins-{recorded.partition('.')[0]}"
    member.api.add_namespace(namespace)
    for suffix in ("", "-twin"):
        member.add(state, namespace, suffix)
    expected = sorted(obj["metadata"]["name"] for obj in state.objects if obj["kind"] == "Pod")
    assert expected
    for suffix in ("", "-twin"):
        tree = _tree(reader, state.kind, f"it{suffix}", namespace)
        assert sorted(pod["name"] for pod in pods_in(tree["root"])) == sorted(f"{name}{suffix}" for name in expected)
    member.api.delete(state.workload | {"metadata": {"name": "it", "namespace": namespace}})
    rows = shown(reader, state.kind, "-n", namespace)["items"]
    assert [(row["name"], row["currentReplicas"]) for row in rows] == [("it-twin", len(expected))]
    gone = run("tree", f"{state.kind}/it", "-n", namespace, "--kubeconfig", reader)
    assert (gone.returncode, gone.stdout) == (1, "")
    assert f"no {state.kind} it exists" in gone.stderr


@pytest.mark.parametrize(
    ("recorded", "other"),
    [
        ("rayjob-autoscaling.2-running", "ray.io/v1alpha1/RayJob"),
        ("lws-groups.2-running", "leaderworkerset.x-k8s.io/v1alpha1/LeaderWorkerSet"),
    ],
)
def test_other_served_version_shows_the_same(member: RecordedMember, reader: Path, recorded: str, other: str) -> None:
    """The pods name the version of their owner that the controller uses."""
    state = _state(member, recorded)
    trees = [_tree(reader, kind, "it", state.namespace) for kind in (state.kind, other)]
    assert [*pods_in(trees[0]["root"])]
    assert trees[0] == trees[1]


def test_object_without_pods_is_shown(member: RecordedMember, reader: Path) -> None:
    suspended = [state for state in member.states if state.workload.get("spec", {}).get("suspend") is True]
    without = [state for state in suspended if len(state.objects) == 1 and state.workload.get("status")]
    assert len({state.controller for state in without}) > 1
    for state in {state.controller: state for state in without}.values():
        done = run("tree", f"{state.kind}/it", "-n", state.namespace, "--kubeconfig", reader)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "Suspended" in done.stdout.splitlines()[0]
        (row,) = shown(reader, state.kind, "-n", state.namespace)["items"]
        assert (row["currentReplicas"], row["readyReplicas"]) == (0, 0)


_UNSCHEDULABLE = "0/9 nodes are available: 9 Insufficient nvidia.com/gpu."
_STATUSES: Mapping[str, Object] = {
    "Unschedulable": {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": _UNSCHEDULABLE}
        ],
    },
    "ImagePullBackOff": {"phase": "Pending", "state": {"waiting": {"reason": "ImagePullBackOff"}}},
    "CrashLoopBackOff after OOMKilled": {
        "phase": "Running",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
    },
    "exit code 3": {"phase": "Running", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}},
}


def _status(pod: Object, status: Object) -> Object:
    (container,) = pod["spec"]["containers"]
    told = {"name": container["name"], "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    told |= {name: status[name] for name in ("state", "lastState") if name in status}
    return {
        "phase": status["phase"],
        "conditions": status.get("conditions", []),
        "containerStatuses": [told] if "state" in status else [],
    }


def test_pods_that_do_not_run_come_first_with_their_reasons(member: RecordedMember, reader: Path) -> None:
    namespace, many = "reasons", len(_STATUSES) + 2
    member.api.add_namespace(namespace)
    deployment, template = _deployment(many), {"nvidia.com/gpu": "8", "cpu": "500m", "memory": "1.5Gi"}
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": template}
    pods = _add_deployment(member, deployment, namespace)
    for pod, status in zip(pods, _STATUSES.values(), strict=False):
        member.api.put_status(pod, _status(pod, status))
    done = run("tree", "deploy/web", "-n", namespace, "--kubeconfig", reader)
    assert (done.returncode, done.stderr) == (0, "")
    title, *lines = done.stdout.splitlines()
    assert f"{many} pods, {many} current, 2 ready, cpu 500m, memory 1536Mi, nvidia.com/gpu 8 each" in title
    assert f"cpu {many // 2}, memory {many * 1536 // 1024}Gi, nvidia.com/gpu {many * 8} in all" in title
    unhealthy, healthy = lines[: len(_STATUSES)], lines[len(_STATUSES) :]
    for reason in _STATUSES:
        assert len([line for line in unhealthy if reason in line]) == 1, reason
    assert any(_UNSCHEDULABLE in line for line in unhealthy)
    assert all("Running, ready" in line for line in healthy)
    (row,) = run("tree", "deploy", "-n", namespace, "--kubeconfig", reader).stdout.splitlines()[1:]
    assert row.split()[:2] == ["Deployment", "reasons/web"]
    assert f"2/{many}" in row.split()
    assert f"nvidia.com/gpu {many * 8}" in row


def _deployment(replicas: int, name: str = "web", **labels: str) -> Object:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    deployment = named("apps/v1", "Deployment", name) | {"spec": spec}
    deployment["metadata"]["labels"] = labels
    return deployment


def _add_deployment(member: RecordedMember, deployment: Object, namespace: str) -> list[Object]:
    """Add a Deployment and what Kubernetes' controllers and kubelets make of it."""
    parent = member.create_object(deployment, namespace)
    spec, name = deployment["spec"], deployment["metadata"]["name"]
    middle = {**named("apps/v1", "ReplicaSet", f"{name}-1"), "spec": {**spec}}
    middle["metadata"] |= {"ownerReferences": [_owner(deployment, parent)]}
    between = member.create_object(middle, namespace)
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}

    def add(number: int) -> Object:
        pod = {**named("v1", "Pod", f"{name}-1-{number:04}"), "spec": spec["template"]["spec"], "status": status}
        pod["metadata"] |= {"labels": {"app": name}, "ownerReferences": [_owner(middle, between)]}
        return {**member.create_object(pod, namespace), "apiVersion": "v1", "kind": "Pod"}

    return member.for_each(add, range(spec["replicas"]))


def _owner(obj: Object, created: Object) -> Object:
    metadata = {"name": created["metadata"]["name"], "uid": created["metadata"]["uid"], "controller": True}
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], **metadata}


def test_pods_of_several_pages_are_all_counted(member: RecordedMember, reader: Path) -> None:
    namespace, many = "pages", 1203
    member.api.add_namespace(namespace)
    _add_deployment(member, _deployment(many), namespace)
    (row,) = shown(reader, "apps/v1/Deployment", "-n", namespace)["items"]
    assert (row["replicas"], row["currentReplicas"], row["readyReplicas"]) == (many, many, many)
    tree = _tree(reader, "deploy", "web", namespace)
    assert len({pod["name"] for pod in pods_in(tree["root"])}) == many
    text = run("tree", "deploy/web", "-n", namespace, "--kubeconfig", reader).stdout.splitlines()
    assert text[-1].endswith(f"and {many - 20} more")
    asked = [event["requestURI"] for event in _asked(member, "reader")]
    assert len([uri for uri in asked if f"/namespaces/{namespace}/pods" in uri and "continue=" in uri]) >= 2


def test_labels_and_age_choose_and_order_rows(member: RecordedMember, reader: Path) -> None:
    member.api.add_namespace("labels")
    for name in ("first", "second", "third"):
        _add_deployment(member, _deployment(1, name, team="ml" if name == "second" else "web"), "labels")
        time.sleep(1.1)  # the API server gives times in seconds
    lines = run("tree", "deploy", "-n", "labels", "--kubeconfig", reader).stdout.splitlines()
    assert lines[0].split() == ["KIND", "NAME", "STATUS", "READY", "DEVICES", "AGE"]
    assert [line.split()[1] for line in lines[1:]] == ["labels/third", "labels/second", "labels/first"]
    rows = shown(reader, "deploy", "-A", "-l", "team=ml")["items"]
    assert [(row["namespace"], row["name"]) for row in rows] == [("labels", "second")]


def _asked(member: RecordedMember, account: str) -> list[Object]:
    events = map(json.loads, member.audit_log.read_text(encoding="utf-8").splitlines())
    return [event for event in events if event["user"]["username"].endswith(f":{account}")]


def test_rights_of_deploy_member_are_enough_and_none_but_to_list(member: RecordedMember, reader: Path) -> None:
    assert shown(reader, "ray.io/v1/RayJob", "-A")["items"]
    asked = _asked(member, "reader")
    refused = [event["requestURI"] for event in asked if event["responseStatus"]["code"] == HTTPStatus.FORBIDDEN]
    assert asked
    assert not refused
    assert {event["verb"] for event in asked if event.get("objectRef", {}).get("resource")} == {"list"}
    assert not [event for event in asked if event.get("objectRef", {}).get("resource") == "secrets"]


_LIST = {"apiGroups": ["apps"], "resources": ["deployments", "replicasets"], "verbs": ["list"]}
_LIST_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        pytest.param([], "deployments", id="none"),
        pytest.param([_LIST], "pods", id="no pods"),
        pytest.param([_LIST_PODS], "deployments", id="no Deployments"),
        pytest.param([_LIST_PODS, {**_LIST, "resources": ["deployments"]}], "replicasets", id="nothing between"),
    ],
)
def test_missing_right_is_named(
    member: RecordedMember, request: pytest.FixtureRequest, rules: list[Object], missing: str
) -> None:
    name = request.node.callspec.id.replace(" ", "-").lower()
    subject, token = account(member.api, name)
    allowed = role(name, *rules)
    for each in (allowed, bound(allowed, subject)):
        member.api.apply(each)
    state = _state(member, "deploy-init-many.2-running")
    for what in ("deploy", "deploy/it"):
        done = run("tree", what, "-n", state.namespace, "--kubeconfig", kubeconfig(member, name, token))
        say(done.stderr.strip())
        assert done.returncode == 1
        assert f"/{missing}" in done.stderr
        assert "403" in done.stderr
        assert "Traceback" not in done.stderr


def test_right_of_one_namespace_is_enough_for_it(member: RecordedMember) -> None:
    state = _state(member, "deploy-init-many.2-running")
    subject, token = account(member.api, "tenant")
    allowed = role("tenant", _LIST, _LIST_PODS)
    binding = bound(allowed, subject) | {"kind": "RoleBinding"}
    binding["metadata"]["namespace"] = state.namespace
    for each in (allowed, binding):
        member.api.apply(each)
    config = kubeconfig(member, "tenant", token)
    expected = sorted(obj["metadata"]["name"] for obj in state.objects if obj["kind"] == "Pod")
    tree = _tree(config, "deploy", "it", state.namespace)
    assert sorted(pod["name"] for pod in pods_in(tree["root"])) == expected
    everywhere = run("tree", "deploy", "-A", "--kubeconfig", config)
    assert (everywhere.returncode, everywhere.stdout) == (1, "")
    assert "403" in everywhere.stderr
