"""`tree` of a member cluster: what real controllers have made, and pods that do not run."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.base.k8s import GVK, full_name
from karta_interpreter.clusters.saved import read_about
from karta_interpreter.engine.verification import Evidence
from tests.clusters.member_server import DEPLOYMENTS, PODS, MemberServer, serving, shops
from tests.engine.verification.member import NOW, Thing, ago, container, pod
from tests.support.recorded import FOLDER, state_of, states_of
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]


def _tree(run: Run, member: MemberServer, folder: Path, *arguments: str) -> Result:
    return run("tree", *arguments, "--kubeconfig", member.kubeconfig(folder))


def _largest_states(folder: Path) -> list[Evidence]:
    """Return the state of each case that has most pods: the states of one case have the same UIDs."""
    largest: dict[str, Evidence] = {}
    for evidence in states_of(folder):
        case = state_of(evidence).partition(".")[0] + GVK.of(evidence.object).kind
        if case not in largest or len(evidence.pods) > len(largest[case].pods):
            largest[case] = evidence
    return list(largest.values())


def _member_of(folder: Path, states: list[Evidence]) -> MemberServer:
    member = MemberServer(page=7, kinds={"/api/v1": {"pods": "Pod"}})
    known = set[tuple[GVK, str]]()
    objects: list[Any] = [*read_about(folder).references]
    for number, evidence in enumerate(states, start=1):
        text = json.dumps([evidence.object, *evidence.owners, *evidence.pods])
        # Recorded UIDs are numbers that begin anew for each state.
        for beginning in ("00000000-0000-", "redacted-0000"):
            text = text.replace(beginning, f"{number:08}-0000")
        objects += json.loads(text)
    for obj in objects:
        gvk = GVK.of(obj)
        root = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.api_version}"
        plural = f"{gvk.kind.lower()}s"
        member.kinds.setdefault(root, {})[plural] = gvk.kind
        place = gvk, full_name(obj["metadata"])
        if place not in known:
            known.add(place)
            member.collections.setdefault(f"{root}/{plural}", []).append(obj)
    return member


def _apart(kinds: Iterable[GVK]) -> list[list[GVK]]:
    """Return each kind by itself if one has two versions: an API server has each object in all versions."""
    kinds = list(kinds)
    if len({(gvk.group, gvk.kind) for gvk in kinds}) == len(kinds):
        return [kinds]
    return [[gvk] for gvk in kinds]


def _without_other_versions(states: list[Evidence], kinds: list[GVK]) -> list[Evidence]:
    versions = {(gvk.group, gvk.kind): gvk for gvk in kinds}

    def is_other(obj: Any) -> bool:
        gvk = GVK.of(obj)
        return versions.get((gvk.group, gvk.kind), gvk) != gvk

    return [state for state in states if not any(map(is_other, (state.object, *state.owners)))]


@pytest.mark.parametrize("folder", sorted(FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_pods_that_controllers_made_are_counted_for_their_workloads(run: Run, tmp_path: Path, folder: Path) -> None:
    states = _largest_states(folder)
    expected: dict[GVK, dict[str, int]] = {}
    for evidence in states:
        active = [pod for pod in evidence.own if pod in evidence.active]
        expected.setdefault(GVK.of(evidence.object), {})[state_of(evidence)] = len(active)
    for kinds in _apart(expected):
        with serving(_member_of(folder, _without_other_versions(states, kinds))) as member:
            for gvk in kinds:
                result = _tree(run, member, tmp_path, f"{gvk.api_version}/{gvk.kind}", "-A", "-o", "json")
                assert result.exit_code == 0, result.output
                items = json.loads(result.stdout)["items"]
                counted = {item["namespace"]: item["currentReplicas"] for item in items}
                assert {state: counted[state] for state in expected[gvk]} == expected[gvk]


def _shop(*names: str, replicas: int = 2) -> MemberServer:
    return MemberServer(shops(*names, replicas=replicas, proxied=False))


def _state(**state: Any) -> Thing:
    return {"phase": "Pending", "containerStatuses": [{"name": "main", "state": state}]}


def test_object_is_shown_with_its_pods_those_that_do_not_run_first(run: Run, tmp_path: Path) -> None:
    member = _shop("a", "b", replicas=4)
    pods = [pod for pod in member.collections[PODS] if pod["metadata"]["uid"].startswith("a-")]
    pods[2]["status"] = _state(waiting={"reason": "ImagePullBackOff"})
    message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    pods[3]["status"] = {"phase": "Pending", "conditions": [scheduled]}
    with serving(member):
        result = _tree(run, member, tmp_path, "deploy/a")

    assert result.exit_code == 0, result.output
    # Each pod requests one CPU, by the objects of the tests of verify.
    assert result.stdout.splitlines() == [
        "Deployment team/a: Running, 4 pods, 4 current, 2 ready, cpu 1 each, cpu 4 in all",
        "├── a-1-2: Pending, ImagePullBackOff",
        f"├── a-1-3: Pending, Unschedulable: {message}",
        "├── a-1-0: Running, ready",
        "└── a-1-1: Running, ready",
    ]


def test_pods_are_shown_up_to_a_number(run: Run, tmp_path: Path) -> None:
    with serving(_shop("a", replicas=57)) as member:
        text = _tree(run, member, tmp_path, "deployment/a").stdout.splitlines()
        wire = json.loads(_tree(run, member, tmp_path, "deployment/a", "-o", "json").stdout)

    assert (len(text), text[-1]) == (1 + 20 + 1, "└── and 37 more")
    (instance,) = wire["root"]["instances"]
    assert (len(instance["pods"]), instance["readyReplicas"]) == (57, 57)
    assert (instance["replicas"], instance["totalRequests"]) == (57, {"cpu": "57"})


def test_pods_below_another_object_of_the_kind_are_not_counted(run: Run, tmp_path: Path) -> None:
    """The leaders of a LeaderWorkerSet own StatefulSets with their workers."""
    spec = {"replicas": 1, "template": {"spec": {"containers": [container()]}}}
    sets: list[Any] = [{"metadata": {"name": name, "namespace": "team", "uid": name}, "spec": spec} for name in "ab"]
    pods = [pod(number) for number in range(2)]
    for number, (of_set, own) in enumerate(zip(sets, pods, strict=True)):
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "uid": of_set["metadata"]["uid"], "controller": True}
        own["metadata"] |= {"uid": f"pod-{number}", "ownerReferences": [owner]}
    leader = {"apiVersion": "v1", "kind": "Pod", "name": "pod-0", "uid": "pod-0", "controller": True}
    sets[1]["metadata"]["ownerReferences"] = [leader]
    kinds = {"/api/v1": {"pods": "Pod"}, "/apis/apps/v1": {"statefulsets": "StatefulSet"}}
    member = MemberServer({"/apis/apps/v1/statefulsets": sets, PODS: pods}, kinds=kinds)
    with serving(member):
        tree = _tree(run, member, tmp_path, "statefulset/a")
        numbers = {}
        for kind in ("statefulset", "pod"):
            for item in json.loads(_tree(run, member, tmp_path, kind, "-o", "json").stdout)["items"]:
                numbers[item["name"]] = item["currentReplicas"]

    assert (tree.exit_code, tree.stderr) == (0, "")
    assert "pod-1" not in tree.stdout
    assert numbers == {"a": 1, "b": 1, "pod-0": 1, "pod-1": 1}


def test_pods_without_owner_are_found_by_selectors(run: Run, tmp_path: Path) -> None:
    labels = {"training.kubeflow.org/job-name": "bert", "training.kubeflow.org/replica-type": "worker"}
    spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {"containers": [container()]}}}}}
    job = {"metadata": {"name": "bert", "namespace": "team", "uid": "bert"}, "spec": spec}
    other = {**labels, "training.kubeflow.org/job-name": "gpt"}
    pods = [pod(0, labels=labels), pod(1, labels=other), pod(2, labels=labels, owner="bert-of-yesterday")]
    pods[2]["metadata"]["ownerReferences"][0] |= {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "bert"}
    for number, own in enumerate(pods):
        own["metadata"]["uid"] = f"pod-{number}"
    member = MemberServer(
        {"/apis/kubeflow.org/v1/pytorchjobs": [job], PODS: pods},
        kinds={"/api/v1": {"pods": "Pod"}, "/apis/kubeflow.org/v1": {"pytorchjobs": "PyTorchJob"}},
    )
    with serving(member):
        result = _tree(run, member, tmp_path, "pytorchjob/bert")

    assert result.exit_code == 0, result.output
    assert "pod-0: Running, ready" in result.stdout
    assert "pod-1" not in result.stdout
    assert "pod-2" not in result.stdout


def _three(monkeypatch: pytest.MonkeyPatch) -> MemberServer:
    """Return a member with Deployments of three ages: one runs, one has no pod that is ready, one has a label."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    member = _shop("old", "new", "labelled")
    old, new, labelled = member.collections[DEPLOYMENTS]
    old["metadata"]["creationTimestamp"], new["metadata"]["creationTimestamp"] = ago(3 * 86_400), ago(30)
    labelled["metadata"] |= {"creationTimestamp": ago(3_600), "labels": {"team": "ml"}}
    containers = labelled["spec"]["template"]["spec"]["containers"]
    containers[0]["resources"]["limits"] = {"nvidia.com/gpu": 8}
    new["status"] = {"observedGeneration": 1, "conditions": [{"type": "Progressing", "status": "True"}]}
    for own in member.collections[PODS]:
        if own["metadata"]["uid"].startswith("new"):
            own["status"] = {"phase": "Pending"}
    return member


def test_objects_of_kind_are_rows_newest_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(_three(monkeypatch)) as member:
        result = _tree(run, member, tmp_path, "deployment")

    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["KIND", "NAME", "STATUS", "READY", "DEVICES", "AGE"]
    assert [(line[1], *line[-4 if "nvidia" in " ".join(line) else -3 :]) for line in lines[1:]] == [
        ("team/new", "0/2", "-", "30s"),
        ("team/labelled", "2/2", "nvidia.com/gpu", "16", "1h"),
        ("team/old", "2/2", "-", "3d"),
    ]


@rows(
    ("arguments", "names"),
    [
        pytest.param(("-l", "team=ml"), ["labelled"], id="by a label, which the API server compares"),
        pytest.param(("--status", "Running"), ["labelled", "old"], id="by a status"),
        pytest.param(("--status", "running", "-n", "elsewhere"), [], id="in a namespace without any"),
        pytest.param(("-A",), ["new", "labelled", "old"], id="in all namespaces"),
    ],
)
def test_rows_are_chosen(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], names: list[str]
) -> None:
    with serving(_three(monkeypatch)) as member:
        result = _tree(run, member, tmp_path, "apps/v1/Deployment", *arguments, "-o", "yaml")

    assert result.exit_code == 0, result.output
    assert [item["name"] for item in yaml.safe_load(result.stdout)["items"]] == names


def test_other_served_version_of_kind_is_read(run: Run, tmp_path: Path) -> None:
    with serving(_shop("a")) as member:
        member.kinds = {**member.kinds, "/apis/ray.io/v1": {"rayclusters": "RayCluster"}}
        spec = {"headGroupSpec": {"template": {"spec": {"containers": [container()]}}}}
        cluster = {"metadata": {"name": "c", "namespace": "team", "uid": "c"}, "spec": spec}
        member.collections["/apis/ray.io/v1/rayclusters"] = [cluster]
        result = _tree(run, member, tmp_path, "ray.io/v1alpha1/RayCluster/c")

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("RayCluster team/c: ")


def test_secrets_are_never_read(run: Run, tmp_path: Path) -> None:
    with serving(_shop("a")) as member:
        _tree(run, member, tmp_path, "deployment/a", "-A")

    assert PODS in member.asked
    assert not [path for path in member.asked if "secret" in path]


@pytest.mark.parametrize("argument", [pytest.param("deployment", id="rows"), pytest.param("deployment/a", id="a tree")])
def test_pods_that_cannot_be_read_are_a_problem(run: Run, tmp_path: Path, argument: str) -> None:
    collections = shops("a", proxied=False)
    del collections[PODS]
    with serving(MemberServer(collections, faults={"/api/v1/namespaces/team/pods": 403})) as member:
        result = _tree(run, member, tmp_path, argument)

    assert result.exit_code == 1
    assert "deploy" in result.stdout.lower()
    assert "/api/v1/namespaces/team/pods" in result.stderr


@pytest.mark.parametrize("argument", [pytest.param("deployment", id="rows"), pytest.param("deployment/a", id="a tree")])
def test_kind_that_cannot_be_read_is_not_said_to_be_absent(run: Run, tmp_path: Path, argument: str) -> None:
    collections = shops("a", proxied=False)
    del collections[DEPLOYMENTS]
    path = f"{DEPLOYMENTS.replace('/deployments', '')}/namespaces/team/deployments"
    with serving(MemberServer(collections, faults={path: 403})) as member:
        result = _tree(run, member, tmp_path, argument)

    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{path}: 403" in result.stderr
    assert "there is no" not in result.stderr
    assert "exists" not in result.stderr
    assert r"\n" not in result.stderr


def test_control_plane_has_no_pods(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a"), karmada=True)) as member:
        result = _tree(run, member, tmp_path, "deployment")

    assert result.exit_code == 1
    assert "this is karmada-apiserver, where no pods run" in result.stderr


@rows(
    ("arguments", "code", "message"),
    [
        pytest.param(("deployment/gone",), 1, "no deployment gone exists", id="no such object"),
        pytest.param(("deployment/a", "-l", "a=b"), 2, "give KIND without a name", id="labels of one object"),
        pytest.param(("deployment/a", "-n", "a", "-A"), 2, "not both", id="one namespace and all"),
        pytest.param(("unheardof/a",), 2, "there is no definition for unheardof", id="a kind without a definition"),
        pytest.param((), 2, "give KIND or KIND/NAME", id="nothing to show"),
    ],
)
def test_wrong_usage(run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    with serving(_shop("a")) as member:
        result = _tree(run, member, tmp_path, *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_options_of_member_need_one(run: Run) -> None:
    result = run("tree", "job.yaml", "-A")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "give --context or --kubeconfig" in result.stderr
